"""Where a program changes: a cache that holds the data, another algorithm, a bus.

What was measured before such a change says nothing about what comes after it. It is
found by prediction: when the runs that are farthest ahead are met much better without
the runs behind a place, then that place is a change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.models.ahead import axes
from skelgen.models.families.normal_form import normal_forms
from skelgen.models.families.terms import FormTerm, columns_of
from skelgen.models.runs import Floats, RunTable

#: So many values at least show a change: two before the last ones, one left out.
_FEWEST = 4

#: Places that are tried on an axis, and the part of its values that is predicted.
_PLACES, _AHEAD = 4, 5

#: The error without the runs behind must be smaller by this factor, the error with
#: them larger than noise by that one, and the gain larger than noise, too.
_BETTER, _ABOVE_NOISE, _GAIN = 2.0, 4.0, 3.0

#: No clock is better [1].
_LEAST_NOISE = 0.003

#: Another place must be better than one found by this factor.
_ANOTHER = 0.8

_TERMS = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A place where a program changes.

    Attributes
    ----------
    axis : str
        An input, or ``all ranks``.
    after : float
        Runs from this value on are of the last regime.
    before : float
        The largest value that is not.
    with_error, without_error : float
        Of the runs farthest ahead, with the runs before the change and without [1].
    """

    axis: str
    after: float
    before: float
    with_error: float
    without_error: float


def last_change(runs: RunTable, terms: tuple[FormTerm, ...]) -> Change | None:
    """Find the change after which runs predict each other best.

    Parameters
    ----------
    runs : RunTable
    terms : tuple of FormTerm
        Of the inputs that vary.

    Returns
    -------
    Change or None
        None where no change is seen.
    """
    columns = columns_of(terms, runs.columns, len(runs))
    best: Change | None = None
    for name, along in axes(runs).items():
        found = _on_axis(runs, terms, columns, name, along)
        if found is not None and (
            best is None or found.without_error < _ANOTHER * best.without_error
        ):
            best = found
    return best


def since(runs: RunTable, change: Change) -> RunTable:
    """Return the runs of the last regime."""
    return runs.only(np.flatnonzero(axes(runs)[change.axis] >= change.after))


def _on_axis(
    runs: RunTable,
    terms: tuple[FormTerm, ...],
    columns: Floats,
    name: str,
    along: Floats,
) -> Change | None:
    values = np.unique(along)
    if len(values) < _FEWEST:
        return None
    ahead = max(1, len(values) // _AHEAD)
    top = along >= values[-ahead]

    def errors(chosen: Floats) -> tuple[float, float]:
        """Return the error at the top of a fit to some runs, and its noise."""
        fitted = normal_forms(
            runs.only(np.flatnonzero(chosen)), terms=terms, most_terms=_TERMS, rounds=2
        )
        misses = np.log(fitted.together(columns[:, top]) / runs.values[top])
        noise = max(fitted.deviation / np.sqrt(top.sum()), _LEAST_NOISE)
        return float(np.median(np.abs(misses))), float(noise)

    with_error, noise = errors(~top)
    best = None
    for place in _places(len(values) - ahead) if with_error > _LEAST_NOISE else ():
        chosen = ~top & (along >= values[place])
        if len({tuple(row) for row in runs.at[chosen].tolist()}) < 2:
            continue
        error, noise = errors(chosen)
        if (
            error < with_error / _BETTER
            and with_error > _ABOVE_NOISE * noise
            and with_error - error > _GAIN * noise
            and (best is None or error < _ANOTHER * best.without_error)
        ):
            before = float(values[place - 1])
            best = Change(name, float(values[place]), before, with_error, error)
    return best


def _places(count: int) -> list[int]:
    """Return which values to try as the first after a change; two stay after it."""
    places = np.arange(1, count - 1)
    if len(places) > _PLACES:
        places = places[np.linspace(0, len(places) - 1, _PLACES).astype(int)]
    return [int(place) for place in places]
