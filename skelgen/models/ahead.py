"""Which runs lie ahead of others: what is larger, or on more processes, or both.

A model is asked for what nobody has run, mostly because it is large. So it is judged
by runs ahead of those that it has seen, not by runs among them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable

#: Parts of the runs to learn from; the rest lies ahead of them.
_PARTS = (0.5, 0.65, 0.8)

#: Logarithms closer than this are of one value.
_SAME = 1e-9

#: Of so many sets of runs the order is kept: phases and folds have the same inputs.
_MOST_KEPT = 64

Indices = NDArray[np.intp]


def extents(runs: RunTable) -> tuple[ModelInput, ...]:
    """Return the inputs that vary and along which a model is extended: no loads."""
    return tuple(one for one in runs.varied if not one.meaning.available)


def axes(runs: RunTable) -> dict[str, Floats]:
    """Return what runs can be ordered by: each such input, and all ranks.

    The arrays cannot be written: others ask for the same.
    """
    return _axes(runs.unmeasured)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _axes(runs: RunTable) -> dict[str, Floats]:
    columns = runs.columns
    found = {one.name: columns[one.name].copy() for one in extents(runs)}
    by = {one.meaning: one.name for one in extents(runs)}
    if Meaning.NODES in by and Meaning.RANKS_PER_NODE in by:
        packed = columns[by[Meaning.NODES]] * columns[by[Meaning.RANKS_PER_NODE]]
        found["all ranks"] = packed
    for along in found.values():
        along.setflags(write=False)
    return found


def order(runs: RunTable) -> Floats:
    """Return how far ahead each run is, over all inputs: sums of logarithms.

    Each input counts by how much it varies.
    """
    return _order(runs.unmeasured)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _order(runs: RunTable) -> Floats:
    names = [one.name for one in extents(runs)]
    if not names:
        return np.zeros(len(runs))
    logs = np.log(np.stack([runs.columns[name] for name in names]))
    spread = np.where(logs.std(axis=1) > 0.0, logs.std(axis=1), 1.0)
    found: Floats = ((logs.T - logs.mean(axis=1)) / spread).sum(axis=1)
    found.setflags(write=False)
    return found


def folds(runs: RunTable) -> Iterator[tuple[Indices, Indices]]:
    """Yield runs to learn from, and runs ahead of them.

    Runs that are equally far ahead stay together, and at least two such groups are
    learnt from.
    """
    far = order(runs)
    groups = np.unique(np.round(far, 9))
    seen = set()
    for part in _PARTS:
        count = min(max(round(part * len(groups)), 2), len(groups) - 1)
        if count < 2 or count in seen:
            continue
        seen.add(count)
        behind = far <= groups[count - 1] + _SAME
        yield np.flatnonzero(behind), np.flatnonzero(~behind)


def beyond(runs: RunTable, values: Values) -> Floats:
    """Return how far cases lie outside of runs: logarithms of factors, over inputs.

    Parameters
    ----------
    runs : RunTable
    values : mapping of str to float or (cases,) array

    Returns
    -------
    (cases,) float64 array
        0 inside.
    """
    total = np.zeros(np.broadcast_shapes(*(np.shape(v) for v in values.values())))
    for one in extents(runs):
        learnt, asked = np.log(runs.columns[one.name]), np.log(values[one.name])
        outside = np.maximum(asked - learnt.max(), learnt.min() - asked)
        total = total + np.maximum(outside, 0.0) ** 2
    return np.asarray(np.sqrt(total))
