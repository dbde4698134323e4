"""From a trace to `Events`: all ranks in flat arrays, on one clock, with one table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import of_all
from skelgen.events.epochs import GROUPED, sort_out
from skelgen.events.parts import looked_up
from skelgen.events.rank_bounds import bounds_of
from skelgen.events.rank_parts import Common, EventsOfRanks, join, with_tables
from skelgen.events.ranks import RankEvents, decode_ranks, remove, requests_of
from skelgen.events.requests import AgeRows
from skelgen.events.rows import RowTable
from skelgen.events.shapes import FileShapes, Names, interpret
from skelgen.events.sizes import Vectors
from skelgen.events.types import SHAPE_DTYPE, Calls, Events
from skelgen.events.wildcards import resolve
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import EventColumns, RankFile, TimeScale, Trace
from skelgen.trace.workspace import Workspace


def collect(trace: Trace, progress: Progress = NO_PROGRESS) -> Events:
    """Read all events of a trace.

    Parameters
    ----------
    trace : Trace
    progress : Progress
        Told of every event that was read.

    Raises
    ------
    InputError
        When the trace is damaged beyond use or changed since it was opened.
    """
    common = Common.of(trace.files, trace.world_size)
    part = collect_part(trace, common, progress)
    return with_tables(part, join([part], common.warnings)[0], None)


def collect_part(
    trace: Trace, common: Common, progress: Progress = NO_PROGRESS
) -> EventsOfRanks:
    """Read the events of some ranks.

    Parameters
    ----------
    trace : Trace
        With the files of these ranks only.
    common : Common
        About these files.
    progress : Progress
        Told of every event that was read.
    """
    return _Collector(trace, common, progress).part()


#: Ranks are read together up to so many events.
_BATCH_EVENTS = 1 << 16


@dataclass(slots=True)
class _Batch:
    """Files of ranks that are read together, what their shapes mean, their clocks.

    Ranks whose calls depend on what other calls of theirs did are read alone.
    """

    files: list[RankFile] = field(default_factory=list)
    shapes: list[FileShapes] = field(default_factory=list)
    scales: list[TimeScale] = field(default_factory=list)
    alone: bool = False

    def add(self, file: RankFile, shapes: FileShapes, scale: TimeScale) -> None:
        """Take up a file of the same rank."""
        self.alone |= bool(self.files) or shapes.windows or bool(shapes.controls.any())
        self.alone |= file.facts.statuses > 0 or file.facts.foreign > 0
        self.files.append(file)
        self.shapes.append(shapes)
        self.scales.append(scale)

    def join(self, rank: _Batch) -> None:
        """Take up the files of a further rank."""
        self.files += rank.files
        self.shapes += rank.shapes
        self.scales += rank.scales
        self.alone |= rank.alone


class _Collector:
    """What grows while rank after rank is read."""

    def __init__(self, trace: Trace, common: Common, progress: Progress) -> None:
        self.trace, self.progress = trace, progress
        self.names = Names()
        self.table = RowTable(SHAPE_DTYPE, "tag")
        self.ages = AgeRows()
        self.communicators, self.scales = common.communicators, common.scales
        self.columns, self.workspace = EventColumns.of(trace.events), Workspace()
        self.first = np.zeros(trace.world_size + 1, np.int64)
        self.begin_ns = np.full(trace.world_size, -1, np.int64)
        self.end_ns = np.full(trace.world_size, -1, np.int64)
        self.tail_ns = np.zeros(trace.world_size, np.int64)
        self.tail_asleep_ns = np.zeros(trace.world_size, np.int64)
        self.away: list[NDArray[np.void]] = []
        self.vector_calls: list[NDArray[np.int64]] = []
        self.vectors: list[NDArray[np.object_]] = []
        self.wrong_peers = self.lost_requests = self.implausible = 0
        self.paused_ns = 0
        self.threads: NDArray[np.uint16] | None = None

    def part(self) -> EventsOfRanks:
        """Read everything."""
        at = 0
        self.progress.start("decoding events", self.trace.events)
        for batch in self._batches():
            read = sum(file.facts.events for file in batch.files)
            at += self._read(batch, at, at + read)
            self.progress.advance(read)
        self.progress.finish()
        np.cumsum(self.first, out=self.first)
        damaged = (self.wrong_peers, self.lost_requests, self.implausible)
        return EventsOfRanks(self._result(at), damaged, self.paused_ns)

    def _batches(self) -> Iterator[_Batch]:
        """Give ranks that are read together, in their order."""
        batch, events = _Batch(), 0
        numbered = enumerate(self.trace.files)
        for _, group in groupby(numbered, key=lambda one: one[1].header.world_rank):
            rank = _Batch()
            for number, file in group:
                index = self.communicators.index[number]
                shapes = interpret(file, index, self.communicators, self.names)
                rank.add(file, shapes, self.scales[number])
            if batch.files and (rank.alone or events >= _BATCH_EVENTS):
                yield batch
                batch, events = _Batch(), 0
            batch.join(rank)
            events += sum(file.facts.events for file in rank.files)
            if rank.alone:
                yield batch
                batch, events = _Batch(), 0
        if batch.files:
            yield batch

    def _read(self, batch: _Batch, at: int, end: int) -> int:
        """Read ranks into the columns from `at` on; return their number of calls."""
        files, shapes = batch.files, batch.shapes
        found = decode_ranks(
            files,
            shapes,
            batch.scales,
            self.columns.part(at, end),
            self.table,
            self.workspace,
        )
        found, first = self._take_bounds(found, batch)
        count = int(first[-1])
        if batch.alone:
            ended_ns = int(self.end_ns[files[0].header.world_rank])
            self.paused_ns += _paused_ns(found, count, ended_ns)
        creator = np.zeros(0, np.int64)
        for requests in requests_of(found, files, first):
            self.lost_requests += self.ages.follow(requests)
            creator = requests.statuses["creator"]
        if found.stream is not None:
            if self.threads is None:
                self.threads = np.zeros(len(self.columns.variant), np.uint16)
            self.threads[at : at + count] = found.stream[:count]
        shape = found.columns.variant[:count]
        looked_up(found.numbers, shape, out=shape)
        functions = tuple(self.names.functions)
        self.wrong_peers += found.wrong_peers + resolve(
            shape,
            self.table,
            functions,
            self.communicators.table,
            creator,
            found.statuses["source"],
            found.statuses["tag"],
        )
        found = self._take_partners(found, files, shapes)
        sort_out(shape, found.columns.reference[:count], self.table, functions)
        self.implausible += found.implausible
        self._take_vectors(found, files, shapes, at)
        away = found.away[found.away["call"] < count]
        away["call"] += at
        self.away.append(away)
        return count

    def _take_bounds(
        self, found: RankEvents, batch: _Batch
    ) -> tuple[RankEvents, NDArray[np.int64]]:
        """Note begin and end, which are no calls, and take them out.

        Returns
        -------
        found : RankEvents
        first : (ranks + 1,) int64 array
            Where the calls of each rank begin now.
        """
        ranks = len(found.first) - 1
        files, scales = batch.files[:ranks], batch.scales[:ranks]
        bounds = bounds_of(found, files, scales)
        rows = [file.header.world_rank for file in files]
        self.begin_ns[rows], self.end_ns[rows] = bounds.begin_ns, bounds.end_ns
        self.tail_ns[rows] = bounds.tail_ns
        self.tail_asleep_ns[rows] = bounds.tail_asleep_ns
        first = found.first - np.searchsorted(bounds.gone, found.first)
        if len(bounds.gone):
            found, _ = remove(found, bounds.gone)
        self.first[np.array(rows) + 1] = np.diff(first)
        return found, first

    def _take_partners(
        self, found: RankEvents, files: list[RankFile], shapes: list[FileShapes]
    ) -> RankEvents:
        """Turn the groups of Win_post and Win_start into rows of partners."""
        vectors = found.vectors
        chosen = np.zeros(len(vectors), bool)
        for file, one in enumerate(shapes):
            grouped = np.array([name in GROUPED for name in one.names], bool)
            own = vectors["file"] == file
            chosen[own] = grouped[vectors["shape"][own]]
        if not chosen.any():
            return found
        kinds, which = np.unique(
            vectors[["file", "shape", "vector_a"]][chosen], return_inverse=True
        )
        rows = np.zeros(len(kinds), np.uint32)
        for i, (file, shape, vector) in enumerate(kinds.tolist()):
            members = Vectors(files[file], shapes[file]).members(shape, vector)
            rows[i] = self.ages.add(members)
        found.columns.reference[vectors["event"][chosen]] = rows[which.reshape(-1)]
        return replace(found, vectors=vectors[~chosen])

    def _take_vectors(
        self,
        found: RankEvents,
        files: list[RankFile],
        shapes: list[FileShapes],
        at: int,
    ) -> None:
        """Note bytes for each rank, and sizes that follow from them."""
        if not len(found.vectors):
            return
        tables = [Vectors(file, one) for file, one in zip(files, shapes, strict=True)]
        names = ["file", "shape", "vector_a", "vector_b"]
        kinds, which = np.unique(found.vectors[names], return_inverse=True)
        sides = np.full((len(kinds), 2), None, dtype=object)
        sizes = np.zeros(len(kinds), np.int64)
        for i, (number, shape, vector_a, vector_b) in enumerate(kinds.tolist()):
            sends, receives, size = tables[number].sides(shape, vector_a, vector_b)
            sides[i, 0], sides[i, 1], sizes[i] = sends, receives, size
        which = which.reshape(-1)
        calls, size = found.vectors["event"], sizes[which]
        found.columns.size_bytes[calls[size >= 0]] = size[size >= 0]
        self.vector_calls.append(calls + at)
        self.vectors.append(sides[which])

    def _result(self, count: int) -> Events:
        columns = self.columns.part(0, count)
        age_first, age_values = self.ages.arrays()
        vectors = np.full((0, 2), None, dtype=object)
        calls = Calls(
            first=self.first,
            shape=columns.variant,
            size_bytes=columns.size_bytes,
            ages=columns.reference,
            age_first=age_first,
            age_values=age_values,
            vector_call=np.concatenate([np.zeros(0, np.int64), *self.vector_calls]),
            vectors=np.concatenate([vectors, *self.vectors]),
            shapes=self.table.rows,
            communicators=self.communicators.table,
            functions=tuple(self.names.functions),
        )
        return Events(
            calls=calls,
            enter_ns=columns.enter_ns,
            leave_ns=columns.leave_ns,
            compute_ns=columns.compute_ns,
            begin_ns=self.begin_ns,
            end_ns=self.end_ns,
            tail_ns=self.tail_ns,
            tail_asleep_ns=self.tail_asleep_ns,
            away=of_all(self.away),
            sites=tuple(self.names.sites),
            threads=None if self.threads is None else self.threads[:count],
        )


def _paused_ns(found: RankEvents, count: int, end_ns: int) -> int:
    """Return how long a rank was not recorded because the program said so [ns]."""
    columns = found.columns
    if not found.pauses.any():
        return 0
    at = np.flatnonzero(found.pauses[columns.variant[:count]])
    resumed_ns = np.append(columns.enter_ns[:count], end_ns)[at + 1]
    return int(np.maximum(resumed_ns - columns.leave_ns[at], 0).sum())
