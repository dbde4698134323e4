"""Programs as flat tables, in the form that the simulator runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from skelgen.events.types import NO_PEER
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.keep.expansion import weigh
from skelgen.skeleton.proof.channels import Channels, FilledRows, MemberPlaces
from skelgen.skeleton.quantities.vectors import is_pairwise
from skelgen.skeleton.types import Operation, Program
from skelgen.symbols.types import VARYING

SYNCHRONOUS, BUFFERED = 1, 2
_MODES = {"synchronous": SYNCHRONOUS, "buffered": BUFFERED}
NOBODY = -1
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Script:
    """What all ranks execute. A row is an operation on one rank.

    Attributes
    ----------
    first : (ranks + 1,) int64 array
        Steps of rank r are rows ``first[r]`` to ``first[r + 1]`` of `row`.
    row : (steps,) int32 array
        Operation of each step.
    kind, mode : (rows,) uint8 arrays
        `CallKind`, and whether a send waits for its receive in any case
        (SYNCHRONOUS) or never (BUFFERED).
    partner_first : (rows + 1,) int64 array
        Execution k of a row with p partners has the partner ``k % p``; SIGNAL and
        AWAIT have all of them at each execution.
    send_channel, receive_channel : (partners,) int32 arrays
        Channel (communicator, source, destination, tag) that messages go to and
        come from; -1 for none.
    size_first : (rows + 1,) int64 array
    size_bytes : (sizes,) int64 array
        Execution k of n of a row with s sizes has the size ``k * s // n`` [bytes].
    occurrences : (rows,) int64 array
    capacity_bytes : (rows,) int64 array
        Of a receive [bytes].
    age_first : (rows + 1,) int64 array
    ages : (a,) int64 array
        Requests that a row names; ALL_OUTSTANDING for all plain ones.
    stream, member, fit : (rows,) int32 arrays
        Of a collective the communicator, the rank in it, numbered through all
        communicators, and what all participants must have in common; else -1.
    streams : tuple of tuple of int
        World ranks of each communicator.
    request_first : (ranks + 1,) int64 array
        Requests that the ranks create, cumulated.
    channels : tuple of (int, int, int, int)
        Communicator, source, destination (world ranks) and tag of each channel.
    """

    first: NDArray[np.int64]
    row: NDArray[np.int32]
    kind: NDArray[np.uint8]
    mode: NDArray[np.uint8]
    partner_first: NDArray[np.int64]
    send_channel: NDArray[np.int32]
    receive_channel: NDArray[np.int32]
    size_first: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    capacity_bytes: NDArray[np.int64]
    age_first: NDArray[np.int64]
    ages: NDArray[np.int64]
    stream: NDArray[np.int32]
    member: NDArray[np.int32]
    fit: NDArray[np.int32]
    streams: tuple[tuple[int, ...], ...]
    request_first: NDArray[np.int64]
    channels: tuple[tuple[int, int, int, int], ...]

    @property
    def ranks(self) -> int:
        """Return the number of ranks."""
        return len(self.first) - 1


def script_of(
    programs: Sequence[Program],
    functions: Sequence[str],
    symbols: NDArray[np.void],
    families: Sequence[CommunicatorFamily],
) -> Script:
    """Turn programs into a script.

    Parameters
    ----------
    programs : sequence of Program
    functions : sequence of str
        MPI names; the symbols' column ``function`` points here.
    symbols : SYMBOL_DTYPE array
    families : sequence of CommunicatorFamily
    """
    ranks = np.concatenate(
        [np.zeros(0, np.int64), *(np.array(one.ranks, np.int64) for one in programs)]
    )
    owner = np.repeat(np.arange(len(programs)), [len(one.ranks) for one in programs])
    order = np.argsort(ranks, kind="stable")
    begin = np.empty(len(ranks), np.int64)
    begin[order], rows = _begins(
        [len(one.operations) for one in programs], owner[order]
    )
    rows_of = _Rows(rows, MemberPlaces(families), functions)
    created, done = [], 0
    for program in programs:
        own = slice(done, done + len(program.ranks))
        created.append(rows_of.add(program, begin[own], ranks[own], symbols))
        done = own.stop
    strings = [_string(program) for program in programs]
    first = np.append(*_begins([len(one) for one in strings], owner[order]))
    parts = [
        strings[number] + np.int32(at)
        for number, at in zip(owner[order].tolist(), begin[order].tolist(), strict=True)
    ]
    return rows_of.script(
        first,
        np.concatenate([np.zeros(0, np.int32), *parts]),
        np.append(*_begins(created, owner[order])),
    )


def _begins(lengths: Sequence[int], owner: _Integers) -> tuple[_Integers, int]:
    """Return where ranks begin that are as long as their programs, and the end."""
    length = np.array(lengths, np.int64)[owner]
    ends = np.cumsum(length)
    return ends - length, int(length.sum())


def _string(program: Program) -> NDArray[np.int32]:
    """Expand a program to indices of its operations."""
    length = sum(operation.occurrences for operation in program.operations)
    leaf, _ = weigh(program.nest, 1.0, length)
    symbol = program.nest.symbol[program.nest.body_items == 0]
    found: NDArray[np.int32] = symbol[leaf].astype(np.int32)
    return found


class _Rows:
    """The rows of a script, filled for an operation on all ranks of its program."""

    def __init__(
        self, rows: int, places: MemberPlaces, functions: Sequence[str]
    ) -> None:
        self.places, self.functions = places, functions
        self.kind, self.mode = np.zeros((2, rows), np.uint8)
        self.occurrences, self.capacity = np.zeros((2, rows), np.int64)
        self.stream, self.member, self.fit = np.full((3, rows), NOBODY, np.int32)
        self.channels = Channels(rows)
        self.sizes, self.ages = FilledRows(rows), FilledRows(rows)
        self.fits: dict[tuple[str, int, bytes], list[_Integers]] = {}

    def add(
        self,
        program: Program,
        begin: _Integers,
        ranks: _Integers,
        symbols: NDArray[np.void],
    ) -> int:
        """Add a program whose rows begin there; return how many requests it creates."""
        created = 0
        for number, operation in enumerate(program.operations):
            row = symbols[operation.symbol]
            symbol = dict(zip(symbols.dtype.names or (), row.item(), strict=True))
            info = function_info(self.functions[symbol["function"]])
            rows = begin + number
            self._plain(rows, operation, info)
            self._partners(rows, ranks, operation, symbol, info.kind)
            if info.kind in COLLECTIVES:
                self._collective(rows, ranks, operation, symbol, info)
            created += operation.occurrences * info.creates
        return created

    def _plain(self, rows: _Integers, operation: Operation, info: FunctionInfo) -> None:
        kind = info.kind
        if kind is CallKind.RMA and info.creates:
            kind = CallKind.ISEND  # to nobody: its request completes by itself
        self.kind[rows], self.mode[rows] = int(kind), _MODES.get(info.mode, 0)
        self.occurrences[rows] = operation.occurrences
        self.capacity[rows] = operation.receive_bytes
        if not info.vector:  # else every participant has sizes of its own
            self.sizes.put(rows, np.rint(operation.size_bytes.values).astype(np.int64))
        self.ages.put(rows, np.array([operation.ages], np.int64))

    def _partners(
        self,
        rows: _Integers,
        ranks: _Integers,
        operation: Operation,
        symbol: dict[str, int],
        kind: CallKind,
    ) -> None:
        """Note whom an operation sends to and receives from, if anybody."""
        varying = operation.peers.astype(np.int64)
        peers = varying if symbol["peer"] == VARYING else np.array([symbol["peer"]])
        family, tag = symbol["family"], symbol["tag"]
        sends = kind in SENDING or kind is CallKind.SIGNAL
        receives = kind in RECEIVING or (kind in WITH_PARTNERS and not sends)
        if kind in WITH_PARTNERS:
            peers = np.array(operation.partners, np.int64)
        if sends:
            where = self.places.meet(family, ranks, peers)
            self.channels.put(rows, where, tag, sends=True)
        if kind in TWO_SIDED:
            second, tag = symbol["peer2"], symbol["tag2"]
            peers = peers if second == VARYING else np.array([second])
        if receives or kind in TWO_SIDED:
            where = self.places.meet(family, ranks, peers)
            self.channels.put(rows, where, tag, sends=False)

    def _collective(
        self,
        rows: _Integers,
        ranks: _Integers,
        operation: Operation,
        symbol: dict[str, int],
        info: FunctionInfo,
    ) -> None:
        stream, member = self.places.of(symbol["family"], ranks)
        self.stream[rows], self.member[rows] = stream, member
        name = self.functions[symbol["function"]].removesuffix("_c")
        peer = symbol["peer"] if info.rooted else NO_PEER
        if is_pairwise(name) or not operation.vectors.size:
            self.fits.setdefault((name, peer, b""), []).append(rows)
            return
        for place, row in enumerate(rows.tolist()):
            key = name, peer, operation.vectors[place].tobytes()
            self.fits.setdefault(key, []).append(np.array([row]))

    def script(
        self, first: _Integers, row: NDArray[np.int32], request_first: _Integers
    ) -> Script:
        """Return what was added; what participants share is numbered as it appears."""
        alike = [np.concatenate(rows) for rows in self.fits.values()]
        for number, rows in enumerate(sorted(alike, key=np.min)):
            self.fit[rows] = number
        partner_first, send, receive, channels = self.channels.numbered()
        size_first, size_bytes = self.sizes.arrays()
        age_first, ages = self.ages.arrays()
        return Script(
            first=first,
            row=row,
            kind=self.kind,
            mode=self.mode,
            partner_first=partner_first,
            send_channel=send,
            receive_channel=receive,
            size_first=size_first,
            size_bytes=size_bytes,
            occurrences=self.occurrences,
            capacity_bytes=self.capacity,
            age_first=age_first,
            ages=ages,
            stream=self.stream,
            member=self.member,
            fit=self.fit,
            streams=self.places.streams,
            request_first=request_first,
            channels=channels,
        )
