"""One stream of a trace as calls in order of time, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skelgen.events.communicators import Communicators
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    TWO_SIDED,
    CallKind,
    function_info,
)
from skelgen.events.shapes import FileShapes, Names, interpret, variant_rows
from skelgen.events.sizes import Vectors
from skelgen.events.types import PROC_NULL
from skelgen.trace import RankFile, TimeScale
from skelgen.trace.blocks import Block, blocks
from skelgen.trace.format import trace_format
from tests.twins.export_rows.types import CallPart, ExportedCall, ExportRole, Sides

#: Calls that are remembered from block to block.
_MOST_CALLS = 1 << 14


class Raw(NamedTuple):
    """An event before its requests are followed.

    Attributes
    ----------
    enter_ns, leave_ns, compute_ns, stream, call, size_bytes, sides
        As in `Event`.
    reference : int
        Its requests, as in the file.
    foreign : tuple of (int, int)
        Thread and number of completed requests of other threads.
    statuses : tuple of (int, int, int)
        Position, source and tag of completed receives with wildcards.
    """

    enter_ns: int
    leave_ns: int
    compute_ns: int
    stream: int
    call: ExportedCall
    size_bytes: int
    sides: Sides | None
    reference: int
    foreign: tuple[tuple[int, int], ...]
    statuses: tuple[tuple[int, int, int], ...]


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
    ) -> None:
        self.number, self.file = number, file
        self.rank, self.thread = file.header.world_rank, file.header.thread
        self._table = communicators.table
        self._scale = scale
        index = communicators.index[number]
        self._shapes: FileShapes = interpret(file, index, communicators, names)
        self._names = names
        self._flags: list[int] = self._shapes.raw["flags"].tolist()
        self._calls: dict[tuple[int, ...], ExportedCall] = {}
        self._functions: dict[int, str] = {}

    @property
    def end_ns(self) -> int:
        """Return when the last event ended [ns]."""
        length = self.file.facts.duration_units * self._scale.ns_per_unit
        return self._scale.origin_ns + round(length)

    def raw_events(self, block_events: int) -> Iterator[Raw]:
        """Decode the stream, so many events at a time."""
        self._functions = {n: name for name, n in self._names.functions.items()}
        shapes = self._shapes.raw
        for block in blocks(self.file, shapes, self._scale, block_events):
            yield from self._raws(block)

    def enter_ns(self, block_events: int) -> Iterator[NDArray[np.int64]]:
        """Return when the events began, block by block [ns]."""
        shapes = self._shapes.raw
        for block in blocks(self.file, shapes, self._scale, block_events):
            yield block.columns.enter_ns

    def _raws(self, block: Block) -> Iterator[Raw]:
        calls = self._calls_of(block.variants)
        columns = block.columns
        sides = self._sides(block)
        foreign: dict[int, list[tuple[int, int]]] = {}
        for event, thread, number in block.foreign.tolist():
            foreign.setdefault(event, []).append((thread, number))
        statuses: dict[int, list[tuple[int, int, int]]] = {}
        for event, position, source, tag in block.statuses.tolist():
            statuses.setdefault(event, []).append((position, source, tag))
        rows = zip(
            columns.enter_ns.tolist(),
            columns.leave_ns.tolist(),
            columns.compute_ns.tolist(),
            columns.variant.tolist(),
            columns.size_bytes.tolist(),
            columns.reference.tolist(),
            strict=True,
        )
        number = self.number
        for i, (enter, leave, compute, variant, size, reference) in enumerate(rows):
            yield Raw(
                enter,
                leave,
                compute,
                number,
                calls[variant],
                size,
                sides.get(i),
                reference,
                tuple(foreign[i]) if i in foreign else (),
                tuple(statuses[i]) if i in statuses else (),
            )

    def _sides(self, block: Block) -> dict[int, Sides]:
        """Return the vectors of the block's events in bytes, and set their sizes."""
        result: dict[int, Sides] = {}
        if not len(block.vectors):
            return result
        vectors = Vectors(self.file, self._shapes)
        for event, vector_a, vector_b in block.vectors.tolist():
            variant = block.columns.variant[event]
            shape = int(block.variants["shape"][variant])
            if not self._shapes.peers[shape]:
                continue
            sends, receives, size = vectors.sides(shape, vector_a, vector_b)
            result[event] = (sends, receives)
            if size >= 0:
                block.columns.size_bytes[event] = size
        return result

    def _calls_of(self, variants: NDArray[np.void]) -> list[ExportedCall]:
        keys = variants.tolist()
        new = np.array([key not in self._calls for key in keys], bool)
        if new.any():
            if len(self._calls) > _MOST_CALLS:
                self._calls.clear()
                new[:] = True
            rows, _ = variant_rows(self._shapes, variants[new])
            for variant, row in zip(variants[new].tolist(), rows, strict=True):
                self._calls[variant] = self._call(variant[0], row)
        return [self._calls[key] for key in keys]

    def _call(self, shape: int, row: np.void) -> ExportedCall:
        function = self._functions[int(row["function"])]
        info = function_info(function)
        communicator = int(row["communicator"])
        name = self._shapes.names[shape]
        return ExportedCall(
            function=function,
            name=name,
            kind=info.kind,
            flags=int(row["flags"]),
            request_flags=self._flags[shape] & _request_bits(),
            communicator=communicator,
            root=int(row["peer"]) if info.rooted else -1,
            peer=int(row["peer"]),
            tag=int(row["tag"]),
            site=int(row["site"]),
            parts=self._parts(info.kind, self._flags[shape], row),
        )

    def _parts(self, kind: CallKind, flags: int, row: np.void) -> tuple[CallPart, ...]:
        parts = []
        if kind in SENDING:
            parts.append(self._part(ExportRole.SEND, row, "peer", "tag"))
        if kind in RECEIVING:
            second = "2" if kind in TWO_SIDED else ""
            parts.append(
                self._part(ExportRole.RECEIVE, row, f"peer{second}", f"tag{second}")
            )
        if not parts and flags & _making_bits():
            role = ExportRole.COLLECTIVE if kind in COLLECTIVES else ExportRole.OTHER
            parts.append(CallPart(role, -1, -1, -1))
        return tuple(part for part in parts if part.peer != PROC_NULL)

    def _part(self, role: ExportRole, row: np.void, peer: str, tag: str) -> CallPart:
        number, communicator = int(row[peer]), int(row["communicator"])
        partner = self.partner(communicator, number)
        return CallPart(role, number, partner, int(row[tag]))

    def partner(self, communicator: int, peer: int) -> int:
        """Return the world rank of a rank of a communicator; -1: there is none."""
        if communicator < 0 or peer < 0:
            return -1
        one = self._table[communicator]
        group = one.remote or one.members
        return group[peer] if peer < len(group) else -1


def _making_bits() -> int:
    known = trace_format()
    return known["SHAPE_CREATES"] | known["SHAPE_PERSISTENT"]


def _request_bits() -> int:
    known = trace_format()
    others = ("STARTS", "COMPLETES", "RELEASES")
    return _making_bits() | sum(known[f"SHAPE_{name}"] for name in others)
