"""The parts of a study on another machine, where some of them may not be measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skelgen.errors import InputError
from skelgen.models import refit
from skelgen.models.types import Fit
from skelgen.workload.parts import LEAST_S, Part
from skelgen.workload.types import Point, Workload


@dataclass(frozen=True, slots=True)
class PartFit:
    """A part with the functions of its time and its weight.

    Attributes
    ----------
    part : Part
    time, weight : Fit
    measured : bool
        False when its time is that of another machine, scaled.
    """

    part: Part
    time: Fit
    weight: Fit
    measured: bool = True


def completed(point: Point, first: Sequence[Point]) -> Point:
    """Complete what was measured by the recording of that workload.

    Occurrences of a phase that took another time may be too few to be executed. How
    often the phase comes, and the time of all, are those of the recording; they are
    slower here by as much as those that were executed.
    """
    if not point.measured:
        return point
    recorded = {
        one.site_key: one
        for whole in first
        if dict(whole.at) == dict(point.at) and not whole.measured
        for one in whole.phases
    }
    phases = []
    for one in point.phases:
        before = recorded.get(one.site_key)
        if before is not None and one.recorded_s:
            time_s = before.time_s * one.time_s / one.recorded_s
            one = replace(one, weight=before.weight, time_s=time_s)  # noqa: PLW2901
        phases.append(one)
    return replace(point, phases=tuple(phases))


def measured(
    workloads: Sequence[Workload], values: Sequence[float]
) -> tuple[list[Workload], list[float]]:
    """Return the workloads where something was measured, and what."""
    at = [i for i, value in enumerate(values) if not math.isnan(value)]
    return [workloads[i] for i in at], [values[i] for i in at]


def refitted(
    fits: Sequence[PartFit], workloads: Sequence[Workload], here: slice
) -> list[PartFit]:
    """Give functions the coefficients of another machine.

    What was not measured there is slower by as much as all that was, and comes as
    often as on the first.

    Parameters
    ----------
    fits : sequence of PartFit
    workloads : sequence of dict
        Of all points.
    here : slice
        Points of the other machine.

    References
    ----------
    Martinez Canillas 2011, section 5.5.4.
    """
    slower = _slower(fits, workloads, here)
    found = []
    for one in fits:
        at, times_s = measured(workloads[here], one.part.times_s[here])
        if at:
            _, weights = measured(workloads[here], one.part.weights[here])
            weight = refit(one.weight, at, weights)
            found.append(PartFit(one.part, refit(one.time, at, times_s), weight))
            continue
        first = workloads[here.start]
        time_s = max(float(one.time.function.at(first)) * slower, LEAST_S)
        time = refit(one.time, [first], [time_s])
        found.append(PartFit(one.part, time, one.weight, measured=False))
    return found


def _slower(
    fits: Sequence[PartFit], workloads: Sequence[Workload], here: slice
) -> float:
    """Return by what all that was measured takes longer than on the first machine.

    Raises
    ------
    InputError
        When nothing was, or nothing that takes time there.
    """
    here_s, there_s = 0.0, 0.0
    for one in fits:
        values = zip(one.part.times_s, one.part.weights, workloads, strict=True)
        for time_s, weight, workload in list(values)[here]:
            if not math.isnan(time_s):
                here_s += time_s * weight
                there_s += float(one.time.function.at(workload)) * weight
    if there_s <= 0.0:
        raise InputError(
            "what was measured here takes no time by the functions of the first "
            "machine, or is in none of its phases, so what was not cannot be scaled: "
            "measure or record another workload here"
        )
    return here_s / there_s
