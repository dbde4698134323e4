"""Tell the trips of a loop apart where they compute differently.

The computation before a loop's first call belongs to what stands around the loop:
three exchanges in a row are one loop of three trips, but all the work stands before
the first. One average for the three would keep the sum and lose the rhythm. Such a
loop is written out, or its first trip is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import Nest, children, positions, trip_rows
from skelgen.loops.parts import NestWriter, Part, part_of, trips_apart
from skelgen.signature.thresholds import (
    FEWEST_EXECUTIONS,
    LEAST_MISPLACED_SHARE,
    MOST_ITEMS_WRITTEN_OUT,
    MOST_TRIPS_WRITTEN_OUT,
)


def told_apart(
    nests: Sequence[Nest],
    totals_ns: Sequence[NDArray[np.int64] | None],
    name: NDArray[np.int64],
) -> list[Nest]:
    """Write out trips of loops whose computation differs from that of the others.

    Nests with the same loops around the same calls stay alike.

    Parameters
    ----------
    nests : sequence of Nest
    totals_ns : sequence of (n,) int64 array or None
        Computation before each element of the expanded string of each nest [ns]; None
        where it has no loop that `may_be_told_apart`.
    name : (symbols,) int64 array
        Equal for symbols that are the same call.

    Returns
    -------
    list of Nest
        Expand to the same strings.
    """
    shapes = [_shape(nest, name) for nest in nests]
    wanted: dict[Hashable, dict[int, int]] = {}
    for nest, shape, total_ns in zip(nests, shapes, totals_ns, strict=True):
        heads = wanted.setdefault(shape, {})
        if total_ns is not None:
            for item, head in _heads(nest, total_ns):
                heads[item] = max(head, heads.get(item, 0))
    pairs = zip(nests, shapes, strict=True)
    return [_written_out(nest, wanted[shape]) for nest, shape in pairs]


def may_be_told_apart(nest: Nest) -> bool:
    """Say whether a nest has loops that `told_apart` could write out."""
    return next(_loops(nest), None) is not None


def _shape(nest: Nest, name: NDArray[np.int64]) -> Hashable:
    """Return what nests with the same loops around the same calls have in common."""
    calls = name[nest.symbol[nest.body_items == 0]]
    return nest.body_items.tobytes(), calls.tobytes()


def _loops(nest: Nest) -> Iterator[int]:
    """Give the loops that are short, and ran often, and more than one trip."""
    for item in np.flatnonzero(nest.body_items).tolist():
        if int(nest.body_items[item]) <= MOST_ITEMS_WRITTEN_OUT:
            rows = trip_rows(nest, item)
            executions = int(rows[rows[:, 0] > 0, 1].sum())
            if executions >= FEWEST_EXECUTIONS and int(rows[:, 0].max()) > 1:
                yield item


def _heads(nest: Nest, total_ns: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Give the loops whose trips differ, and how many trips to write out."""
    leaf = positions(nest)
    of_leaf = np.bincount(leaf, total_ns)
    leaves_before = np.concatenate(([0], np.cumsum(nest.body_items == 0))).tolist()
    least = LEAST_MISPLACED_SHARE * float(of_leaf.sum())
    for item in _loops(nest):
        inner = [one for one in children(nest, item) if not nest.body_items[one]]
        own = [leaves_before[one] for one in inner]
        heavy = [at for at in own if of_leaf[at] >= least]
        if heavy:
            rows = trip_rows(nest, item)
            trips = np.repeat(rows[:, 0], rows[:, 1])
            heads = (_head(trips, total_ns[leaf == at], least) for at in heavy)
            if head := next(filter(None, heads), 0):
                yield item, head


def _head(trips: NDArray[np.int64], time: NDArray[np.int64], least: float) -> int:
    """Return how many trips to write out in front of the loop, 0 for none."""
    starts = np.cumsum(trips) - trips
    trip = np.arange(len(time)) - np.repeat(starts, trips)
    few = int(trips.min()) == int(trips.max()) <= MOST_TRIPS_WRITTEN_OUT
    trip = trip if few else np.minimum(trip, 1)
    counts, times = np.bincount(trip), np.bincount(trip, time)
    moved = float(np.abs(times - counts * time.mean()).sum()) / 2
    if moved < least:
        return 0
    return int(trips[0]) if few else 1


def _written_out(nest: Nest, heads: Mapping[int, int]) -> Nest:
    """Put the first trips of each chosen loop in front of it."""
    if not heads:
        return nest
    writer = NestWriter()

    def copy(items: Iterable[int]) -> None:
        for item in items:
            if item in heads or not nest.body_items[item]:
                writer.put(_apart(nest, item, heads))
            else:
                place = writer.begin(trip_rows(nest, item))
                copy(children(nest, item))
                writer.end(place)

    copy(children(nest))
    return writer.nest()


def _apart(nest: Nest, item: int, heads: Mapping[int, int]) -> tuple[Part, ...]:
    """Return an item with the first trips of chosen loops in front of them."""
    whole = part_of(nest, item)
    if whole.symbol >= 0:
        return (whole,)
    bodies = (_apart(nest, one, heads) for one in children(nest, item))
    loop = Part(-1, tuple(part for body in bodies for part in body), whole.trips)
    return trips_apart(loop, heads[item]) if item in heads else (loop,)
