"""Write messages of masters and workers as sends and receives that wait.

Turns are found among sends and receives. A nonblocking call whose completion is the
next call does what the blocking one does, and a Sendrecv with one partner is a send
with a receive behind it. Where all requests of a program are of that kind, and are
between a master and its workers, they are written so. The result is simulated: where it
stalls, or where much computation lies between such a call and its completion, all stays
as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.events.types import (
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from skelgen.loops import expand, fold
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.proof.script import script_of
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.communicator_places import places_in
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.visits import FarmPrograms
from skelgen.skeleton.thresholds import LARGEST_OVERLAPPED_SHARE
from skelgen.skeleton.types import OccurrenceSeries, Operation, Program
from skelgen.symbols.types import VARYING

_BLOCKING = {
    "MPI_Isend": "MPI_Send",
    "MPI_Irsend": "MPI_Send",
    "MPI_Issend": "MPI_Ssend",
    "MPI_Irecv": "MPI_Recv",
}
_WILDCARDS = WILDCARD_SOURCE | WILDCARD_TAG


def plain_programs(
    programs: Sequence[Program],
    symbols: PlanSymbols,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> FarmPrograms:
    """Return programs whose messages wait by themselves, where that changes nothing.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : PlanSymbols
    families : sequence of CommunicatorFamily
    ranks : collection of int
        Who serves others.

    Returns
    -------
    FarmPrograms
        With the same programs where nothing can be written so.
    """
    unchanged = FarmPrograms(tuple(programs), symbols)
    farm = _Farm(families, places_in(families), frozenset(ranks))
    for both in (True, False):
        current = unchanged
        for number in range(len(programs)):
            current = _rewritten(current, number, farm, both=both)
        if current is unchanged:
            return unchanged
        script = script_of(
            current.programs,
            current.symbols.functions,
            current.symbols.table,
            families,
        )
        if all(simulate(script, rendezvous=way).sound for way in (True, False)):
            return current
    return unchanged


@dataclass(frozen=True, slots=True)
class _Farm:
    """Who serves, and where ranks are in communicators."""

    families: Sequence[CommunicatorFamily]
    places: Sequence[Mapping[int, tuple[int, int]]]
    ranks: frozenset[int]

    def has(self, program: Program, operation: Operation, symbol: np.void) -> bool:
        """Say whether a call is always between a rank that serves and another."""
        peers = [int(symbol["peer"])]
        if peers == [VARYING]:
            peers = operation.peers.tolist()
        if int(symbol["family"]) < 0 or {PROC_NULL, NO_PEER} & {*peers}:
            return False
        places, family = self.places[symbol["family"]], self.families[symbol["family"]]
        for rank in program.ranks:
            number, own = places[rank]
            members = family.instances[number]
            partners = {members[(own + peer) % len(members)] for peer in peers}
            if rank not in self.ranks and not partners <= self.ranks:
                return False
        return True


def _rewritten(
    current: FarmPrograms, number: int, farm: _Farm, *, both: bool
) -> FarmPrograms:
    """Return the programs with one of them rewritten; with Sendrecv where `both`."""
    program, symbols = current.programs[number], current.symbols
    string = expand(program.nest)
    ends = _completions(program, symbols, string, farm)
    calls: list[list[Operation]] = []
    for at, operation in enumerate(program.operations):
        if at in ends.values():
            calls.append([])
        elif at in ends:
            name = _BLOCKING[symbols.name(operation.symbol).removesuffix("_c")]
            symbols, symbol = symbols.like(operation.symbol, function=name)
            last = program.operations[ends[at]]
            calls.append([replace(_with_gap(operation, last), symbol=symbol)])
        elif both and _exchanges(program, operation, symbols, farm):
            symbols, two = _send_and_receive(operation, symbols)
            calls.append(two)
        else:
            calls.append([operation])
    if all(len(one) == 1 for one in calls) and not ends:
        return current
    other = _program(program, string, calls)
    programs = (*current.programs[:number], other, *current.programs[number + 1 :])
    return FarmPrograms(programs, symbols)


def _completions(
    program: Program, symbols: PlanSymbols, string: NDArray[np.int32], farm: _Farm
) -> dict[int, int]:
    """Return the operations whose completion is always the next call, with it.

    Empty when the program has other requests: their ages count these, too.
    """
    creating = [
        at
        for at, one in enumerate(program.operations)
        if symbols.info(one.symbol).creates
    ]
    if not creating:
        return {}
    pairs = np.unique(np.stack([string[:-1], string[1:]]), axis=1).T.tolist()
    found: dict[int, int] = {}
    for at in creating:
        operation = program.operations[at]
        behind = [b for a, b in pairs if a == at]
        name = symbols.name(operation.symbol).removesuffix("_c")
        plain = name in _BLOCKING and len(behind) == 1 and string[-1] != at
        if not plain or not farm.has(
            program, operation, symbols.table[operation.symbol]
        ):
            return {}
        found[at] = behind[0]
    named = {at for at, one in enumerate(program.operations) if one.ages}
    good = named == {*found.values()} and len(named) == len(found)
    good = good and all(
        program.operations[last].ages == (1,)
        and program.operations[last].occurrences == program.operations[at].occurrences
        and symbols.kind(program.operations[last].symbol) is CallKind.COMPLETE
        for at, last in found.items()
    )
    return (
        found
        if good and _overlapped(program, found) <= LARGEST_OVERLAPPED_SHARE
        else {}
    )


def _overlapped(program: Program, ends: dict[int, int]) -> float:
    """Return the share of computation before completions, on the rank with most [1]."""
    sums = np.array(
        [
            series_sums(one.compute_ns.values, one.occurrences)
            for one in program.operations
        ]
    )
    gaps = sums[list(ends.values())].sum(axis=0)
    return float((gaps / np.maximum(sums.sum(axis=0), 1)).max())


def _with_gap(operation: Operation, last: Operation) -> Operation:
    """Return an operation with the computation before its completion in front."""
    often = operation.occurrences
    gap = series_sums(last.compute_ns.values, often)[:, np.newaxis] / often
    compute_ns = OccurrenceSeries(operation.compute_ns.values + gap)
    idle_ns = OccurrenceSeries(operation.idle_ns.values + last.idle_ns.values)
    return replace(operation, compute_ns=compute_ns, idle_ns=idle_ns)


def _exchanges(
    program: Program, operation: Operation, symbols: PlanSymbols, farm: _Farm
) -> bool:
    """Say whether a call sends to a rank that serves and receives from the same."""
    row = symbols.table[operation.symbol]
    if symbols.kind(operation.symbol) is not CallKind.SENDRECV:
        return False
    same = int(row["peer"]) == int(row["peer2"])
    return same and farm.has(program, operation, row)


def _send_and_receive(
    operation: Operation, symbols: PlanSymbols
) -> tuple[PlanSymbols, list[Operation]]:
    row = symbols.table[operation.symbol]
    flags, none = int(row["flags"]), {"peer2": NO_PEER, "tag2": NO_TAG}
    symbols, send = symbols.like(
        operation.symbol, function="MPI_Send", flags=flags & ~_WILDCARDS, **none
    )
    symbols, receive = symbols.like(
        operation.symbol, function="MPI_Recv", tag=int(row["tag2"]), **none
    )
    room = operation.receive_bytes
    size = float(room.max(initial=0))
    still = np.zeros((len(room), 1))
    return symbols, [
        replace(operation, symbol=send, receive_bytes=np.zeros_like(room)),
        replace(
            operation,
            symbol=receive,
            compute_ns=OccurrenceSeries(still),
            idle_ns=OccurrenceSeries(still),
            size_bytes=OccurrenceSeries(still + size),
        ),
    ]


def _program(
    program: Program, string: NDArray[np.int32], calls: Sequence[Sequence[Operation]]
) -> Program:
    """Return a program with other operations in place of each."""
    count = np.array([len(one) for one in calls])
    first = np.cumsum(count) - count
    length = count[string]
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    other = np.repeat(first[string], length) + within
    operations = tuple(one for some in calls for one in some)
    return replace(program, nest=fold(other.astype(np.int32)), operations=operations)
