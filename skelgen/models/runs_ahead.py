"""Which runs lie ahead of others: what is larger, or on more processes, or both.

A model is asked for what nobody has run, mostly because it is large. So it is judged
by runs ahead of those that it has seen, not by runs among them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable

#: Parts of the runs to learn from; the rest lies ahead of them.
_PARTS = (0.5, 0.65, 0.8)

#: So many times some of the runs are left out.
_TURNS = 3

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

    Runs that are equally far ahead stay together, and at least two such steps are
    learnt from.
    """
    far = order(runs)
    steps = np.unique(np.round(far, 9))
    seen = set()
    for part in _PARTS:
        count = min(max(round(part * len(steps)), 2), len(steps) - 1)
        if count < 2 or count in seen:
            continue
        seen.add(count)
        behind = far <= steps[count - 1] + _SAME
        yield np.flatnonzero(behind), np.flatnonzero(~behind)


def mixed_folds(runs: RunTable) -> Iterator[tuple[Indices, Indices]]:
    """Yield runs to learn from, and runs among them (K-fold).

    Runs that are equally far ahead stay together, and neighbours are left out by turns.
    """
    steps, which = np.unique(np.round(order(runs), 9), return_inverse=True)
    turns = which.ravel() % _TURNS
    if len(steps) < 2 * _TURNS:
        return
    for turn in range(_TURNS):
        yield np.flatnonzero(turns != turn), np.flatnonzero(turns == turn)


def beyond(runs: RunTable, values: Values) -> Floats:
    """Return how far cases lie outside of runs: logarithms of factors, over inputs.

    Parameters
    ----------
    runs : RunTable
    values : mapping of str to float or (cases,) array

    Returns
    -------
    (cases,) float64 array
        0 inside. At least as far as all ranks lie outside: 32 nodes of 4 are beyond 32
        nodes of 1 and 8 nodes of 4.
    """
    total = np.zeros(np.broadcast_shapes(*(np.shape(v) for v in values.values())))
    for one in extents(runs):
        total = total + _outside(runs.columns[one.name], values[one.name]) ** 2
    by = {one.meaning: one.name for one in extents(runs)}
    packed = 0.0 * total
    if Meaning.NODES in by and Meaning.RANKS_PER_NODE in by:
        nodes, per_node = by[Meaning.NODES], by[Meaning.RANKS_PER_NODE]
        ranks = runs.columns[nodes] * runs.columns[per_node]
        packed = _outside(ranks, values[nodes] * values[per_node])
    return np.asarray(np.maximum(np.sqrt(total), packed))


def _outside(learnt: Floats, asked: Any) -> Floats:
    """Return logarithms of the factors by which values lie outside; 0 inside."""
    logs, far = np.log(learnt), np.log(asked)
    return np.asarray(np.maximum(np.maximum(far - logs.max(), logs.min() - far), 0.0))
