"""Find the other half of each message without holding the messages in memory."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from skelgen.export.columns import Columns
from skelgen.export.follow import Follower
from skelgen.export.kernel import address, dtype, halves
from skelgen.export.run import TraceStreams
from skelgen.export.spool import RecordSpool
from skelgen.export.types import Batch

_RECORD = "struct skelgen_half_record"
#: After so many halves the pages that are in reach are let go.
_HALVES_IN_REACH = 1 << 17


class Messages:
    """The halves of all messages of a run, by stream and ordinal.

    Parameters
    ----------
    run : TraceStreams

    Attributes
    ----------
    pairs : int
        Messages whose two halves were found.
    alone : int
        Halves without another.
    """

    def __init__(self, run: TraceStreams) -> None:
        ffi, lib = halves().ffi, halves().lib
        size = dtype("half_record").itemsize
        self._spools = [RecordSpool(size, run.folder) for _ in run.streams]
        self._records = ffi.new("struct skelgen_half_records[]", len(run.streams))
        self._reached = 0
        for number in range(len(run.streams)):
            self._attach(number)
        match = ffi.new("struct skelgen_match_halves *")
        waiting = ffi.gc(lib.skelgen_waiting_new(), lib.skelgen_waiting_free)
        if waiting == ffi.NULL:
            raise MemoryError("no memory for messages that wait")
        match.waiting = waiting
        ranks = np.array([stream.rank for stream in run.streams], np.int32)
        present = np.zeros(run.trace.world_size, np.uint8)
        present[ranks] = 1
        canonical = np.array(run.canonical, np.int32)
        calls = run.calls.rows
        match.records, match.stream_count = self._records, len(run.streams)
        match.rank = address(halves(), ranks, "int32_t")
        match.present = address(halves(), present, "uint8_t")
        match.rank_count = len(present)
        match.canonical = address(halves(), canonical, "int32_t")
        match.calls = address(halves(), calls, "struct skelgen_half_call")
        for follower, batch in _in_turn(run):
            self._take(match, follower, batch)
        self.pairs = int(match.pairs)
        self.alone = int(match.alone + lib.skelgen_waiting_count(waiting))

    def others(self, some: Columns) -> Columns:
        """Return the other half of each.

        Parameters
        ----------
        some : Columns
            Halves of a batch.

        Returns
        -------
        Columns
            ``struct skelgen_others``.
        """
        self._reach(2 * len(some))
        found = Columns.room("others", len(some))
        given = halves().ffi.new("struct skelgen_others *")
        found.attach(given)
        halves().lib.skelgen_other_halves(
            self._records,
            len(self._spools),
            address(halves(), some["stream"], "int32_t"),
            address(halves(), some["ordinal"], "int64_t"),
            len(some),
            given,
        )
        return found

    def _attach(self, number: int) -> None:
        self._records[number].rows = self._spools[number].rows(_RECORD)
        self._records[number].count = self._spools[number].capacity

    def _take(self, match: Any, follower: Follower, batch: Batch) -> None:
        for number, count in follower.messages().items():
            if self._spools[number].make_room(count):
                self._attach(number)
        self._reach(len(batch.posts) + len(batch.ends))
        lib = halves().lib
        stop = lib.skelgen_match_halves(match, batch.given)
        if stop == lib.SKELGEN_HALVES_NO_MEMORY:
            raise MemoryError("no memory for messages that wait")

    def _reach(self, count: int) -> None:
        """Let pages go now and then; what they hold stays in the file."""
        self._reached += count
        if self._reached > _HALVES_IN_REACH:
            self._reached = 0
            for spool in self._spools:
                spool.let_go()


def _in_turn(run: TraceStreams) -> Any:
    """Return batches of all ranks: always of the one that is farthest behind.

    Which sends and receives a channel pairs does not depend on it, only how many
    halves wait at a time.
    """
    turns: list[tuple[int, int]] = [(0, at) for at in range(len(run.ranks))]
    followers = run.followers()
    batches = [run.counted(follower.batches()) for follower in followers]
    while turns:
        _, at = turns[0]
        batch = next(batches[at], None)
        if batch is None:
            heapq.heappop(turns)
            continue
        heapq.heapreplace(turns, (int(batch.events["enter_ns"][-1]), at))
        yield followers[at], batch
