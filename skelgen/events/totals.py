"""What the calls of a run amount to, by shape: all that a summary needs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import PERSISTENT, CallKind, function_info
from skelgen.events.shapes import plain_name
from skelgen.events.traffic import Traffic, TrafficSums, started
from skelgen.events.types import FAILED_POLL, Events

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTotals:
    """Sums over the calls of all ranks.

    Attributes
    ----------
    run : Events
        Without its calls: shapes, functions, communicators, call sites, bounds.
    used, count : (shapes,) int64 arrays
        Events of each shape; and calls, where polls that found nothing count each.
    time_ns : (shapes,) int64 array
        Time inside these [ns].
    size_bytes : (shapes,) int64 array
        Sum of their sizes [bytes].
    inside_ns : (ranks,) int64 array
        Time inside the calls of each rank [ns].
    sent : Traffic
    """

    run: Events
    used: _Integers
    count: _Integers
    time_ns: _Integers
    size_bytes: _Integers
    inside_ns: _Integers
    sent: Traffic

    def sums(self) -> ShapeSums:
        """Return the sums by shape."""
        return ShapeSums(self.used, self.count, self.time_ns, self.size_bytes)


@dataclass(slots=True, eq=False)
class ShapeSums:
    """Sums over calls by shape, while calls go by and shapes are added.

    Attributes
    ----------
    used, count, time_ns, size_bytes : int64 arrays
        As in `RunTotals`.
    """

    used: _Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    count: _Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    time_ns: _Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    size_bytes: _Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    def make_room(self, shapes: int) -> None:
        """Let there be so many shapes."""
        more = shapes - len(self.used)
        if more > 0:
            for name in self.__slots__:
                setattr(self, name, np.pad(getattr(self, name), (0, more)))

    def add(
        self,
        shapes: NDArray[np.void],
        shape: NDArray[np.uint32],
        size_bytes: _Integers,
        inside_ns: _Integers,
    ) -> None:
        """Take up some calls.

        Parameters
        ----------
        shapes : SHAPE_DTYPE array
            All that there are so far.
        shape : (n,) uint32 array
            Row of each call.
        size_bytes, inside_ns : (n,) int64 arrays
            Size of each call [bytes], and the time inside [ns].
        """
        self.make_room(len(shapes))
        most = len(self.used)
        used = np.bincount(shape, minlength=most)
        size = _sums(shape, size_bytes, most)
        polls = shapes["flags"] & FAILED_POLL != 0
        self.used += used
        self.count += np.where(polls, size, used) if polls.any() else used
        self.time_ns += _sums(shape, inside_ns, most)
        self.size_bytes += size

    def include(self, other: ShapeSums) -> None:
        """Add other sums over calls with the same numbers of shapes."""
        self.make_room(len(other.used))
        for name in self.__slots__:
            own = getattr(self, name)
            own[: len(other.used)] += getattr(other, name)


def _sums(shape: NDArray[np.uint32], values: _Integers, shapes: int) -> _Integers:
    """Return the sum of the values of each shape."""
    return np.bincount(shape, weights=values, minlength=shapes).astype(np.int64)


def totals_of(events: Events) -> RunTotals:
    """Add up the calls of a run that was read as a whole.

    Parameters
    ----------
    events : Events
    """
    calls = events.calls
    sums, sent = ShapeSums(), TrafficSums.of(calls)
    sums.make_room(len(calls.shapes))
    kinds = [function_info(name).kind for name in calls.functions]
    kind = np.array([*kinds, CallKind.LOCAL])[calls.shapes["function"]]
    inside_ns = np.zeros(calls.ranks, np.int64)
    for rank, (begin, end) in enumerate(pairwise(calls.first.tolist())):
        own = ShapeSums()
        inside = events.leave_ns[begin:end] - events.enter_ns[begin:end]
        inside_ns[rank] = inside.sum()
        shape, size = calls.shape[begin:end], calls.size_bytes[begin:end]
        own.add(calls.shapes, shape, size, inside)
        starts = None
        if (kind == CallKind.START).any():
            starts = started(calls, kind == CallKind.START, begin, end)
        sent.add(rank, calls.shapes, *sent_by(own, kind, starts))
        sums.include(own)
    for call, (sends, _) in zip(calls.vector_call, calls.vectors, strict=True):
        function = int(calls.shapes["function"][calls.shape[call]])
        if sends is not None and plain_name(calls.functions[function]) == "scatterv":
            sent.scattered(function, int(sends.sum()))
    return totals_from(events.outline(), sums, inside_ns, sent.sent)


def totals_from(
    run: Events, sums: ShapeSums, inside_ns: _Integers, sent: Traffic
) -> RunTotals:
    """Put the parts of the totals together."""
    return RunTotals(
        run=run,
        **{name: getattr(sums, name) for name in sums.__slots__},
        inside_ns=inside_ns,
        sent=sent,
    )


def sent_by(
    own: ShapeSums, kind: NDArray[np.int64], starts: _Integers | None
) -> tuple[_Integers, _Integers]:
    """Return calls and bytes of a rank by shape, as far as calls send at once.

    Parameters
    ----------
    own : ShapeSums
    kind : (shapes,) array
        ``CallKind`` of each shape.
    starts : (2, shapes) int64 array, optional
        Starts of the requests that persistent calls made, and their bytes [bytes].
    """
    lasting = np.isin(kind, PERSISTENT)
    count = np.where(lasting, 0, own.used)
    size_bytes = np.where(lasting, 0, own.size_bytes)
    if starts is not None:
        count, size_bytes = count + starts[0], size_bytes + starts[1]
    return count, size_bytes
