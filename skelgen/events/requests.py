"""From the request references of the trace to rows of ages, through the C kernel.

The trace numbers the requests of each thread, and persistent ones apart; in `Calls`
an age counts the requests of its sort that the rank's calls have created.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.trace.definition_types import Ragged
from skelgen.trace.format import struct_dtype

_FIRST_ROWS = 1 << 10
#: Requests that are followed at first.
_FIRST_OPEN = 1 << 8
_REQUEST = "struct skelgen_request"
#: A call that lists more requests than this on average is damage.
_MOST_ELEMENTS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class RankRequests:
    """What the calls of one rank, or a block of them, do with requests.

    Attributes
    ----------
    variant : (n,) uint32 array
    action : (variants,) uint8 array
        ``enum skelgen_action`` of each variant's calls.
    reference : (n,) uint32 array
        In: as in the file. Out: row of ages.
    stream : (n,) uint16 array or None
        Thread of each call, as an index; None when there is one.
    lists : sequence of Ragged
        Of each thread.
    persistent : sequence of int
        Persistent requests that calls of each thread make.
    foreign : structured array
        ``struct skelgen_foreign_request``, by event.
    statuses : structured array
        ``struct skelgen_request_status``, by event; ``creator`` is set here.
    shape : (n,) uint32 array, optional
        Number of what is known of each call.
    size_bytes : (n,) int64 array, optional
        Bytes of each call; where these two are given, statuses get those of their
        creators, and starts are counted.
    """

    variant: NDArray[np.uint32]
    action: NDArray[np.uint8]
    reference: NDArray[np.uint32]
    stream: NDArray[np.uint16] | None
    lists: Sequence[Ragged]
    persistent: Sequence[int]
    foreign: NDArray[np.void]
    statuses: NDArray[np.void]
    shape: NDArray[np.uint32] | None = None
    size_bytes: NDArray[np.int64] | None = None


@cache
def kernel() -> Any:
    """Return the compiled module, loaded when it is first needed."""
    import skelgen._kernels._requests as module

    return module


@cache
def dtype(name: str) -> np.dtype[np.void]:
    """Return the dtype of one of the kernel's structs, without ``skelgen_``."""
    return struct_dtype(kernel().ffi, f"skelgen_{name}")


def _pointer(array: NDArray[Any], kind: str) -> Any:
    return kernel().ffi.from_buffer(f"{kind}[]", array)


