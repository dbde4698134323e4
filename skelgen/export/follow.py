"""Follow the requests of one rank: what begins and what ends in each event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.export.calls import ExportedCalls
from skelgen.export.columns import Columns
from skelgen.export.kernel import address, halves
from skelgen.export.spool import RecordSpool
from skelgen.export.stream import Stream, StreamReader
from skelgen.export.types import Batch

_SOURCE = "struct skelgen_half_source"


@dataclass(frozen=True, slots=True, eq=False)
class PeerGroups:
    """World ranks that a peer stands for in each communicator.

    Attributes
    ----------
    first : (communicators + 1,) int64 array
        Those of communicator c are ``ranks[first[c]:first[c + 1]]``.
    ranks : int32 array
    """

    first: NDArray[np.int64]
    ranks: NDArray[np.int32]

    def partners(
        self, communicators: NDArray[np.int64], peers: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Return the world rank of each peer; -1: there is none."""
        result = np.full(len(peers), -1, np.int64)
        first, end = self.first[communicators], self.first[communicators + 1]
        good = np.flatnonzero((communicators >= 0) & (peers >= 0))
        good = good[peers[good] < (end - first)[good]]
        result[good] = self.ranks[first[good] + peers[good]]
        return result


class BatchRoom:
    """Room for a batch, which all that read a run share.

    Parameters
    ----------
    events : int
        Most events of a batch.
    """

    def __init__(self, events: int) -> None:
        self.events = Columns.room("half_events", events)
        self.posts = self.ends = Columns.room("half_columns", 0)
        self._changes = 0
        self.make_room(4 * events)

    def make_room(self, count: int) -> None:
        """Make room for so many halves."""
        self.posts, self.ends = (Columns.room("half_columns", count) for _ in range(2))
        self._changes += 1

    def attach(self, follow: Any, known: int) -> int:
        """Tell the kernel where a batch goes, unless it knows from an earlier one.

        Parameters
        ----------
        follow : struct skelgen_follow
        known : int
            What was returned then; 0: it knows nothing.
        """
        if known != self._changes:
            self.events.attach(follow.events)
            self.posts.attach(follow.posts)
            self.ends.attach(follow.ends)
            follow.half_capacity = len(self.posts)
        follow.event_count = follow.post_count = follow.end_count = 0
        return self._changes


class Follower:
    """The requests of the streams of one rank while their events go by.

    Parameters
    ----------
    streams : sequence of Stream
        Their events come in order of time.
    calls : ExportedCalls
    groups : PeerGroups
    room : BatchRoom
    block_events, until_ns : int
        As for `StreamReader`.
    sources : dict of int to RecordSpool
        By number of the stream, see `find_sources`.
    only_times : bool
        Whether of the events of batches only ``enter_ns`` and ``leave_ns`` are wanted.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        calls: ExportedCalls,
        groups: PeerGroups,
        room: BatchRoom,
        block_events: int,
        until_ns: int,
        sources: dict[int, RecordSpool],
        *,
        only_times: bool = False,
    ) -> None:
        ffi = halves().ffi
        self.streams, self._room, self._most = streams, room, block_events
        self._threads = ffi.new("struct skelgen_half_thread[]", len(streams))
        self._follow = ffi.new("struct skelgen_follow *")
        self._follow.only_times = only_times
        self._calls, self._groups = calls, groups
        self._tables = _tables()
        self._attach()
        threads = {stream.thread: at for at, stream in enumerate(streams)}
        self._readers = [
            StreamReader(stream, self._threads[at], threads, block_events, until_ns)
            for at, stream in enumerate(streams)
        ]
        for thread, stream in zip(self._threads, streams, strict=True):
            if spool := sources.get(stream.number):
                thread.sources = spool.rows(_SOURCE)
                thread.source_count = spool.capacity

    def _attach(self) -> None:
        follow = self._follow
        follow.threads, follow.thread_count = self._threads, len(self.streams)
        rows = self._calls.rows
        follow.calls = address(halves(), rows, "struct skelgen_half_call")
        follow.call_count = len(rows)
        follow.group_first = address(halves(), self._groups.first, "int64_t")
        follow.groups = address(halves(), self._groups.ranks, "int32_t")
        follow.tables = self._tables

    def messages(self) -> dict[int, int]:
        """Return how many halves of messages each stream has had."""
        return {
            stream.number: int(thread.messages)
            for stream, thread in zip(self.streams, self._threads, strict=True)
        }

    def batches(self) -> Iterator[Batch]:
        """Return the events, so many at a time."""
        lib, follow, room = halves().lib, self._follow, self._room
        follow.event_capacity = min(self._most, len(room.events))
        known = 0
        while True:
            known = room.attach(follow, known)
            while (stop := lib.skelgen_follow(follow)) == lib.SKELGEN_HALVES_NEXT:
                self._readers[follow.wanted].next()
            if stop == lib.SKELGEN_HALVES_NO_MEMORY:
                raise MemoryError("no memory for the requests that are open")
            if stop == lib.SKELGEN_HALVES_GROW:
                room.make_room(2 * len(room.posts))
                continue
            if follow.event_count:
                yield Batch(
                    room.events.first(follow.event_count),
                    room.posts.first(follow.post_count),
                    room.ends.first(follow.end_count),
                    follow,
                )
            if stop == lib.SKELGEN_HALVES_DONE:
                return


def _tables() -> Any:
    module = halves()
    tables = module.lib.skelgen_half_tables_new()
    if tables == module.ffi.NULL:
        raise MemoryError("no memory for the requests that are open")
    return module.ffi.gc(tables, module.lib.skelgen_half_tables_free)


def find_sources(
    stream: Stream, calls: ExportedCalls, spool: RecordSpool, block_events: int
) -> None:
    """Go through a stream once and note what its wildcards received.

    They are known only where a receive completes, later than where it is posted.

    Parameters
    ----------
    stream : Stream
    calls : ExportedCalls
    spool : RecordSpool
        Of ``struct skelgen_half_source``, by number of the request.
    block_events : int
    """
    module = halves()
    thread = module.ffi.new("struct skelgen_half_thread *")
    reader = StreamReader(stream, thread, {}, block_events)
    rows = address(module, calls.rows, "struct skelgen_half_call")
    while reader.next():
        while True:
            thread.sources, thread.source_count = spool.rows(_SOURCE), spool.capacity
            if not (wanted := module.lib.skelgen_find_sources(thread, rows)):
                break
            spool.make_room(wanted)
        spool.let_go()
