"""The time of the application at a workload that was not recorded."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.models.amounts import outside, predict_count, predict_time, summed
from skelgen.models.families import FamilySettings
from skelgen.models.model import ModelPrediction, fit_model
from skelgen.models.planning import PlannedRun, bisection, disagreement
from skelgen.models.runs import RunTable
from skelgen.trust import Doubt, Interval, too_wide, unmeasured, verdict_of
from skelgen.trust.errors import MethodErrors
from skelgen.trust.thresholds import UNKNOWN_TIME_FACTOR
from skelgen.trust.types import PHASES
from skelgen.workload.cuts import aligned
from skelgen.workload.parts import WorkloadPart, matched, recorded
from skelgen.workload.thresholds import LEAST_FLAGGED_SHARE
from skelgen.workload.transfer import (
    PartFit,
    PartFunction,
    completed,
    refitted,
    times_table,
    weights_table,
)
from skelgen.workload.types import (
    RANKS,
    Point,
    Study,
    Workload,
    ranks_vary,
    workloads_of,
    written,
)

_SIDES = ("p5", "p95")
#: Doubts about the workloads, which all parts have alike.
_OF_WORKLOADS = ("extrapolation", "few-points")
#: How functions are chosen: as the family `workload` or as `default` does, or as the
#: thesis does.
Method = Literal["combinations", "thesis", "default"]
#: As which errors know it.
METHOD = "workload"
_REMEDY = "record more workloads on a quiet machine: skelgen workload plan"


@dataclass(frozen=True, slots=True)
class PartTime:
    """The time of a phase, or of the rest, at the wanted workload.

    Attributes
    ----------
    fits : PartFit
        The part and its functions.
    time, weight : ModelPrediction
        Of one occurrence [s], and how often it occurs.
    """

    fits: PartFit
    time: ModelPrediction
    weight: ModelPrediction

    @property
    def part(self) -> WorkloadPart:
        """The phase, or the rest."""
        return self.fits.part

    @property
    def total_s(self) -> float:
        """Return time x weight [s]."""
        return self.time.interval.p50 * self.weight.interval.p50

    def off_s(self, side: str) -> float:
        """Return how far the total may be off to one side, ``p5`` or ``p95`` [s]."""
        time_s, weight = self.time.interval, self.weight.interval
        off_s = getattr(time_s, side) - time_s.p50
        off = getattr(weight, side) - weight.p50
        return math.hypot(off_s * weight.p50, off * time_s.p50)


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
    method : {"combinations", "thesis", "default"}
    separately : bool
        Each dimension on its own.

    References
    ----------
    Martinez Canillas 2011, section 5.5 and eq. 5.1.
    """
    first = (families or study).points
    if not study.points or not first:
        raise InputError("the study has no recorded workload; see skelgen workload add")
    at = _asked(at, study.points, first)
    here: tuple[Point, ...] = ()
    if families is not None:
        both = aligned((*first, *study.points))
        first, here = both[: len(first)], both[len(first) :]
    points = tuple(completed(one, first) for one in (*first, *here))
    parts, switches = matched(points)
    at_points = workloads_of(points, ranks=RANKS in at)
    _check_different(at_points[: len(first)])
    fits = [
        _fitted(part, at_points[: len(first)], method, separately=separately)
        for part in parts
    ]
    if families is not None:
        fits = refitted(fits, at_points, slice(len(first), None))
    found = [PartTime(one, _time(one, at), _weight(one, at)) for one in fits]
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
    doubts = (
        *dict.fromkeys((*switches, *_doubts(found, points, paet_s))),
        *_not_measured(found, paet_s),
        *too_wide(fitted, _REMEDY),
    )
    return WorkloadTime(at, tuple(found), time_s, fitted, doubts)


def _time(fits: PartFit, at: Workload) -> ModelPrediction:
    """Predict the time of an occurrence [s]."""
    found = predict_time(fits.time.model, at)
    doubts = (*found.doubts, *outside(fits.time.names, fits.time.reach, at))
    time_s = found.interval
    if not fits.measured:
        low, high = time_s.p50 / UNKNOWN_TIME_FACTOR, time_s.p50 * UNKNOWN_TIME_FACTOR
        time_s = Interval(min(time_s.p5, low), time_s.p50, max(time_s.p95, high))
    return replace(found, interval=time_s, doubts=doubts)


def _weight(fits: PartFit, at: Workload) -> ModelPrediction:
    """Predict how often a part comes."""
    found = predict_count(fits.weight.model, at)
    doubts = (*found.doubts, *outside(fits.weight.names, fits.weight.reach, at))
    return replace(found, doubts=doubts)


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
    at = workloads_of(points, ranks=RANKS in parts[0].fits.time.names)
    functions = [(one.fits.time, one.fits.weight) for one in parts]
    found = np.array([time.at(at) * weight.at(at) for time, weight in functions])
    known = np.array([one.part.totals_s[-len(points) :] for one in parts])
    widths = np.array([[one.off_s(side) for side in _SIDES] for one in parts])
    measured_s = paet_s * statistics.fmean(one.half_width for one in points)
    return [math.hypot(off_s, measured_s) for off_s in summed(widths, found, known)]


def _fitted(
    part: WorkloadPart,
    workloads: Sequence[Workload],
    method: Method,
    *,
    separately: bool,
) -> PartFit:
    """Fit the functions of a part to the first points, which have these workloads."""
    settings = FamilySettings(separately=separately, thesis=method == "thesis")
    times = times_table(workloads, part.times_s[: len(workloads)])
    weights = weights_table(workloads, part.weights[: len(workloads)])
    family = "default" if method == "default" else METHOD
    return PartFit(
        part,
        _function(times, family, settings),
        _function(weights, METHOD, replace(settings, whole=True)),
    )


def _function(runs: RunTable, family: str, settings: FamilySettings) -> PartFunction:
    return PartFunction(fit_model(runs, family, settings), runs, runs.at)


def _check_different(workloads: Sequence[Workload]) -> None:
    if all(one == workloads[0] for one in workloads):
        raise InputError(
            f"all workloads are {written(workloads[0])}: a function of the workload "
            "needs at least two different ones; record another, or take those of "
            "another machine"
        )


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


def _asked(at: Workload, here: Sequence[Point], there: Sequence[Point]) -> Workload:
    """Return the workload with the dimensions that the functions have.

    Raises
    ------
    SkelgenError
        When it has others, or ranks that the functions do not know.
    """
    names = {name for name, _ in there[0].at}
    if ranks_vary(there):
        names.add(RANKS)
    else:
        at = _with_usual_ranks(at, here, there)
    if set(at) != names:
        raise UsageError(
            f"the workload has {', '.join(sorted(at))}, those of the study have "
            f"{', '.join(sorted(names))}; give these with --at"
        )
    own = {name for name, _ in here[0].at}
    if own != names - {RANKS}:
        raise InputError(
            f"{here[0].run} of the study has {', '.join(sorted(own))}, {there[0].run} "
            f"of the one with the functions {', '.join(sorted(names))}: give the same "
            "dimensions with --at when adding it"
        )
    return at


def _with_usual_ranks(
    at: Workload, here: Sequence[Point], there: Sequence[Point]
) -> Workload:
    """Return a workload without ranks, if it is for those of all runs."""
    usual = there[0].ranks
    for one in here:
        if one.ranks != usual:
            raise InputError(
                f"{one.run} of the study has {one.ranks} ranks, {there[0].run} of the "
                f"one with the functions {usual}: these hold for one number of ranks; "
                "record it with as many, or add runs with others to that study"
            )
    wanted = at.get(RANKS, usual)
    if wanted != usual:
        raise UsageError(
            f"--at says {wanted:g} ranks, and all runs of the study have {usual}; add "
            "runs with other ranks, at least two of them"
        )
    return {name: value for name, value in at.items() if name != RANKS}


def _doubts(
    parts: Sequence[PartTime], points: Sequence[Point], paet_s: float
) -> list[Doubt]:
    """Return the doubts of all parts, each once, with what they are about."""
    found: dict[Doubt, None] = {}
    for number, one in enumerate(parts, start=1):
        name, matters = _name(number, one), _matters(one, points, paet_s)
        for quantity, asked in (("time", one.time), ("weight", one.weight)):
            for doubt in asked.doubts:
                if doubt.code in _OF_WORKLOADS:
                    found[doubt] = None
                elif matters or doubt.code == "negative":
                    told = f"{quantity} of {name}: {doubt.text}"
                    found[replace(doubt, text=told)] = None
    return list(found)


def _matters(one: PartTime, points: Sequence[Point], paet_s: float) -> bool:
    """Say whether a part is large here, or was: a wrong function may make it small."""
    pairs = zip(one.part.totals_s, points, strict=True)
    return one.total_s >= LEAST_FLAGGED_SHARE * paet_s or any(
        total_s >= LEAST_FLAGGED_SHARE * point.application_s for total_s, point in pairs
    )


def _name(number: int, one: PartTime) -> str:
    return f"phase {number}" if one.part.key else "the rest"


def next_workload(study: Study, *, method: str) -> PlannedRun:
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
    recorded_at = replace(study, points=tuple(points)).workloads
    return disagreement(recorded_at, list(totals), study.ranges)
