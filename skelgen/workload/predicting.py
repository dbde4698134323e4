"""The time of the application at a workload that was not recorded."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.models import bisection, disagreement, fit, predict
from skelgen.models.fitting import Method
from skelgen.models.planning import Step
from skelgen.models.predicting import summed
from skelgen.models.types import Flag, FlagKind, Prediction, written
from skelgen.trust import Doubt, Interval, too_wide, unmeasured, verdict_of
from skelgen.trust.errors import MethodErrors
from skelgen.trust.rules import UNKNOWN_FACTOR
from skelgen.workload.cuts import aligned
from skelgen.workload.parts import Part, matched, recorded
from skelgen.workload.transfer import PartFit, completed, measured, refitted
from skelgen.workload.types import Point, Study, Workload

#: Flags of a part that takes less than this of the predicted time, and of that of each
#: point, are not told of the whole, unless they are about the workload itself.
_MATTERS = 0.02
_SIDES = ("p5", "p95")
#: As which errors know it, and what `skelgen measure` tells.
METHOD, PHASES = "workload", "phases"
_REMEDY = "record more workloads on a quiet machine: skelgen workload plan"


@dataclass(frozen=True, slots=True)
class PartTime:
    """The time of a phase, or of the rest, at the wanted workload.

    Attributes
    ----------
    fits : PartFit
        The part and its functions.
    time, weight : Prediction
        Of one occurrence [s], and how often it occurs.
    """

    fits: PartFit
    time: Prediction
    weight: Prediction

    @property
    def part(self) -> Part:
        """The phase, or the rest."""
        return self.fits.part

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
class WorkloadTime:
    """The time of the application at the wanted workload.

    Attributes
    ----------
    at : dict of str to float
    parts : tuple of PartTime
        Phases by their share of the recorded time, the rest last.
    time_s : Interval
        Predicted time of the application with its 90 % interval [s].
    measured_s : Interval
        The same without the error of the method [s].
    doubts : tuple of Doubt
        Why it should not be trusted, each once; empty when it can be.
    """

    at: Workload
    parts: tuple[PartTime, ...]
    time_s: Interval
    measured_s: Interval
    doubts: tuple[Doubt, ...]

    @property
    def verdict(self) -> str:
        """Return ``trust`` or ``do not trust``."""
        return verdict_of(self.doubts)


def predict_workload(
    study: Study,
    at: Workload,
    *,
    errors: MethodErrors,
    families: Study | None = None,
    method: Method = "combinations",
    separately: bool = False,
) -> WorkloadTime:
    """Predict the time of the application at a workload.

    Parameters
    ----------
    study : Study
    at : dict of str to float
        Value of each dimension.
    errors : MethodErrors
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
    if not study.points or not first:
        raise InputError("the study has no recorded workload; see skelgen workload add")
    _check(at, study.points[0], first[0])
    here: tuple[Point, ...] = ()
    if families is not None:
        both = aligned((*first, *study.points))
        first, here = both[: len(first)], both[len(first) :]
    points = tuple(completed(one, first) for one in (*first, *here))
    parts, flags = matched(points)
    at_points = [dict(point.at) for point in points]
    options = {"method": method, "separately": separately}
    fits = [_fitted(part, at_points[: len(first)], options) for part in parts]
    if families is not None:
        fits = refitted(fits, at_points, slice(len(first), None))
    found = [PartTime(one, _time(one, at), predict(one.weight, at)) for one in fits]
    paet_s = math.fsum(one.total_s for one in found)
    if not paet_s:
        raise InputError(
            f"all functions are 0 at {written(at)}: it is too far from the recorded "
            "workloads; record one that is nearer to it"
        )
    low, high = _off_s(found, study.points, paet_s)
    fitted = Interval(max(0.0, paet_s - low), paet_s, paet_s + high)
    half_width = errors.of(METHOD).half_width
    if any(one.measured for one in study.points):
        half_width = math.hypot(half_width, errors.of(PHASES).half_width)
    low = math.hypot(low, -paet_s * math.expm1(-half_width))
    high = math.hypot(high, paet_s * math.expm1(half_width))
    time_s = Interval(max(0.0, paet_s - low), paet_s, paet_s + high)
    told = dict.fromkeys((*flags, *_flags(found, points, paet_s)))
    doubts = (
        *(Doubt(str(flag.kind), flag.text) for flag in told),
        *_not_measured(found, paet_s),
        *too_wide(fitted, _REMEDY),
    )
    return WorkloadTime(at, tuple(found), time_s, fitted, doubts)


def _time(fits: PartFit, at: Workload) -> Prediction:
    """Predict the time of an occurrence [s]."""
    found = predict(fits.time, at)
    if fits.measured:
        return found
    low, high = found.value / UNKNOWN_FACTOR, found.value * UNKNOWN_FACTOR
    return replace(found, p5=min(found.p5, low), p95=max(found.p95, high))


def _off_s(
    parts: Sequence[PartTime], points: Sequence[Point], paet_s: float
) -> list[float]:
    """Return how far the application's time may be off, down and up [s].

    What was measured is no better known than its own interval said. That points agree
    with each other does not make them better: they may all be off alike.

    Parameters
    ----------
    parts : sequence of PartTime
    points : sequence of Point
        Of this machine, the last ones of all parts.
    paet_s : float
        Their sum [s].
    """
    at = {
        name: np.array([dict(one.at)[name] for one in points])
        for name, _ in points[0].at
    }
    functions = [(one.fits.time.function, one.fits.weight.function) for one in parts]
    found = np.array([time.at(at) * weight.at(at) for time, weight in functions])
    known = np.array([one.part.totals_s[-len(points) :] for one in parts])
    widths = np.array([[one.off_s(side) for side in _SIDES] for one in parts])
    measured_s = paet_s * statistics.fmean(one.half_width for one in points)
    return [math.hypot(off_s, measured_s) for off_s in summed(widths, found, known)]


def _fitted(
    part: Part, workloads: Sequence[Workload], options: Mapping[str, Any]
) -> PartFit:
    """Fit the functions of a part to the first points, which have these workloads."""
    times = measured(workloads, part.times_s[: len(workloads)])
    weights = measured(workloads, part.weights[: len(workloads)])
    return PartFit(part, fit(*times, **options), fit(*weights, **options, whole=True))


def _not_measured(parts: Sequence[PartTime], paet_s: float) -> tuple[Doubt, ...]:
    """Doubt parts that were not measured on the machine of the prediction."""
    missing = [pair for pair in enumerate(parts, start=1) if not pair[1].fits.measured]
    share = math.fsum(one.total_s for _, one in missing) / paet_s
    names = ", ".join(_name(*pair) for pair in missing)
    return unmeasured(
        share,
        f"{names} ({{share}} of the time) not measured here: scaled as the phases that "
        "were",
        "measure more phases here",
    )


def _check(at: Workload, here: Point, there: Point) -> None:
    """Refuse a workload of other dimensions, and functions for other ranks."""
    names = {name for name, _ in there.at}
    if set(at) != names:
        raise UsageError(
            f"the workload has {', '.join(sorted(at))}, those of the study have "
            f"{', '.join(sorted(names))}; give these with --at"
        )
    own = {name for name, _ in here.at}
    if own != names:
        raise InputError(
            f"{here.run} of the study has {', '.join(sorted(own))}, {there.run} of the "
            f"one with the functions {', '.join(sorted(names))}: give the same "
            "dimensions with --at when adding it"
        )
    if here.ranks != there.ranks:
        raise InputError(
            f"{here.run} of the study has {here.ranks} ranks, {there.run} of the one "
            f"with the functions {there.ranks}: functions of the workload hold for one "
            "number of ranks; record it with as many"
        )


def _flags(
    parts: Sequence[PartTime], points: Sequence[Point], paet_s: float
) -> list[Flag]:
    """Return the flags of all parts, each once, with what they are about."""
    found: dict[Flag, None] = {}
    for number, one in enumerate(parts, start=1):
        name, matters = _name(number, one), _matters(one, points, paet_s)
        for quantity, flags in (("time", one.time.flags), ("weight", one.weight.flags)):
            for flag in flags:
                if flag.kind in (FlagKind.EXTRAPOLATION, FlagKind.FEW_POINTS):
                    found[flag] = None
                elif matters or flag.kind is FlagKind.NEGATIVE:
                    text = f"{quantity} of {name}: {flag.text}"
                    own = Flag(flag.kind, text, flag.dimension, flag.between)
                    found[own] = None
    return list(found)


def _matters(one: PartTime, points: Sequence[Point], paet_s: float) -> bool:
    """Say whether a part is large here, or was: a wrong function may make it small."""
    pairs = zip(one.part.totals_s, points, strict=True)
    return one.total_s >= _MATTERS * paet_s or any(
        total_s >= _MATTERS * point.application_s for total_s, point in pairs
    )


def _name(number: int, one: PartTime) -> str:
    return f"phase {number}" if one.part.key else "the rest"


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
    points = [study.points[i] for i in recorded(study.points)]
    parts, _ = matched(points)
    totals = zip(*(part.totals_s for part in parts), strict=True)
    return disagreement([dict(one.at) for one in points], list(totals), study.ranges)
