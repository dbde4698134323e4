"""One stream of a trace, block by block, as the kernel wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.communicators import Communicators
from skelgen.events.shapes import FileShapes, Names, interpret, variant_rows
from skelgen.events.sizes import Vectors
from skelgen.export.calls import ExportedCalls
from skelgen.export.kernel import address, dtype, halves
from skelgen.export.types import Sides
from skelgen.trace import RankFile, TimeScale
from skelgen.trace.blocks import Block, blocks
from skelgen.trace.stream import EventColumns


class SidesTable:
    """Vectors of collectives in bytes, numbered as they appear.

    Attributes
    ----------
    table : list of Sides
    """

    def __init__(self) -> None:
        self.table: list[Sides] = []

    def add(self, sides: Sides) -> int:
        """Return a new number for a pair of vectors."""
        self.table.append(sides)
        return len(self.table) - 1


class Stream:
    """What one thread of one rank did.

    Parameters
    ----------
    number : int
        Which stream of the run it is, from 0.
    file : RankFile
    communicators : Communicators
    names : Names
        Extended here.
    scale : TimeScale
    sides : SidesTable
        Extended by the blocks.

    Attributes
    ----------
    number, file
        As given.
    rank, thread : int
    """

    def __init__(
        self,
        number: int,
        file: RankFile,
        communicators: Communicators,
        names: Names,
        scale: TimeScale,
        sides: SidesTable,
    ) -> None:
        self.number, self.file = number, file
        self.rank, self.thread = file.header.world_rank, file.header.thread
        self._scale, self._sides = scale, sides
        index = communicators.index[number]
        self._shapes: FileShapes = interpret(file, index, communicators, names)
        self._vectors = Vectors(file, self._shapes)
        self._known: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._calls = np.zeros(0, np.int32)
        self._variants = b"", np.zeros(0, dtype("half_variant"))

    @property
    def end_ns(self) -> int:
        """Return when the last event ended [ns]."""
        length = self.file.facts.duration_units * self._scale.ns_per_unit
        return self._scale.origin_ns + round(length)

    def number_calls(self, calls: ExportedCalls, functions: list[str]) -> None:
        """Give the shapes of the file their numbers among the calls of the run."""
        self._calls = calls.numbers(self._shapes, functions)

    def blocks(self, block_events: int) -> Iterator[Block]:
        """Decode the stream, so many events at a time."""
        return blocks(self.file, self._shapes.raw, self._scale, block_events)

    def enter_ns(self, block_events: int) -> Iterator[NDArray[np.int64]]:
        """Return when the events began, block by block [ns]."""
        for block in self.blocks(block_events):
            yield block.columns.enter_ns

    def variants(self, block: Block) -> NDArray[np.void]:
        """Return ``struct skelgen_half_variant`` of the variants of a block."""
        raw, known = block.variants.tobytes(), self._variants
        if raw != known[0]:
            rows, _ = variant_rows(self._shapes, block.variants)
            result = np.zeros(len(rows), dtype("half_variant"))
            result["call"] = self._calls[block.variants["shape"]]
            for name in ("peer", "tag", "peer2", "tag2"):
                result[name] = rows[name]
            known = self._variants = raw, result
        return known[1]

    def sides(self, block: Block) -> NDArray[np.int32] | None:
        """Return the number of each event's vectors, and set the events' sizes."""
        if not len(block.vectors):
            return None
        result = np.full(len(block.columns.variant), -1, np.int32)
        shapes = block.variants["shape"][block.columns.variant[block.vectors["event"]]]
        rows = zip(shapes.tolist(), block.vectors.tolist(), strict=True)
        for shape, (event, vector_a, vector_b) in rows:
            if not self._shapes.peers[shape]:
                continue
            key = (shape, vector_a, vector_b)
            known = self._known.get(key)
            if known is None:
                sends, receives, size = self._vectors.sides(*key)
                known = self._known[key] = self._sides.add((sends, receives)), size
            result[event], size = known
            if size >= 0:
                block.columns.size_bytes[event] = size
        return result


class StreamReader:
    """Gives the kernel the blocks of a stream one after the other.

    Parameters
    ----------
    stream : Stream
    thread : struct skelgen_half_thread
        Where they go.
    threads : dict of int to int
        Place of each thread of the rank among those that are followed.
    block_events : int
    until_ns : int
        Events from the first on that begins later are left out [ns].
    """

    def __init__(
        self,
        stream: Stream,
        thread: Any,
        threads: dict[int, int],
        block_events: int,
        until_ns: int = 1 << 62,
    ) -> None:
        self.stream, self.thread = stream, thread
        self._threads, self._until_ns = threads, until_ns
        self._blocks = stream.blocks(block_events)
        lists = stream.file.definitions.lists
        first = np.ascontiguousarray(lists.first, np.int64)
        values = np.ascontiguousarray(lists.values, np.int64)
        self._lists, self._kept = (first, values), tuple[Any, ...]()
        thread.list_first = address(halves(), first, "int64_t")
        thread.list_values = address(halves(), values, "int64_t")
        thread.list_count = max(len(first) - 1, 0)
        thread.stream = stream.number

    def next(self) -> bool:
        """Give it the next block; False when there is none."""
        thread = self.thread
        thread.event = thread.event_count = 0
        block = None if thread.ended else next(self._blocks, None)
        if block is None:
            thread.ended = 1
            return False
        late = block.columns.enter_ns > self._until_ns
        if late.any():
            thread.ended = 1
            thread.event_count = int(late.argmax())
        else:
            thread.event_count = len(late)
        self._attach(block)
        return True

    def _attach(self, block: Block) -> None:
        thread = self.thread
        variants, sides = self.stream.variants(block), self.stream.sides(block)
        foreign = self._foreign(block)
        self._kept = (block, variants, sides, foreign)
        self._attach_columns(block.columns)
        thread.sides = halves().ffi.NULL
        if sides is not None:
            thread.sides = address(halves(), sides, "int32_t")
        thread.variants = address(halves(), variants, "struct skelgen_half_variant")
        thread.foreign = address(halves(), foreign, "struct skelgen_half_foreign")
        thread.foreign_count, thread.foreign_next = len(foreign), 0
        # The decoder's struct skelgen_status has the same fields.
        statuses = block.statuses
        thread.statuses = address(halves(), statuses, "struct skelgen_half_status")
        thread.status_count, thread.status_next = len(statuses), 0

    def _attach_columns(self, columns: EventColumns) -> None:
        for name in ("variant", "reference"):
            given = address(halves(), getattr(columns, name), "uint32_t")
            setattr(self.thread, name, given)
        for name in ("size_bytes", "enter_ns", "leave_ns", "compute_ns"):
            given = address(halves(), getattr(columns, name), "int64_t")
            setattr(self.thread, name, given)

    def _foreign(self, block: Block) -> NDArray[np.void]:
        result = np.zeros(len(block.foreign), dtype("half_foreign"))
        if len(result):
            for name in ("event", "number"):
                result[name] = block.foreign[name]
            threads = block.foreign["thread"].tolist()
            result["thread"] = [self._threads.get(thread, -1) for thread in threads]
        return result
