"""The calls of a run in blocks: memory for reading them does not grow with the run.

Reading as a whole (`skelgen.events.collect`) gives arrays of all calls. Here a rank is
decoded block by block, as often as it is asked for: first for the bounds of the run.
Shapes leave out what no sum over calls depends on, such as tags, so there are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events.collect import collect_part
from skelgen.events.rank_bounds import end_without_finalize
from skelgen.events.rank_parts import Common, EventsOfRanks
from skelgen.events.rows import RowTable
from skelgen.events.shapes import FileShapes, Names, interpret, variant_rows
from skelgen.events.types import SHAPE_DTYPE
from skelgen.trace import EventColumns, RankFile, TimeScale, Trace
from skelgen.trace.blocks import Block, blocks

#: Events of a block: 40 bytes each, and as much again while one is looked at.
BLOCK = 1 << 16
#: What sums over calls do not depend on.
LEFT_OUT = ("tag", "peer2", "tag2", "datatype_bytes", "piece_bytes", "op")


@dataclass(frozen=True, slots=True, eq=False)
class CallBlock:
    """Some calls of a rank in a row.

    Attributes
    ----------
    shape : (n,) uint32 array
        Row of `RunStream.shapes`.
    size_bytes, enter_ns, leave_ns : (n,) int64 arrays
        As in `Calls` and `Events`, but that sizes of calls with a count for each rank
        are those of their single counts.
    """

    shape: NDArray[np.uint32]
    size_bytes: NDArray[np.int64]
    enter_ns: NDArray[np.int64]
    leave_ns: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ThreadBlock:
    """Some calls of a rank with one thread, and what its file says of them.

    Attributes
    ----------
    block : Block
        As decoded, without what is no call.
    numbers : (variants,) uint32 array
        Row of the table of shapes of each variant.
    wrong : int
        Events that name a rank outside their communicator.
    """

    block: Block
    numbers: NDArray[np.uint32]
    wrong: int

    @property
    def shape(self) -> NDArray[np.uint32]:
        """Return the row of the table of shapes of each call."""
        return self.numbers[self.block.columns.variant]


@dataclass(frozen=True, slots=True)
class ThreadBounds:
    """Where the calls of a rank with one thread begin and end.

    Attributes
    ----------
    begin_ns, end_ns : int
        As in `Events`.
    end : int
        Number of the event that ends them.
    calls : int
        How many there are.
    """

    begin_ns: int
    end_ns: int
    end: int
    calls: int


@dataclass(frozen=True, slots=True, eq=False)
class Thread:
    """The only thread of a rank.

    Attributes
    ----------
    file : RankFile
    shapes : FileShapes
    scale : TimeScale
    table : RowTable
        Of shapes; extended here.
    """

    file: RankFile
    shapes: FileShapes
    scale: TimeScale
    table: RowTable

    def bounds(self) -> ThreadBounds:
        """Go through the events once."""
        begin_ns = end_ns = None
        place = begins = last_ns = end = gone = 0
        for block in self._decoded():
            columns, kinds = block.columns, block.variants["shape"]
            at = _places(self.shapes.begins[kinds], columns.variant)
            if len(at) and begin_ns is None:
                begin_ns = int(columns.leave_ns[at[0]])
            ends = _places(self.shapes.ends[kinds], columns.variant)
            if len(ends):
                end, end_ns = place + int(ends[-1]), int(columns.enter_ns[ends[-1]])
                gone = begins + int((at < ends[-1]).sum())
            begins += len(at)
            last_ns, place = int(columns.leave_ns[-1]), place + len(columns.variant)
        if begin_ns is None:
            begin_ns = self.scale.origin_ns
        if end_ns is None:
            end, gone = place, begins
            last_ns = last_ns if place else begin_ns
            end_ns = end_without_finalize(self.file, self.scale, last_ns)
        return ThreadBounds(begin_ns, max(begin_ns, end_ns), end, end - gone)

    def blocks(self, bounds: ThreadBounds) -> Iterator[ThreadBlock]:
        """Give the calls block by block; each overwrites the one before it."""
        place = 0
        for block in self._decoded():
            rows, outside = variant_rows(self.shapes, block.variants)
            for name in LEFT_OUT:
                rows[name] = 0
            variant = block.columns.variant
            wrong = int(outside[variant].sum()) if outside.any() else 0
            begins = self.shapes.begins[block.variants["shape"]]
            numbers = self.table.number(rows)
            yield ThreadBlock(
                _calls_of(block, begins, bounds.end - place), numbers, wrong
            )
            place += len(variant)

    def _decoded(self) -> Iterator[Block]:
        return blocks(self.file, self.shapes.raw, self.scale, BLOCK)


def _places(has: NDArray[np.bool_], variant: NDArray[np.uint32]) -> NDArray[np.int64]:
    return np.flatnonzero(has[variant]) if has.any() else np.zeros(0, np.int64)


def _calls_of(block: Block, begins: NDArray[np.bool_], end: int) -> Block:
    """Return the block without what is no call: begins, and all from `end` on."""
    variant = block.columns.variant
    if end >= len(variant) and not begins.any():
        return block
    kept = ~begins[variant]
    kept[max(end, 0) :] = False
    names = block.columns.__slots__
    columns = EventColumns(*(getattr(block.columns, name)[kept] for name in names))
    place = np.cumsum(kept) - 1
    tables = {}
    for name in ("statuses", "foreign", "vectors"):
        table = getattr(block, name)
        tables[name] = table = table[kept[table["event"]]]
        table["event"] = place[table["event"]]
    return replace(block, columns=columns, **tables)


class RunStream:
    """A run whose calls are read block by block.

    Ranks with several threads are read as a whole, one after the other.

    Parameters
    ----------
    trace : Trace

    Attributes
    ----------
    trace : Trace
    common : Common
    names : Names
    table : RowTable
        Shapes of the calls that were read so far.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.common = Common.of(trace.files, trace.world_size)
        self.names, self.table = Names(), RowTable(SHAPE_DTYPE, "tag")
        self._files: dict[int, slice] = {}
        self._threads: dict[int, Thread] = {}
        self._bounds: dict[int, ThreadBounds] = {}
        index, communicators = (
            self.common.communicators.index,
            self.common.communicators,
        )
        for number, file in enumerate(trace.files):
            shapes = interpret(file, index[number], communicators, self.names)
            rank, scale = file.header.world_rank, self.common.scales[number]
            first = self._files.get(rank, slice(number, 0)).start
            self._files[rank] = slice(first, number + 1)
            self._threads[rank] = Thread(file, shapes, scale, self.table)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that have a file."""
        return tuple(self._files)

    def thread(self, rank: int) -> Thread | None:
        """Return the only thread of a rank; None where there are several."""
        files = self._files[rank]
        return self._threads[rank] if files.stop - files.start == 1 else None

    def bounds(self, rank: int) -> ThreadBounds:
        """Return the bounds of a rank with one thread; found when first needed."""
        if rank not in self._bounds:
            self._bounds[rank] = self._threads[rank].bounds()
        return self._bounds[rank]

    def whole(self, rank: int) -> EventsOfRanks:
        """Read a rank as a whole; its shapes get the numbers of `table`."""
        files = self._files[rank]
        trace = replace(self.trace, files=self.trace.files[files])
        part = collect_part(trace, self.common.only(files))
        calls, rows = part.events.calls, part.events.calls.shapes.copy()
        functions = [self.names.function(name) for name in calls.functions]
        sites = self.names.sites
        places = [sites.setdefault(name, len(sites)) for name in part.events.sites]
        rows["function"] = np.array([*functions, 0])[rows["function"]]
        rows["site"] = np.array(places)[rows["site"]]
        for name in LEFT_OUT:
            rows[name] = 0
        numbers = self.table.number(rows)
        calls = replace(
            calls,
            shape=numbers[calls.shape],
            shapes=self.table.rows,
            functions=tuple(self.names.functions),
        )
        return replace(part, events=replace(part.events, calls=calls))

    def calls(self, rank: int) -> Iterator[CallBlock]:
        """Give the calls of a rank in order of time; overwritten by the next block."""
        thread = self.thread(rank)
        if thread is None:
            events = self.whole(rank).events
            calls = events.calls
            yield CallBlock(
                calls.shape, calls.size_bytes, events.enter_ns, events.leave_ns
            )
            return
        for one in thread.blocks(self.bounds(rank)):
            columns = one.block.columns
            yield CallBlock(
                one.shape, columns.size_bytes, columns.enter_ns, columns.leave_ns
            )
