"""Add up the calls of a run block by block: see `skelgen.events.totals`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events.call_stream import RunStream, Thread, ThreadBlock, ThreadBounds
from skelgen.events.epochs import GROUPED
from skelgen.events.functions import (
    PERSISTENT,
    SENDING,
    TWO_SIDED,
    CallKind,
    function_info,
)
from skelgen.events.rank_parts import EventsOfRanks, join
from skelgen.events.ranks import foreign_of, statuses_of
from skelgen.events.requests import RankRequests, RequestFollower, kernel
from skelgen.events.shapes import checked_peers
from skelgen.events.sizes import Vectors
from skelgen.events.totals import RunTotals, ShapeSums, sent_by, totals_from, totals_of
from skelgen.events.traffic import TrafficSums
from skelgen.events.types import Calls, Events
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace.format import trace_format

_Integers = NDArray[np.int64]


def totals_in_blocks(stream: RunStream, progress: Progress = NO_PROGRESS) -> RunTotals:
    """Add up the calls of a run in memory that does not grow with it.

    Parameters
    ----------
    stream : RunStream
    progress : Progress
        Told of every event that was read.

    Returns
    -------
    RunTotals
        Those of `totals_of`, but that shapes leave out what sums do not depend on.
    """
    adder = _Adder(stream)
    progress.start("adding up events", stream.trace.events)
    for rank in stream.ranks:
        adder.add(rank, progress)
    progress.finish()
    return adder.totals()


class _Adder:
    """What grows while rank after rank goes by."""

    def __init__(self, stream: RunStream) -> None:
        self.stream = stream
        self.functions = tuple(stream.names.functions)
        ranks = stream.trace.world_size
        self.first = np.zeros(ranks + 1, np.int64)
        self.begin_ns, self.end_ns = np.full((2, ranks), -1, np.int64)
        self.inside_ns = np.zeros(ranks, np.int64)
        self.sums, self.sent = ShapeSums(), TrafficSums.of(self._calls())
        self.damaged = np.zeros(3, np.int64)
        self.paused_ns = 0

    def add(self, rank: int, progress: Progress) -> None:
        """Take up the calls of a rank."""
        thread = self.stream.thread(rank)
        if thread is None:
            self._add_whole(rank, self.stream.whole(rank))
            return
        bounds = self.stream.bounds(rank)
        self.begin_ns[rank], self.end_ns[rank] = bounds.begin_ns, bounds.end_ns
        self.first[rank + 1] = bounds.calls
        found = _ThreadSums(thread, bounds, self.sent, self.functions)
        for block in thread.blocks(bounds):
            found.add(block)
            progress.advance(len(block.block.columns.variant))
        found.finish()
        shapes = self.stream.table.rows
        self.sent.add(rank, shapes, *found.sent(shapes))
        self.sums.include(found.own)
        self.inside_ns[rank] = found.own.time_ns.sum()
        self.damaged += found.damaged
        self.paused_ns += found.paused_ns

    def _add_whole(self, rank: int, part: EventsOfRanks) -> None:
        """Take up a rank that was read as a whole."""
        found = totals_of(part.events)
        self.begin_ns[rank] = part.events.begin_ns[rank]
        self.end_ns[rank] = part.events.end_ns[rank]
        self.first[rank + 1] = len(part.events.calls)
        self.sums.include(found.sums())
        self.sent.include(found.sent)
        self.inside_ns += found.inside_ns
        self.damaged += np.array(part.damaged)
        self.paused_ns += part.paused_ns

    def totals(self) -> RunTotals:
        """Put all ranks together."""
        nothing = np.zeros(0, np.int64)
        events = Events(
            calls=self._calls(),
            enter_ns=nothing,
            leave_ns=nothing,
            compute_ns=nothing,
            begin_ns=self.begin_ns,
            end_ns=self.end_ns,
            tail_ns=np.zeros_like(self.end_ns),
            tail_asleep_ns=np.zeros_like(self.end_ns),
            sites=tuple(self.stream.names.sites),
        )
        damaged = tuple(self.damaged.tolist())
        part = EventsOfRanks(events, damaged, self.paused_ns)
        run, _ = join([part], self.stream.common.warnings)
        self.sums.make_room(len(run.calls.shapes))
        return totals_from(run, self.sums, self.inside_ns, self.sent.sent)

    def _calls(self) -> Calls:
        nothing = np.zeros(0, np.int64)
        return Calls(
            first=np.cumsum(self.first),
            shape=np.zeros(0, np.uint32),
            size_bytes=nothing,
            ages=np.zeros(0, np.uint32),
            age_first=np.zeros(2, np.int64),
            age_values=nothing,
            vector_call=nothing,
            vectors=np.full((0, 2), None, dtype=object),
            shapes=self.stream.table.rows,
            communicators=self.stream.common.communicators.table,
            functions=self.functions,
        )


class _ThreadSums:
    """The calls of a rank with one thread, while block after block goes by.

    Attributes
    ----------
    own : ShapeSums
    damaged : (3,) int64 array
        As in `EventsOfRanks`.
    paused_ns : int
    """

    def __init__(
        self,
        thread: Thread,
        bounds: ThreadBounds,
        traffic: TrafficSums,
        functions: tuple[str, ...],
    ) -> None:
        self.thread, self.bounds, self.traffic = thread, bounds, traffic
        self.own, self.damaged, self.paused_ns = ShapeSums(), np.zeros(3, np.int64), 0
        kinds = [function_info(name).kind for name in functions]
        self._kinds = np.array([*kinds, CallKind.LOCAL], np.uint8)
        self._vectors = Vectors(thread.file, thread.shapes)
        self._left_ns = -1
        self._cancelled = np.zeros((2, 0), np.int64)
        file, shapes = thread.file, thread.shapes
        starts = self._kinds[shapes.rows["function"]] == CallKind.START
        counted = np.uint8(kernel().lib.SKELGEN_ACTION_COUNTED)
        self._action = shapes.action | np.where(starts, counted, np.uint8(0))
        self._requests = RequestFollower(
            [file.definitions.lists], [file.facts.persistent], bounds.calls
        )
        sizes = [len(one.remote or one.members) for one in traffic.communicators]
        self._sizes = np.array([*sizes, 0], np.int32)

    def add(self, one: ThreadBlock) -> None:
        """Take up a block."""
        block, shape = one.block, one.shape
        columns, shapes = block.columns, self.thread.table.rows
        self.damaged[[0, 2]] += one.wrong, block.implausible
        if not len(shape):
            return
        self._take_vectors(one)
        self._follow(one, shape)
        self._pause(one)
        inside_ns = columns.leave_ns - columns.enter_ns
        self.own.add(shapes, shape, columns.size_bytes, inside_ns)

    def finish(self) -> None:
        """Take up what only the end shows."""
        if self._left_ns >= 0:
            self.paused_ns += max(self.bounds.end_ns - self._left_ns, 0)
        self.damaged[1] = self._requests.dropped

    def sent(self, shapes: NDArray[np.void]) -> tuple[_Integers, _Integers]:
        """Return calls and bytes of each shape, as far as calls send at once."""
        self.own.make_room(len(shapes))
        self._make_room(len(shapes))
        kinds = self._kinds[shapes["function"]]
        starts = self._requests.started[:, : len(shapes)]
        count, size_bytes = sent_by(self.own, kinds, starts)
        return count - self._cancelled[0], size_bytes - self._cancelled[1]

    def _make_room(self, shapes: int) -> None:
        self._requests.make_room(shapes)
        more = shapes - self._cancelled.shape[1]
        if more > 0:
            self._cancelled = np.pad(self._cancelled, ((0, 0), (0, more)))

    def _take_vectors(self, one: ThreadBlock) -> None:
        """Set the sizes of calls that have a count for each rank."""
        block, vectors = one.block, one.block.vectors
        if not len(vectors):
            return
        columns, shapes = block.columns, self.thread.shapes
        shape = block.variants["shape"][columns.variant[vectors["event"]]]
        grouped = np.array([name in GROUPED for name in shapes.names], bool)
        chosen = np.flatnonzero(~grouped[shape])
        keys = np.stack(
            [shape, vectors["vector_a"], vectors["vector_b"]], axis=1
        ).astype(np.int64)[chosen]
        kinds, which, number = np.unique(
            keys, axis=0, return_inverse=True, return_counts=True
        )
        sizes = np.zeros(len(kinds), np.int64)
        for i, kind in enumerate(kinds.tolist()):
            sends, _, sizes[i] = self._vectors.sides(*kind)
            if sends is not None and shapes.names[kind[0]] == "scatterv":
                function = int(shapes.rows["function"][kind[0]])
                self.traffic.scattered(function, int(number[i]) * int(sends.sum()))
        size, calls = sizes[which.reshape(-1)], vectors["event"][chosen]
        columns.size_bytes[calls[size >= 0]] = size[size >= 0]

    def _follow(self, one: ThreadBlock, shape: NDArray[np.uint32]) -> None:
        """Count starts, cancelled sends, and requests that do not exist."""
        block, shapes = one.block, self.thread.table.rows
        self._make_room(len(shapes))
        statuses = statuses_of(block.statuses)
        self._requests.follow(
            RankRequests(
                variant=block.columns.variant,
                action=self._action[block.variants["shape"]],
                reference=block.columns.reference,
                stream=None,
                lists=[self.thread.file.definitions.lists],
                persistent=[self.thread.file.facts.persistent],
                foreign=foreign_of(block.foreign, {self.thread.file.header.thread: 0}),
                statuses=statuses,
                shape=shape,
                size_bytes=block.columns.size_bytes,
            )
        )
        known = np.flatnonzero(statuses["creator"] >= 0)
        if not len(known):
            return
        source, made_by = block.statuses["source"][known], statuses["shape"][known]
        rows = shapes.take(made_by)
        cancelled = source == trace_format()["CANCELLED"]
        _, wrong = checked_peers(source, self._sizes[rows["communicator"]])
        self.damaged[0] += int((wrong & ~cancelled).sum())
        kind = self._kinds[rows["function"]]
        gone = cancelled & np.isin(kind, SENDING)
        gone &= ~np.isin(kind, (*PERSISTENT, *TWO_SIDED))
        np.add.at(self._cancelled[0], made_by[gone], 1)
        sizes = statuses["size_bytes"][known]
        np.add.at(self._cancelled[1], made_by[gone], sizes[gone])

    def _pause(self, one: ThreadBlock) -> None:
        """Sum up the time in which the program did not want to be recorded."""
        columns, variants = one.block.columns, one.block.variants
        if self._left_ns >= 0:
            self.paused_ns += max(int(columns.enter_ns[0]) - self._left_ns, 0)
            self._left_ns = -1
        pauses = self.thread.shapes.controls[variants["shape"]]
        pauses &= variants["peer"] == 0
        if not pauses.any():
            return
        at = np.flatnonzero(pauses[columns.variant])
        if len(at) and at[-1] == len(columns.variant) - 1:
            self._left_ns, at = int(columns.leave_ns[-1]), at[:-1]
        resumed_ns = columns.enter_ns[at + 1] - columns.leave_ns[at]
        self.paused_ns += int(np.maximum(resumed_ns, 0).sum())
