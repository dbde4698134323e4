"""Tell the trips of a loop apart where they compute differently.

The computation before a loop's first call belongs to what stands around the loop:
three exchanges in a row are one loop of three trips, but all the work stands before
the first. One average for the three would keep the sum and lose the rhythm. Such a
loop is written out, or its first trip is.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import Nest
from skelgen.signature.thresholds import (
    FEWEST_EXECUTIONS,
    LEAST_MISPLACED_SHARE,
    LEAST_TRIP_FACTOR,
    MOST_ITEMS_WRITTEN_OUT,
    MOST_TRIPS_WRITTEN_OUT,
)


def told_apart(
    nest: Nest, leaf: NDArray[np.int32], compute_ns: Iterable[NDArray[np.int64]]
) -> Nest:
    """Write out the loops whose trips differ in computation.

    Parameters
    ----------
    nest : Nest
    leaf : (n,) int32 array
        Leaf of each element of the expanded string.
    compute_ns : iterable of (n,) int64 arrays
        Computation before each element, on each rank [ns].

    Returns
    -------
    Nest
        Expands to the same string.
    """
    loops = _loops(nest)
    if not loops or len(leaf) == 0:
        return nest
    total: NDArray[np.float64] = np.zeros(len(leaf))
    for one in compute_ns:
        total += one
    of_leaf = np.bincount(leaf, total)
    first_leaf = np.concatenate(([0], np.cumsum(nest.body_items == 0)))
    least = LEAST_MISPLACED_SHARE * float(total.sum())
    heads: dict[int, int] = {}
    for item in loops:
        begin = int(first_leaf[item])
        for at in range(begin, begin + int(nest.body_items[item])):
            if of_leaf[at] >= least and item not in heads:
                head = _head(_trips(nest, item), total[leaf == at], least)
                if head:
                    heads[item] = head
    return _written_out(nest, heads) if heads else nest


def may_be_told_apart(nest: Nest) -> bool:
    """Say whether a nest has loops that `told_apart` could write out."""
    return bool(_loops(nest))


def _loops(nest: Nest) -> list[int]:
    candidates = np.flatnonzero(nest.body_items).tolist()
    return [item for item in candidates if _is_plain(nest, item)]


def _trips(nest: Nest, item: int) -> NDArray[np.int64]:
    """Return the trips of each execution of a loop."""
    rows = nest.trips[nest.trips_first[item] : nest.trips_first[item + 1]]
    return np.repeat(rows[:, 0], rows[:, 1])


def _is_plain(nest: Nest, item: int) -> bool:
    """Say whether a loop is short, has no loop inside, and ran often."""
    items = int(nest.body_items[item])
    rows = nest.trips[nest.trips_first[item] : nest.trips_first[item + 1]]
    return (
        items <= MOST_ITEMS_WRITTEN_OUT
        and not nest.body_items[item + 1 : item + 1 + items].any()
        and int(rows[:, 1].sum()) >= FEWEST_EXECUTIONS
        and int(rows[:, 0].min()) >= 2
    )


def _head(trips: NDArray[np.int64], time: NDArray[np.float64], least: float) -> int:
    """Return how many trips to write out in front of the loop, 0 for none."""
    starts = np.cumsum(trips) - trips
    trip = np.arange(len(time)) - np.repeat(starts, trips)
    few = int(trips.min()) == int(trips.max()) <= MOST_TRIPS_WRITTEN_OUT
    trip = trip if few else np.minimum(trip, 1)
    counts, times = np.bincount(trip), np.bincount(trip, time)
    means = times / counts
    moved = float(np.abs(times - counts * time.mean()).sum()) / 2
    if moved < least or means.max() < LEAST_TRIP_FACTOR * means.min():
        return 0
    return int(trips[0]) if few else 1


def _written_out(nest: Nest, heads: dict[int, int]) -> Nest:
    """Repeat the body of each chosen loop in front of it; shorten the loop."""
    body_items: list[int] = []
    symbol: list[int] = []
    rows: list[NDArray[np.int64]] = []

    def leaf_at(item: int) -> None:
        body_items.append(0)
        symbol.append(int(nest.symbol[item]))
        rows.append(np.empty((0, 2), np.int64))

    def loop_at(item: int, runs: NDArray[np.int64]) -> None:
        own = len(symbol)
        body_items.append(0)
        symbol.append(-1)
        rows.append(runs)
        copy(item + 1, item + 1 + int(nest.body_items[item]))
        body_items[own] = len(symbol) - own - 1

    def copy(item: int, end: int) -> None:
        while item < end:
            items = int(nest.body_items[item])
            runs = nest.trips[nest.trips_first[item] : nest.trips_first[item + 1]]
            head = heads.get(item, 0)
            for _ in range(head):
                copy(item + 1, item + 1 + items)
            if not items:
                leaf_at(item)
            elif head == 0 or runs[:, 0].max() > head:
                loop_at(item, runs - np.array([head, 0]))
            item += 1 + items

    copy(0, len(nest))
    return Nest(
        np.array(body_items, np.int32),
        np.array(symbol, np.int32),
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.concatenate(rows),
    )
