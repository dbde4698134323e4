"""The events of one file in blocks: a run of any length in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.rank_file import changed, check_unchanged, mapped
from skelgen.trace.stream import EventColumns, TimeScale, attach, let_go
from skelgen.trace.types import RankFile
from skelgen.trace.workspace import Workspace, dtype, kernel, run

#: Events of a block when the caller does not care.
BLOCK_EVENTS = 1 << 14
#: Variants keep their numbers from block to block while there is at most one for so
#: many events of a block.
_EVENTS_OF_A_VARIANT = 16


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some events of a file in a row; all of it is overwritten by the next block.

    Attributes
    ----------
    columns : EventColumns
    variants : structured array
        ``struct skelgen_variant``, those that occur in this block, and while they are
        few those of earlier blocks.
    statuses, foreign, vectors : structured arrays
        As in `Decoded`; events count from the first of the block.
    implausible : int
        As in `Decoded`, of this block.
    """

    columns: EventColumns
    variants: NDArray[np.void]
    statuses: NDArray[np.void]
    foreign: NDArray[np.void]
    vectors: NDArray[np.void]
    implausible: int


def blocks(
    file: RankFile,
    shapes: NDArray[np.void],
    scale: TimeScale,
    events: int = BLOCK_EVENTS,
) -> Iterator[Block]:
    """Decode the events of a file block by block.

    Parameters
    ----------
    file : RankFile
    shapes : structured array
        As for `decode`.
    scale : TimeScale
    events : int
        Most events of a block; one that is larger on its own makes its tables grow.

    Raises
    ------
    InputError
        When the file is not the one any more that was opened.
    """
    total = 0
    with mapped(file.path, file.used_bytes) as data:
        check_unchanged(file, data)
        workspace, begin = Workspace(), file.header.header_bytes
        with workspace.opened(data, begin, file.used_bytes):
            reader = _Reader(workspace, shapes, scale, events)
            while (block := reader.next()) is not None:
                total += len(block.columns.variant)
                yield block
                let_go(data)
    if total != file.facts.events:
        raise changed(file.path)


class _Reader:
    """Runs the kernel until the block is full, and again."""

    def __init__(
        self,
        workspace: Workspace,
        shapes: NDArray[np.void],
        scale: TimeScale,
        events: int,
    ) -> None:
        self.stream, self.tables = workspace.stream, workspace.tables
        self.scale = scale
        self.tables.use(shapes)
        self.columns = EventColumns.of(events)
        self._make_room(max(64, events // 4))
        self.ended = False

    def _make_room(self, rows: int) -> None:
        """Give statuses, foreign requests and vectors of a block so many rows."""
        names = ("status", "foreign", "vectors")
        self.rows = [np.zeros(rows, dtype(name)) for name in names]
        attach(self.stream, self.columns, self.rows, self.scale)

    def next(self) -> Block | None:
        """Decode the next block; None behind the last."""
        if self.ended:
            return None
        self._forget()
        while run(self.stream, self.tables) == _full():
            if self.stream.event_count:
                return self._block()
            self._make_room(2 * len(self.rows[0]))
        self.ended = True
        return self._block() if self.stream.event_count else None

    def _forget(self) -> None:
        """Empty all that holds the previous block, a large table of variants too.

        There may be as many variants as events, in a program whose tags count.
        """
        stream, tables = self.stream, self.tables
        stream.event_count = stream.definition_count = 0
        stream.status_count = stream.foreign_count = stream.vector_count = 0
        stream.implausible_count = 0
        if stream.variant_count * _EVENTS_OF_A_VARIANT > stream.event_capacity:
            stream.variant_count = 0
            tables.slots[:] = 0
            tables.shapes["variant"] = 0

    def _block(self) -> Block:
        stream = self.stream
        counts = (stream.status_count, stream.foreign_count, stream.vector_count)
        statuses, foreign, vectors = (
            rows[:count] for rows, count in zip(self.rows, counts, strict=True)
        )
        return Block(
            columns=self.columns.part(0, stream.event_count),
            variants=self.tables.variants[: stream.variant_count],
            statuses=statuses,
            foreign=foreign,
            vectors=vectors,
            implausible=stream.implausible_count,
        )


def _full() -> int:
    return int(kernel().lib.SKELGEN_STOP_FULL)
