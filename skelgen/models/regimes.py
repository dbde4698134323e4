"""Where a program changes: a cache that holds the data, another algorithm, a bus.

Runs before such a change take longer, or shorter, by a factor of their own. It is
looked for as a step on each axis, next to the terms of normal forms.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from skelgen.models.runs import Floats, RunTable
from skelgen.models.runs_ahead import Indices, axes
from skelgen.models.thresholds import FEWEST_AFTER_CHANGE, FEWEST_VALUES_OF_CHANGE

#: Places that are tried on an axis.
_PLACES = 6

#: What so many sets of runs have is kept: phases and folds have the same inputs.
_MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class RegimeStep:
    """A place where a program may change.

    Attributes
    ----------
    axis : str
        An input, or ``all ranks``.
    before : float
        The largest value that is wholly of the regime before.
    after : float
        Runs from this value on are of the last regime.
    """

    axis: str
    before: float
    after: float

    def of(self, along: Floats) -> Floats:
        """Return how far runs are of the regime before: 1, 0, or 0.5 between both."""
        wholly = np.where(along < self.after, 0.5, 0.0)
        return np.where(along <= self.before, 1.0, wholly)


def steps_for(runs: RunTable) -> tuple[RegimeStep, ...]:
    """Return the places to look for a change.

    Parameters
    ----------
    runs : RunTable

    Returns
    -------
    tuple of RegimeStep
        Between neighbouring values of each axis, and with one value in the middle.
    """
    return _steps(runs.unmeasured)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _steps(runs: RunTable) -> tuple[RegimeStep, ...]:
    found = []
    for name, along in axes(runs).items():
        values = np.unique(along)
        if len(values) < FEWEST_VALUES_OF_CHANGE:
            continue
        for place in _places(len(values)):
            before = float(values[place - 1])
            found.append(RegimeStep(name, before, float(values[place])))
            if place + FEWEST_AFTER_CHANGE < len(values):
                found.append(RegimeStep(name, before, float(values[place + 1])))
    return tuple(found)


def columns_of(steps: tuple[RegimeStep, ...], runs: RunTable) -> Floats:
    """Evaluate steps at runs: a (steps, runs) array that cannot be written."""
    return _columns(steps, runs.unmeasured)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _columns(steps: tuple[RegimeStep, ...], runs: RunTable) -> Floats:
    along = axes(runs)
    found = [step.of(along[step.axis]) for step in steps]
    columns = np.stack(found) if found else np.zeros((0, len(runs)))
    columns.setflags(write=False)
    return columns


@functools.lru_cache(maxsize=_MOST_KEPT)
def _since(runs: RunTable, step: RegimeStep) -> Indices:
    return np.flatnonzero(axes(runs)[step.axis] >= step.after)


def since(runs: RunTable, step: RegimeStep) -> RunTable:
    """Return the runs of the last regime."""
    return runs.only(_since(runs.unmeasured, step))


def _places(count: int) -> list[int]:
    """Return which values to try as the first after a change."""
    places = np.arange(1, count - FEWEST_AFTER_CHANGE + 1)
    if len(places) > _PLACES:
        places = places[np.linspace(0, len(places) - 1, _PLACES).astype(int)]
    return [int(place) for place in places]
