"""From the request references of the trace to rows of ages, through the C kernel.

The trace numbers the requests of each thread, and persistent ones apart; in `Calls`
an age counts the requests of its sort that the rank's calls have created.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.trace.definition_types import Ragged
from skelgen.trace.format import struct_dtype

_FIRST_ROWS = 1 << 10
#: A call that lists more requests than this on average is damage.
_MOST_ELEMENTS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class RankRequests:
    """What the calls of one rank do with requests, in order of time.

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
    requests, persistent : sequence of int
        Requests and persistent requests that calls of each thread make.
    foreign : structured array
        ``struct skelgen_foreign_request``, by event.
    statuses : structured array
        ``struct skelgen_request_status``, by event; ``creator`` is set here.
    """

    variant: NDArray[np.uint32]
    action: NDArray[np.uint8]
    reference: NDArray[np.uint32]
    stream: NDArray[np.uint16] | None
    lists: Sequence[Ragged]
    requests: Sequence[int]
    persistent: Sequence[int]
    foreign: NDArray[np.void]
    statuses: NDArray[np.void]


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
    return kernel().ffi.cast(f"{kind} *", array.ctypes.data)


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
        run = _Run(self, rank)
        run.go()
        self.count, self.used = run.state.row_count, run.state.value_count
        return int(run.state.dropped)

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


class _Run:
    """One pass of the kernel over a rank, with the memory that it uses."""

    def __init__(self, rows: AgeRows, rank: RankRequests) -> None:
        self.rows = rows
        self.rank = rank
        streams = len(rank.lists)
        events = len(rank.variant)
        creating = (rank.action & kernel().lib.SKELGEN_ACTION_NEW) != 0
        created = int(creating[rank.variant].sum()) if creating.any() else 0
        self.owners = [np.zeros(made + 1, np.int32) for made in rank.requests]
        self.persistent = [np.zeros(made + 1, np.int32) for made in rank.persistent]
        self.creator = np.zeros(created + 1, np.uint32)
        self.birth = np.zeros(created + 1, np.int32)
        self.scratch = np.zeros(_FIRST_ROWS, np.int64)
        self.streams = kernel().ffi.new("struct skelgen_request_stream[]", streams)
        self.state = kernel().ffi.new("struct skelgen_requests *")
        self._attach_rank(events, created)
        self._attach()

    def _attach_rank(self, events: int, created: int) -> None:
        state, rank = self.state, self.rank
        state.event_count = events
        state.element_limit = _MOST_ELEMENTS * (events + _FIRST_ROWS)
        state.variant = _pointer(rank.variant, "uint32_t")
        state.action = _pointer(rank.action, "uint8_t")
        state.reference = _pointer(rank.reference, "uint32_t")
        if rank.stream is not None:
            state.stream = _pointer(rank.stream, "uint16_t")
        state.streams, state.stream_count = self.streams, len(self.streams)
        state.foreign = _pointer(rank.foreign, "struct skelgen_foreign_request")
        state.foreign_count = len(rank.foreign)
        state.statuses = _pointer(rank.statuses, "struct skelgen_request_status")
        state.status_count = len(rank.statuses)
        state.creator = _pointer(self.creator, "uint32_t")
        state.birth = _pointer(self.birth, "int32_t")
        state.creator_capacity = created
        state.row_count, state.value_count = self.rows.count, self.rows.used
        for i, lists in enumerate(rank.lists):
            stream = self.streams[i]
            stream.list_first = _pointer(lists.first, "int64_t")
            stream.list_values = _pointer(lists.values, "int64_t")
            stream.list_count = len(lists.first) - 1
            stream.persistent = _pointer(self.persistent[i], "int32_t")
            stream.persistent_capacity = rank.persistent[i]

    def _attach(self) -> None:
        """Tell the kernel where the tables are that can grow."""
        state, rows = self.state, self.rows
        state.row_first = _pointer(rows.first, "int64_t")
        state.row_capacity = len(rows.first)
        state.values = _pointer(rows.values, "int64_t")
        state.value_capacity = len(rows.values)
        state.slots = _pointer(rows.slots, "uint32_t")
        state.slot_bits = len(rows.slots).bit_length() - 1
        state.scratch = _pointer(self.scratch, "int64_t")
        state.scratch_capacity = len(self.scratch)
        for i, owner in enumerate(self.owners):
            self.streams[i].owner = _pointer(owner, "int32_t")
            self.streams[i].owner_capacity = len(owner)

    def go(self) -> None:
        """Run to the end."""
        lib = kernel().lib
        while (stop := lib.skelgen_requests(self.state)) != lib.SKELGEN_REQUESTS_DONE:
            if stop == lib.SKELGEN_REQUESTS_EXCESS:
                raise InputError(
                    "the trace lists more requests than its calls can have: it is "
                    "damaged; record the run again"
                )
            self._grow(stop)
            self._attach()
            if stop == lib.SKELGEN_REQUESTS_GROW_ROWS:
                lib.skelgen_requests_rehash(self.state)

    def _grow(self, stop: int) -> None:
        lib, rows = kernel().lib, self.rows
        if stop == lib.SKELGEN_REQUESTS_GROW_ROWS:
            rows.first = _doubled(rows.first)
            rows.slots = np.zeros(4 * len(rows.first), np.uint32)
        elif stop == lib.SKELGEN_REQUESTS_GROW_VALUES:
            rows.values = _doubled(rows.values)
        elif stop == lib.SKELGEN_REQUESTS_GROW_SCRATCH:
            self.scratch = _doubled(self.scratch)
        else:
            i = self.state.growing
            self.owners[i] = _doubled(self.owners[i])


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.zeros(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger
