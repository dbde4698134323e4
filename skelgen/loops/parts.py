"""Parts of a nest that are put together: leaves and loops with all their trip counts.

A sequence of parts is executed a number of times; each loop in it knows the trips of
all its executions, in order. So parts can be repeated, skipped and divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.types import Nest
from skelgen.loops.views import children, trip_rows

_NO_TRIPS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A leaf, or a loop around other parts.

    Attributes
    ----------
    symbol : int
        Of a leaf; -1 for a loop.
    body : tuple of Part
        Of a loop. They are executed as often as the loop has trips in all.
    trips : (executions,) int64 array
        Of a loop: the trips of each execution, which may be 0.
    """

    symbol: int
    body: tuple[Part, ...] = ()
    trips: NDArray[np.int64] = field(default_factory=lambda: _NO_TRIPS)


def part_of(nest: Nest, item: int) -> Part:
    """Return an item of a nest with all that is in it."""
    items = int(nest.body_items[item])
    if not items:
        return Part(int(nest.symbol[item]))
    body = tuple(part_of(nest, inner) for inner in children(nest, item))
    rows = trip_rows(nest, item)
    return Part(-1, body, np.repeat(rows[:, 0], rows[:, 1]))


def loop_of(body: tuple[Part, ...], trips: NDArray[np.int64]) -> tuple[Part, ...]:
    """Return parts that execute a body so often; no loop where that is always once."""
    return body if not body or (trips == 1).all() else (Part(-1, body, trips),)


def skipped(
    body: tuple[Part, ...], executions: int, where: NDArray[np.int64]
) -> tuple[Part, ...]:
    """Return parts that are executed more often, but only at some places.

    Parameters
    ----------
    body : tuple of Part
        Executed as often as there are places.
    executions : int
        Of what is returned.
    where : (places,) int64 array
        The executions, in order, in which the body is executed.
    """
    if not body or len(where) == executions:
        return body
    trips = np.zeros(executions, np.int64)
    if len(body) == 1 and body[0].symbol < 0:
        trips[where] = body[0].trips
        return (Part(-1, body[0].body, trips),)
    trips[where] = 1
    return (Part(-1, body, trips),)


def chosen(parts: Sequence[Part], executions: NDArray[np.int64]) -> tuple[Part, ...]:
    """Return parts for some of their executions, given in order."""
    return tuple(
        part
        if part.symbol >= 0
        else Part(
            -1,
            chosen(part.body, _trips_of(part.trips, executions)),
            part.trips[executions],
        )
        for part in parts
    )


def _trips_of(
    trips: NDArray[np.int64], executions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return which executions of a loop's body belong to some of the loop."""
    first = np.cumsum(trips) - trips
    own = trips[executions]
    begin = np.repeat(first[executions] - (np.cumsum(own) - own), own)
    return begin + np.arange(len(begin))


def divided(
    parts: Sequence[Part], share: NDArray[np.int64], shares: int
) -> list[tuple[Part, ...]]:
    """Divide parts between places.

    Parameters
    ----------
    parts : sequence of Part
    share : (executions,) int64 array
        Place of each execution, from 0.
    shares : int
        How many places there are.
    """
    found: list[tuple[Part, ...]] = [()] * shares
    order = np.argsort(share, kind="stable")
    bounds = np.searchsorted(share[order], np.arange(1, shares))
    for part in parts:
        if part.symbol >= 0:
            found = [(*own, part) for own in found]
            continue
        bodies = divided(part.body, np.repeat(share, part.trips), shares)
        trips = np.split(part.trips[order], bounds)
        loops = [Part(-1, *one) for one in zip(bodies, trips, strict=True)]
        found = [(*own, loop) for own, loop in zip(found, loops, strict=True)]
    return found


def trips_apart(loop: Part, count: int) -> tuple[Part, ...]:
    """Return the first trips of a loop, each by itself, and the loop of the others.

    Parameters
    ----------
    loop : Part
    count : int
        How many trips stand by themselves. An execution may have fewer.
    """
    trips = loop.trips
    first = np.cumsum(trips) - trips
    trip = np.arange(int(trips.sum())) - np.repeat(first, trips)
    bodies = divided(loop.body, np.minimum(trip, count), count + 1)
    own = [(trips > number).astype(np.int64) for number in range(count)]
    others = np.maximum(trips - count, 0)
    return tuple(map(partial(Part, -1), bodies, [*own, others]))


def first_apart(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return parts with the first trip of a loop in front of it.

    It is for a single loop that always runs; others are returned as they are.
    """
    if len(parts) != 1 or parts[0].symbol >= 0 or not parts[0].trips.all():
        return parts
    first, others = trips_apart(parts[0], 1)
    return (*first.body, others) if others.trips.any() else first.body


def items_of(parts: Sequence[Part]) -> int:
    """Return how many items of a nest some parts are."""
    return sum(1 + items_of(part.body) for part in parts)


class NestWriter:
    """Writes parts as the items of a nest, one after the other."""

    def __init__(self) -> None:
        self._body_items: list[int] = []
        self._symbol: list[int] = []
        self._rows: list[NDArray[np.int64]] = []

    def put(self, parts: Sequence[Part]) -> None:
        """Write parts; loops that never run are left out."""
        for part in parts:
            if part.symbol >= 0:
                self._item(part.symbol, np.zeros((0, 2), np.int64))
            elif (part.trips == 1).all():
                self.put(part.body)
            elif part.trips.any():
                place = self.begin(run_lengths(part.trips))
                self.put(part.body)
                self.end(place)

    def begin(self, rows: NDArray[np.int64]) -> int:
        """Begin a loop with run-length coded trips; return its item."""
        self._item(-1, rows)
        return len(self._symbol) - 1

    def end(self, loop: int) -> None:
        """End the body of a loop."""
        self._body_items[loop] = len(self._symbol) - loop - 1

    def nest(self) -> Nest:
        """Return what was written."""
        return Nest(
            np.array(self._body_items, np.int32),
            np.array(self._symbol, np.int32),
            np.cumsum([0, *map(len, self._rows)]).astype(np.int64),
            np.concatenate([np.zeros((0, 2), np.int64), *self._rows]),
        )

    def _item(self, symbol: int, rows: NDArray[np.int64]) -> None:
        self._body_items.append(0)
        self._symbol.append(symbol)
        self._rows.append(rows)


def run_lengths(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return values as rows: a value, and how often it comes in a row.

    Examples
    --------
    >>> run_lengths(np.array([3, 3, 0, 3])).tolist()
    [[3, 2], [0, 1], [3, 1]]
    """
    first = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
    return np.stack([values[first], np.diff(np.append(first, len(values)))], axis=1)


def nested(outer: Nest, parts: Iterator[tuple[Part, ...]]) -> Nest:
    """Put parts in the place of the leaves of a nest, one after the other."""
    writer = NestWriter()
    ends: list[tuple[int, int]] = []
    for item, items in enumerate(outer.body_items.tolist()):
        while ends and item >= ends[-1][0]:
            writer.end(ends.pop()[1])
        if items:
            place = writer.begin(trip_rows(outer, item))
            ends.append((item + 1 + items, place))
        else:
            writer.put(next(parts))
    while ends:
        writer.end(ends.pop()[1])
    return writer.nest()
