"""The parts of a study on another machine, where some of them may not be measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.amounts import above_0
from skelgen.models.model import Model
from skelgen.models.runs import Floats, RunTable, table_of
from skelgen.models.transfer import refit
from skelgen.workload.parts import NO_TIME_S, WorkloadPart
from skelgen.workload.types import Point, Workload


@dataclass(frozen=True, slots=True)
class PartFunction:
    """The time or the weight of a part as a function of the workload.

    Attributes
    ----------
    model : Model
    runs : RunTable
        What its coefficients were fitted to.
    reach : (workloads, inputs) float64 array
        Within these workloads it is known: those of another machine, on which its
        terms were chosen, are among them.
    """

    model: Model
    runs: RunTable
    reach: Floats

    @property
    def text(self) -> str:
        """The formula for people."""
        return self.model.text

    @property
    def error(self) -> float:
        """Relative error at workloads left out [1]."""
        return self.model.error

    @property
    def names(self) -> list[str]:
        """The dimensions."""
        return [one.name for one in self.runs.inputs]

    def at(self, workloads: Sequence[Workload]) -> Floats:
        """Evaluate the formula at workloads."""
        values = {
            name: np.array([above_0(one[name]) for one in workloads])
            for name in self.names
        }
        return self.model.at(values)


@dataclass(frozen=True, slots=True)
class PartFit:
    """A part with the functions of its time and its weight.

    Attributes
    ----------
    part : WorkloadPart
    time, weight : PartFunction
    measured : bool
        False when its time is that of another machine, scaled.
    """

    part: WorkloadPart
    time: PartFunction
    weight: PartFunction
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
        if dict(whole.at) == dict(point.at)
        and whole.ranks == point.ranks
        and not whole.measured
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


def times_table(workloads: Sequence[Workload], times_s: Sequence[float]) -> RunTable:
    """Return the times of a part where it was measured."""
    return table_of(*_measured(workloads, times_s))


def weights_table(workloads: Sequence[Workload], weights: Sequence[float]) -> RunTable:
    """Return the weights of a part where it was measured."""
    rows, values = _measured(workloads, weights)
    return table_of(rows, values, quantity="weight", unit="")


def _measured(
    workloads: Sequence[Workload], values: Sequence[float]
) -> tuple[list[Workload], list[float]]:
    """Return the workloads where something was measured, and what."""
    at = [i for i, value in enumerate(values) if not math.isnan(value)]
    rows = [{name: above_0(v) for name, v in workloads[i].items()} for i in at]
    return rows, [values[i] for i in at]


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
        times_s, weights = one.part.times_s[here], one.part.weights[here]
        if not all(map(math.isnan, times_s)):
            time = _elsewhere(one.time, times_table(workloads[here], times_s))
            weight = _elsewhere(one.weight, weights_table(workloads[here], weights))
            found.append(PartFit(one.part, time, weight))
            continue
        first = workloads[here.start]
        time_s = max(float(one.time.at([first])[0]) * slower, NO_TIME_S)
        time = _elsewhere(one.time, times_table([first], [time_s]))
        found.append(PartFit(one.part, time, one.weight, measured=False))
    return found


def _elsewhere(function: PartFunction, runs: RunTable) -> PartFunction:
    """Return a function with the coefficients of the runs of another machine."""
    order = [[one.name for one in runs.inputs].index(n) for n in function.names]
    reach = np.concatenate([function.reach, runs.at[:, order]])
    inputs = tuple(runs.inputs[i] for i in order)
    same = replace(runs, inputs=inputs, at=runs.at[:, order])
    return PartFunction(refit(function.model, same), same, reach)


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
                there_s += float(one.time.at([workload])[0]) * weight
    if there_s <= 0.0:
        raise InputError(
            "what was measured here takes no time by the functions of the first "
            "machine, or is in none of its phases, so what was not cannot be scaled: "
            "measure or record another workload here"
        )
    return here_s / there_s