@dataclass(slots=True, eq=False)
class AgeRows:
    """Distinct rows of ages of all ranks; row 0 is empty.

    Attributes
    ----------
    first : (capacity,) int64 array
        Row i is ``values[first[i]:first[i + 1]]``.
    values : int64 array
    slots : uint32 array
        Hash table of the rows.
    others : dict of tuple of int to int
        Rows that were added by hand.
    count, used : int
        Rows, and values in them.
    """

    first: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(_FIRST_ROWS, np.int64)
    )
    values: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(_FIRST_ROWS, np.int64)
    )
    slots: NDArray[np.uint32] = field(
        default_factory=lambda: np.zeros(4 * _FIRST_ROWS, np.uint32)
    )
    others: dict[tuple[int, ...], int] = field(default_factory=dict)
    count: int = 1
    used: int = 0

    def follow(self, rank: RankRequests) -> int:
        """Turn the references of one rank into rows of ages.

        Returns
        -------
        int
            References to requests that do not exist (any more): damage.
        """
        follower = RequestFollower(rank.lists, rank.persistent, len(rank.variant), self)
        follower.follow(rank)
        return follower.dropped

    def add(self, row: tuple[int, ...]) -> int:
        """Return the number of a row that no request makes, such as partners."""
        if not row:
            return 0
        if row not in self.others:
            while self.count + 2 > len(self.first):
                self.first = _doubled(self.first)
                # The kernel will not find the rows that it knows: it makes them anew.
                self.slots = np.zeros(4 * len(self.first), np.uint32)
            while self.used + len(row) > len(self.values):
                self.values = _doubled(self.values)
            self.values[self.used : self.used + len(row)] = row
            self.used += len(row)
            self.others[row] = self.count
            self.count += 1
            self.first[self.count] = self.used
        return self.others[row]

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return ``age_first`` and ``age_values``."""
        return self.first[: self.count + 1].copy(), self.values[: self.used].copy()


class RequestFollower:
    """Knows which requests of a rank are open while its calls go by.

    Its memory grows with the requests that are open at one time.

    Parameters
    ----------
    lists : sequence of Ragged
        Of each thread.
    persistent : sequence of int
        Persistent requests that calls of each thread make.
    events : int
        Of the rank, all blocks.
    rows : AgeRows, optional
        Extended here; without them references become 0.

    Attributes
    ----------
    started : (2, shapes) int64 array
        Starts of the persistent requests that calls of each shape made, and their
        bytes [bytes].
    """

    def __init__(
        self,
        lists: Sequence[Ragged],
        persistent: Sequence[int],
        events: int,
        rows: AgeRows | None = None,
    ) -> None:
        streams, new = len(lists), partial(np.zeros, _FIRST_OPEN, dtype("request"))
        self._rows = rows
        self._lists = lists
        self._open = [[new(), new()] for _ in range(streams)]
        self._persistent = [np.zeros(made + 1, dtype("request")) for made in persistent]
        self._scratch = new()
        self._ages = np.zeros(len(self._scratch), np.int64)
        self.started = np.zeros((2, 0), np.int64)
        self._streams = kernel().ffi.new("struct skelgen_request_stream[]", streams)
        self._state = kernel().ffi.new("struct skelgen_requests *")
        self._state.streams, self._state.stream_count = self._streams, streams
        self._state.element_limit = _MOST_ELEMENTS * (events + _FIRST_ROWS)
        for i, one in enumerate(lists):
            stream = self._streams[i]
            stream.list_first = _pointer(one.first, "int64_t")
            stream.list_values = _pointer(one.values, "int64_t")
            stream.list_count = len(one.first) - 1
            stream.persistent = _pointer(self._persistent[i], _REQUEST)
            stream.persistent_capacity = persistent[i]

    @property
    def dropped(self) -> int:
        """Return how many references were to requests that do not exist (any more)."""
        return int(self._state.dropped)

    @property
    def most_open(self) -> int:
        """Return how many requests of a thread there is room for."""
        return max(len(recent) for recent, _ in self._open)

    def make_room(self, shapes: int) -> None:
        """Let `started` have so many columns at least."""
        more = shapes - self.started.shape[1]
        if more > 0:
            self.started = np.pad(self.started, ((0, 0), (0, shapes + more)))

    def follow(self, block: RankRequests) -> None:
        """Take the next events of the rank: references become rows of ages.

        Raises
        ------
        InputError
            When lists of requests are longer than they can be.
        """
        lib, state = kernel().lib, self._state
        state.before += state.event_count
        state.event = state.foreign_next = state.status_next = 0
        self._attach_block(block)
        self._attach()
        while (stop := lib.skelgen_requests(state)) != lib.SKELGEN_REQUESTS_DONE:
            if stop == lib.SKELGEN_REQUESTS_EXCESS:
                raise InputError(
                    "the trace lists more requests than its calls can have: it is "
                    "damaged; record the run again"
                )
            self._grow(stop)
            self._attach()
            if stop == lib.SKELGEN_REQUESTS_GROW_ROWS:
                lib.skelgen_requests_rehash(state)
        if self._rows is not None:
            self._rows.count, self._rows.used = state.row_count, state.value_count

    def _attach_block(self, block: RankRequests) -> None:
        state, null = self._state, kernel().ffi.NULL
        state.event_count = len(block.variant)
        state.variant = _pointer(block.variant, "uint32_t")
        state.action = _pointer(block.action, "uint8_t")
        state.reference = _pointer(block.reference, "uint32_t")
        state.stream = null
        if block.stream is not None:
            state.stream = _pointer(block.stream, "uint16_t")
        state.foreign = _pointer(block.foreign, "struct skelgen_foreign_request")
        state.foreign_count = len(block.foreign)
        state.statuses = _pointer(block.statuses, "struct skelgen_request_status")
        state.status_count = len(block.statuses)
        state.shape = state.size_bytes = null
        if block.shape is not None and block.size_bytes is not None:
            state.shape = _pointer(block.shape, "uint32_t")
            state.size_bytes = _pointer(block.size_bytes, "int64_t")
        if self._rows is not None:
            state.row_count, state.value_count = self._rows.count, self._rows.used

    def _attach(self) -> None:
        """Tell the kernel where the tables are that can grow."""
        state, rows = self._state, self._rows
        if rows is not None:
            state.row_first = _pointer(rows.first, "int64_t")
            state.row_capacity = len(rows.first)
            state.values = _pointer(rows.values, "int64_t")
            state.value_capacity = len(rows.values)
            state.slots = _pointer(rows.slots, "uint32_t")
            state.slot_bits = len(rows.slots).bit_length() - 1
        state.started_count = _pointer(self.started[0], "int64_t")
        state.started_bytes = _pointer(self.started[1], "int64_t")
        state.scratch = _pointer(self._scratch, _REQUEST)
        state.ages = _pointer(self._ages, "int64_t")
        state.scratch_capacity = len(self._scratch)
        for stream, (recent, early) in zip(self._streams, self._open, strict=True):
            stream.recent = _pointer(recent, _REQUEST)
            stream.early = _pointer(early, _REQUEST)
            stream.capacity = len(recent)

    def _grow(self, stop: int) -> None:
        lib, rows = kernel().lib, self._rows
        if stop == lib.SKELGEN_REQUESTS_GROW_SCRATCH:
            self._scratch, self._ages = _doubled(self._scratch), _doubled(self._ages)
        elif stop == lib.SKELGEN_REQUESTS_GROW_OPEN:
            i = self._state.growing
            self._open[i] = [_doubled(one) for one in self._open[i]]
        elif rows is not None and stop == lib.SKELGEN_REQUESTS_GROW_ROWS:
            rows.first = _doubled(rows.first)
            rows.slots = np.zeros(4 * len(rows.first), np.uint32)
        elif rows is not None:
            rows.values = _doubled(rows.values)


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.zeros(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
