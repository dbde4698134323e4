"""Put the calls of ranks into another order; requests keep their names."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import moved
from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import WITH_PARTNERS, function_info
from skelgen.events.types import Calls, Events


def reorder(events: Events, order: NDArray[np.int64]) -> Events:
    """Put events into another order.

    Parameters
    ----------
    events : Events
    order : (n,) int64 array
        The call that stands at each place afterwards; each rank keeps its own.
        Requests are created before they are named, before and afterwards.
    """
    return replace(move(events, order), calls=reorder_calls(events.calls, order))


def reorder_calls(calls: Calls, order: NDArray[np.int64]) -> Calls:
    """Put calls into another order; see `reorder`."""
    return _with_ages(calls, _moved(calls, order), order)


def move(events: Events, order: NDArray[np.int64]) -> Events:
    """Put events into another order; the ages of their requests stay what they were."""
    return replace(
        events,
        calls=_moved(events.calls, order),
        enter_ns=events.enter_ns[order],
        leave_ns=events.leave_ns[order],
        compute_ns=events.compute_ns[order],
        threads=None if events.threads is None else events.threads[order],
        away=moved(events.away, _places(order)),
    )


def _moved(calls: Calls, order: NDArray[np.int64]) -> Calls:
    vector_call = _places(order)[calls.vector_call]
    vectors = np.argsort(vector_call, kind="stable")
    return replace(
        calls,
        shape=calls.shape[order],
        size_bytes=calls.size_bytes[order],
        ages=calls.ages[order],
        vector_call=vector_call[vectors],
        vectors=calls.vectors[vectors],
    )


def _places(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each call stands afterwards."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _with_ages(calls: Calls, moved: Calls, order: NDArray[np.int64]) -> Calls:
    """Count the ages of requests anew: others are created in between now."""
    place = _places(order)
    kinds = [function_info(name).kind in WITH_PARTNERS for name in calls.functions]
    partners = np.array([*kinds, False], bool)[calls.shapes["function"]]
    naming = np.flatnonzero((calls.ages > 0) & ~partners[calls.shape])
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[naming])
    creator = Creations.of(calls).named(naming[index], age)
    known = creator >= 0
    new = age.copy()
    new[known] = Creations.of(moved).ages(
        place[naming[index[known]]], place[creator[known]]
    )
    changed = np.unique(index[new != age])
    if not len(changed):
        return moved
    rows = RowsOfAges(calls.age_first, calls.age_values)
    ages = moved.ages.copy()
    edges = np.searchsorted(index, [changed, changed + 1])
    for call, begin, end in zip(naming[changed], *edges, strict=True):
        ages[place[call]] = rows.number(tuple(new[begin:end].tolist()))
    first, values = rows.arrays()
    return replace(moved, ages=ages, age_first=first, age_values=values)


class RowsOfAges:
    """Rows of ages, which may become more."""

    def __init__(self, first: NDArray[np.int64], values: NDArray[np.int64]) -> None:
        bounds, ages = pairwise(first.tolist()), values.tolist()
        self.rows = [tuple(ages[begin:end]) for begin, end in bounds]
        self.known: dict[tuple[int, ...], int] = {}
        for number, row in enumerate(self.rows):
            self.known.setdefault(row, number)

    def number(self, row: tuple[int, ...]) -> int:
        """Return the number of a row."""
        if row not in self.known:
            self.known[row] = len(self.rows)
            self.rows.append(row)
        return self.known[row]

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return ``age_first`` and ``age_values``."""
        first = np.cumsum([0, *map(len, self.rows)]).astype(np.int64)
        values = [value for row in self.rows for value in row]
        return first, np.array(values, np.int64)
