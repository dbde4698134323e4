"""Programs as flat tables, row by row, see `skelgen.skeleton.proof.script`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, FunctionInfo, function_info
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    TWO_SIDED,
    WITH_PARTNERS,
)
from skelgen.events.types import NO_PEER, PROC_NULL
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.proof.script import _MODES, NOBODY, Script, _string
from skelgen.skeleton.quantities.communicator_places import places_in
from skelgen.skeleton.quantities.vectors import is_pairwise
from skelgen.skeleton.types import Operation, Program
from skelgen.symbols.types import VARYING


def script_of(
    programs: Sequence[Program],
    functions: Sequence[str],
    symbols: NDArray[np.void],
    families: Sequence[CommunicatorFamily],
) -> Script:
    """Turn programs into a script, see `skelgen.skeleton.proof.script.script_of`.

    Parameters
    ----------
    programs : sequence of Program
    functions : sequence of str
        MPI names; the symbols' column ``function`` points here.
    symbols : SYMBOL_DTYPE array
    families : sequence of CommunicatorFamily
    """
    collector = _Collector(functions, symbols, families)
    strings = [_string(program) for program in programs]
    steps = [collector.steps(program) for program in programs]
    owner = {
        rank: (number, place)
        for number, program in enumerate(programs)
        for place, rank in enumerate(program.ranks)
    }
    rows, first = [], [0]
    for rank in sorted(owner):
        number, place = owner[rank]
        start = collector.rows
        created = collector.rank(rank, place, steps[number])
        string = strings[number]
        rows.append(string + np.int32(start))
        first.append(first[-1] + len(string))
        collector.request_first.append(collector.request_first[-1] + created)
    return collector.script(
        np.array(first, np.int64),
        np.concatenate(rows) if rows else np.zeros(0, np.int32),
    )


class _Step:
    """What an operation is on all ranks of its program."""

    __slots__ = ("ages", "info", "kind", "mode", "operation", "symbol")

    def __init__(
        self, operation: Operation, symbol: dict[str, int], info: FunctionInfo
    ) -> None:
        self.operation, self.symbol, self.info = operation, symbol, info
        kind = info.kind
        if kind is CallKind.RMA and info.creates:
            kind = CallKind.ISEND  # to nobody: its request completes by itself
        self.kind, self.mode = int(kind), _MODES.get(info.mode, 0)
        self.ages = list(operation.ages)


@dataclass(slots=True)
class _Collector:
    """Collects the rows of a script."""

    functions: Sequence[str]
    symbols: NDArray[np.void]
    families: Sequence[CommunicatorFamily]
    rows: int = 0
    request_first: list[int] = field(default_factory=lambda: [0])
    channels: dict[tuple[int, int, int, int], int] = field(default_factory=dict)
    fits: dict[tuple[str, int, bytes], int] = field(default_factory=dict)
    columns: dict[str, list[int]] = field(default_factory=dict)
    ragged: dict[str, list[list[int]]] = field(default_factory=dict)
    instance_first: list[int] = field(default_factory=list)
    member_first: list[int] = field(default_factory=list)
    places: list[dict[int, tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        sizes = [len(members) for f in self.families for members in f.instances]
        counts = [len(family.instances) for family in self.families]
        self.places = places_in(self.families)
        self.instance_first = [0, *np.cumsum(counts).tolist()]
        self.member_first = [0, *np.cumsum(sizes).tolist()]
        for name in ("kind", "mode", "occurrences", "capacity"):
            self.columns[name] = []
        for name in ("stream", "member", "fit"):
            self.columns[name] = []
        for name in ("send", "receive", "size", "ages"):
            self.ragged[name] = []

    def steps(self, program: Program) -> list[_Step]:
        """Return what is the same on all ranks of a program."""
        found = []
        for operation in program.operations:
            row = self.symbols[operation.symbol]
            symbol = dict(zip(self.symbols.dtype.names or (), row.item(), strict=True))
            info = function_info(self.functions[symbol["function"]])
            found.append(_Step(operation, symbol, info))
        return found

    def rank(self, rank: int, position: int, steps: Sequence[_Step]) -> int:
        """Add the operations of one rank; return how many requests it creates."""
        created = 0
        for step in steps:
            self._plain(step, position)
            self._partners(rank, step.operation, step.symbol, step.info.kind)
            self._collective(rank, position, step)
            self.rows += 1
            created += step.operation.occurrences * step.info.creates
        return created

    def _plain(self, step: _Step, row: int) -> None:
        add, operation = self.columns, step.operation
        add["kind"].append(step.kind)
        add["mode"].append(step.mode)
        add["occurrences"].append(operation.occurrences)
        add["capacity"].append(int(operation.receive_bytes[row]))
        # In calls with vectors every participant has sizes of its own.
        sizes = () if step.info.vector else operation.size_bytes.values[row].tolist()
        self.ragged["size"].append([round(size) for size in sizes])
        self.ragged["ages"].append(step.ages)

    def _partners(
        self, rank: int, operation: Operation, symbol: dict[str, int], kind: CallKind
    ) -> None:
        send, receive = [NOBODY], [NOBODY]
        if kind in SENDING or kind in RECEIVING:
            peers = [symbol["peer"]]
            if peers == [VARYING]:
                peers = operation.peers.tolist()
            tag = symbol["tag"]
            if kind in SENDING:
                send = [self._channel(rank, symbol, peer, tag, True) for peer in peers]
            else:
                receive = [
                    self._channel(rank, symbol, peer, tag, False) for peer in peers
                ]
            if kind in TWO_SIDED:
                second, tag = symbol["peer2"], symbol["tag2"]
                peers = peers if second == VARYING else [second]
                receive = [
                    self._channel(rank, symbol, peer, tag, False) for peer in peers
                ]
        if kind in WITH_PARTNERS:
            tag, tells = symbol["tag"], kind is CallKind.SIGNAL
            channels = [
                self._channel(rank, symbol, peer, tag, tells)
                for peer in operation.partners
            ]
            send, receive = (channels, []) if tells else ([], channels)
            send, receive = (
                one or [NOBODY] * max(len(channels), 1) for one in (send, receive)
            )
        both = max(len(send), len(receive))
        self.ragged["send"].append(send if len(send) == both else send * both)
        self.ragged["receive"].append(
            receive if len(receive) == both else receive * both
        )

    def _channel(
        self, rank: int, symbol: dict[str, int], peer: int, tag: int, sends: bool
    ) -> int:
        if peer in (PROC_NULL, NO_PEER):
            return NOBODY
        stream, own, members = self._own(symbol["family"], rank)
        partner = members[(own + peer) % len(members)]
        ends = (rank, partner) if sends else (partner, rank)
        return self.channels.setdefault((stream, *ends, tag), len(self.channels))

    def _own(self, family: int, rank: int) -> tuple[int, int, tuple[int, ...]]:
        """Return a rank's communicator of a family, its rank there, and members."""
        number, own = self.places[family][rank]
        members = self.families[family].instances[number]
        return self.instance_first[family] + number, own, members

    def _collective(self, rank: int, position: int, step: _Step) -> None:
        stream = member = fit = NOBODY
        if step.info.kind in COLLECTIVES:
            stream, own, _ = self._own(step.symbol["family"], rank)
            member = self.member_first[stream] + own
            name = self.functions[step.symbol["function"]].removesuffix("_c")
            vectors = step.operation.vectors[position]
            shared = b"" if is_pairwise(name) else vectors.tobytes()
            key = (name, step.symbol["peer"] if step.info.rooted else NO_PEER, shared)
            fit = self.fits.setdefault(key, len(self.fits))
        for name, value in (("stream", stream), ("member", member), ("fit", fit)):
            self.columns[name].append(value)

    def script(self, first: NDArray[np.int64], row: NDArray[np.int32]) -> Script:
        """Return what was collected."""
        partner_first, send = _ragged(self.ragged["send"], np.int32)
        _, receive = _ragged(self.ragged["receive"], np.int32)
        size_first, size_bytes = _ragged(self.ragged["size"], np.int64)
        age_first, ages = _ragged(self.ragged["ages"], np.int64)
        return Script(
            first=first,
            row=row,
            kind=np.array(self.columns["kind"], np.uint8),
            mode=np.array(self.columns["mode"], np.uint8),
            partner_first=partner_first,
            send_channel=send,
            receive_channel=receive,
            size_first=size_first,
            size_bytes=size_bytes,
            occurrences=np.array(self.columns["occurrences"], np.int64),
            capacity_bytes=np.array(self.columns["capacity"], np.int64),
            age_first=age_first,
            ages=ages,
            stream=np.array(self.columns["stream"], np.int32),
            member=np.array(self.columns["member"], np.int32),
            fit=np.array(self.columns["fit"], np.int32),
            streams=tuple(m for family in self.families for m in family.instances),
            request_first=np.array(self.request_first, np.int64),
            channels=tuple(self.channels),
        )


def _ragged(
    rows: Sequence[Sequence[int]], dtype: type[np.signedinteger]
) -> tuple[NDArray[np.int64], NDArray[np.signedinteger]]:
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    values = np.array([value for row in rows for value in row], dtype)
    return first.astype(np.int64), values
