"""The time of the application at a workload that was not recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.errors import InputError, UsageError
from skelgen.models import bisection, disagreement, fit, predict, refit
from skelgen.models.fitting import Method
from skelgen.models.planning import Step
from skelgen.models.types import Fit, Flag, FlagKind, Prediction
from skelgen.workload.parts import Part, matched
from skelgen.workload.types import Point, Study, Workload

#: Flags of a part that takes less of the predicted time than this are not told of the
#: whole, unless they are about the workload itself.
_MATTERS = 0.02


@dataclass(frozen=True, slots=True)
class PartForecast:
    """A phase, or the rest, at the wanted workload.

    Attributes
    ----------
    part : Part
    time, weight : Prediction
        Of one occurrence [s], and how often it occurs.
    time_fit, weight_fit : Fit
        The functions.
    """

    part: Part
    time: Prediction
    weight: Prediction
    time_fit: Fit
    weight_fit: Fit

    @property
    def total_s(self) -> float:
        """Return time x weight [s]."""
        return self.time.value * self.weight.value

    def off_s(self, side: str) -> float:
        """Return how far the total may be off to one side, ``p5`` or ``p95`` [s]."""
        time_s = getattr(self.time, side) - self.time.value
        weight = getattr(self.weight, side) - self.weight.value
        return math.hypot(time_s * self.weight.value, weight * self.time.value)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The application at the wanted workload.

    Attributes
    ----------
    at : dict of str to float
    parts : tuple of PartForecast
        Phases by their share of the recorded time, the rest last.
    paet_s, p5_s, p95_s : float
        Predicted time and its 90 % interval [s].
    flags : tuple of Flag
        What the reader of the prediction has to know, each once.
    """

    at: Workload
    parts: tuple[PartForecast, ...]
    paet_s: float
    p5_s: float
    p95_s: float
    flags: tuple[Flag, ...]


def forecast(
    study: Study,
    at: Workload,
    *,
    families: Study | None = None,
    method: Method = "combinations",
    separately: bool = False,
) -> Forecast:
    """Predict the time of the application at a workload.

    Parameters
    ----------
    study : Study
    at : dict of str to float
        Value of each dimension.
    families : Study, optional
        Of another machine, which says which functions to use; `study` then gives
        only their coefficients.
    method : {"combinations", "thesis"}
    separately : bool
        Each dimension on its own.

    References
    ----------
    Martinez Canillas 2011, section 5.5 and eq. 5.1.
    """
    first = (families or study).points
    points = first if families is None else (*first, *study.points)
    if not study.points or not first:
        raise InputError("the study has no recorded workload; see skelgen workload add")
    _check(at, study.points[0], first[0])
    parts, flags = matched(points)
    at_points = [dict(point.at) for point in points]
    there, here = at_points[: len(first)], at_points[len(first) :]
    found = []
    for part in parts:
        fits = []
        for values, whole in ((part.times_s, False), (part.weights, True)):
            known = values[: len(first)]
            one = fit(there, known, method=method, separately=separately, whole=whole)
            if here:
                one = refit(one, here, values[len(first) :])
            fits.append(one)
        time, weight = (predict(one, at) for one in fits)
        found.append(PartForecast(part, time, weight, *fits))
    paet_s = math.fsum(one.total_s for one in found)
    low, high = (math.hypot(*(one.off_s(side) for one in found)) for side in _SIDES)
    told = [*flags, *_flags(found, paet_s)]
    return Forecast(
        at, tuple(found), paet_s, max(0.0, paet_s - low), paet_s + high, tuple(told)
    )


_SIDES = ("p5", "p95")


def _check(at: Workload, here: Point, there: Point) -> None:
    """Refuse a workload of other dimensions, and functions for other ranks."""
    names = {name for name, _ in there.at}
    if set(at) != names:
        raise UsageError(
            f"the workload has {', '.join(sorted(at))}, those of the study have "
            f"{', '.join(sorted(names))}; give these with --at"
        )
    if here.ranks != there.ranks:
        raise InputError(
            f"{here.run} of the study has {here.ranks} ranks, {there.run} of the one "
            f"with the functions {there.ranks}: functions of the workload hold for one "
            "number of ranks; record it with as many"
        )


def _flags(parts: Sequence[PartForecast], paet_s: float) -> list[Flag]:
    """Return the flags of all parts, each once, with what they are about."""
    found: dict[Flag, None] = {}
    for number, one in enumerate(parts, start=1):
        name = f"phase {number}" if one.part.key else "the rest"
        for quantity, flags in (("time", one.time.flags), ("weight", one.weight.flags)):
            for flag in flags:
                if flag.kind in (FlagKind.EXTRAPOLATION, FlagKind.FEW_POINTS):
                    found[flag] = None
                elif one.total_s >= _MATTERS * paet_s:
                    text = f"{quantity} of {name}: {flag.text}"
                    own = Flag(flag.kind, text, flag.dimension, flag.between)
                    found[own] = None
    return list(found)


def next_workload(study: Study, *, method: str) -> Step:
    """Return which workload to record next.

    Parameters
    ----------
    study : Study
    method : {"disagreement", "bisection"}
        Where the functions that still fit disagree most, or the thesis' selection.
    """
    if not study.ranges:
        raise UsageError(
            "the study has no ranges; say where predictions are wanted, for example "
            "--range n=1000:16000"
        )
    if method == "bisection":
        return bisection(study.workloads, study.ranges)
    if not study.points:
        return disagreement([], [], study.ranges)
    parts, _ = matched(study.points)
    totals = zip(*(part.totals_s for part in parts), strict=True)
    return disagreement(study.workloads, list(totals), study.ranges)
