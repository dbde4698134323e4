"""Join programs that differ only in numbers, so that they become one function.

Ranks that do the same with other neighbours, sizes or times share a routine: what
differs between its ranks becomes a table with a row for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events.functions import FunctionInfo, Kind, function_info
from skelgen.events.types import IN_PLACE, NO_PEER, PROC_NULL
from skelgen.loops import Nest
from skelgen.skeleton.render_alignment import aligned
from skelgen.skeleton.render_requests import Lifetimes, Role, lifetimes
from skelgen.skeleton.types import Operation, Plan, Program
from skelgen.symbols import VARYING

_PEERS = {
    Kind.SEND,
    Kind.RECEIVE,
    Kind.SENDRECV,
    Kind.ISEND,
    Kind.IRECEIVE,
    Kind.SEND_INIT,
    Kind.RECEIVE_INIT,
    Kind.PROBE,
}
_SUPPORTED = {*_PEERS, Kind.START, Kind.COMPLETE, Kind.RELEASE} | {
    Kind.COLLECTIVE,
    Kind.ICOLLECTIVE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One MPI call of a routine, with the values of each of its ranks.

    Attributes
    ----------
    function : str
        Such as ``MPI_Isend``.
    info : FunctionInfo
    family : int
    datatype_bytes, op, tag, tag2, root : int
        As in the symbol; `root` is NO_PEER for all but rooted collectives.
    site : int
        Call site of the first program's symbol.
    ages : tuple of int
    occurrences : int
        The most of all ranks.
    in_place : tuple of bool
        Of each rank.
    peer, peer2 : (ranks, s) int arrays
        Relative partners, or PROC_NULL; no column without a partner.
    compute_us : (ranks, s) float64 array
        Computation before the call [us].
    call_us : float
        Time inside the call in the application, mean of its occurrences [us].
    size_bytes : (ranks, s) int64 array
    capacity_bytes : int
        Largest message that it receives on any rank [bytes].
    to, of : (ranks, p) int64 arrays
        Bytes to and from each rank of the communicator; no column for none.
    """

    function: str
    info: FunctionInfo
    family: int
    datatype_bytes: int
    op: int
    tag: int
    tag2: int
    root: int
    site: int
    ages: tuple[int, ...]
    occurrences: int
    in_place: tuple[bool, ...]
    peer: NDArray[np.int64]
    peer2: NDArray[np.int64]
    compute_us: NDArray[np.float64]
    call_us: float
    size_bytes: NDArray[np.int64]
    capacity_bytes: int
    to: NDArray[np.int64]
    of: NDArray[np.int64]

    @property
    def kind(self) -> Kind:
        """Return how the call takes part in communication."""
        return self.info.kind

    @property
    def time_us(self) -> float:
        """Return the time of all occurrences on a rank, about [us]."""
        return self.occurrences * (float(self.compute_us.mean()) + self.call_us)

    @property
    def sends(self) -> bool:
        """Return whether it sends a message to one partner."""
        return self.kind in (Kind.SEND, Kind.ISEND, Kind.SEND_INIT, Kind.SENDRECV)

    @property
    def receives(self) -> bool:
        """Return whether it receives a message from one partner."""
        kinds = (Kind.RECEIVE, Kind.IRECEIVE, Kind.RECEIVE_INIT, Kind.SENDRECV)
        return self.kind in kinds


@dataclass(frozen=True, slots=True, eq=False)
class Routine:
    """What some ranks execute, and how they differ.

    Attributes
    ----------
    ranks : tuple of int
        World ranks in the order of the rows of all tables.
    nests : tuple of Nest
        Over indices into `steps`; they differ only in constant trip counts.
    rows : tuple of int
        Row of each rank's nest.
    steps : tuple of Step
    tail_us : (ranks,) float64 array
        Computation after the last call [us].
    time_us : float
        Time of a rank in the application that the routine stands for, about [us].
    lifetimes : Lifetimes
    """

    ranks: tuple[int, ...]
    nests: tuple[Nest, ...]
    rows: tuple[int, ...]
    steps: tuple[Step, ...]
    tail_us: NDArray[np.float64]
    time_us: float
    lifetimes: Lifetimes


def routines(plan: Plan) -> tuple[Routine, ...]:
    """Join the programs of a plan where their text can be the same.

    Raises
    ------
    InputError
        When a program holds a call that skeletons do not reproduce.
    """
    alike: dict[object, list[Program]] = {}
    for program in aligned(plan):
        ordered = _in_order(program)
        alike.setdefault(_shape(plan, ordered), []).append(ordered)
    joined = [
        _join(plan, programs) for found in alike.values() for programs in _even(found)
    ]
    return tuple(sorted(joined, key=lambda routine: routine.ranks[0]))


def _even(programs: list[Program]) -> list[list[Program]]:
    """Keep programs apart where a series would be spread over unequal numbers."""
    operations = [op for program in programs for op in program.operations]
    if all(
        op.compute_ns.values.shape[1] == op.size_bytes.values.shape[1] == 1
        for op in operations
    ):
        return [programs]
    even: dict[tuple[int, ...], list[Program]] = {}
    for program in programs:
        often = tuple(op.occurrences for op in program.operations)
        even.setdefault(often, []).append(program)
    return list(even.values())


def _in_order(program: Program) -> Program:
    """Renumber operations by their first place in the nest; drop unused ones."""
    nest = program.nest
    order = list(dict.fromkeys(int(s) for s in nest.symbol if s >= 0))
    new = np.full(max(order, default=-1) + 2, -1, np.int32)
    new[order] = np.arange(len(order))
    renumbered = Nest(nest.body_items, new[nest.symbol], nest.trips_first, nest.trips)
    operations = tuple(program.operations[old] for old in order)
    return Program(program.ranks, renumbered, operations, program.tail_ns)


def _shape(plan: Plan, program: Program) -> object:
    """Return what programs must have in common to share a text."""
    nest = program.nest
    trips = tuple(
        None if len(rows) == 1 else rows.tobytes()
        for rows in np.split(nest.trips, nest.trips_first[1:-1])
    )
    operations = tuple(_operation_shape(plan, op) for op in program.operations)
    return (nest.body_items.tobytes(), nest.symbol.tobytes(), trips, operations)


def _operation_shape(plan: Plan, operation: Operation) -> object:
    symbol = plan.symbols[operation.symbol]
    info = _info(plan, operation)
    common = ("function", "family", "datatype_bytes", "op", "tag", "tag2")
    varying = int(symbol["peer"]) == VARYING
    return (
        tuple(int(symbol[name]) for name in common),
        int(symbol["peer"]) if info.rooted else varying,
        int(symbol["peer2"]) == NO_PEER,
        operation.ages,
        operation.vectors.shape[1:],
        operation.occurrences if varying else 0,
    )


def _info(plan: Plan, operation: Operation) -> FunctionInfo:
    name = plan.functions[plan.symbols[operation.symbol]["function"]]
    info = function_info(name)
    if info.kind not in _SUPPORTED:
        raise InputError(
            f"the plan holds {name}, which a skeleton cannot repeat; "
            "leave it out of the signature"
        )
    return info


def _join(plan: Plan, programs: Sequence[Program]) -> Routine:
    owners = [(rank, p) for p, program in enumerate(programs) for rank in program.ranks]
    order = sorted(range(len(owners)), key=lambda row: owners[row][0])
    steps = tuple(
        _step(plan, [program.operations[i] for program in programs], order)
        for i in range(len(programs[0].operations))
    )
    tail_us = np.concatenate([program.tail_ns for program in programs])[order] / 1e3
    lives = Lifetimes()
    roles = [_role(step) for step in steps]
    for program in programs:
        lives.join(lifetimes(program.nest, roles))
    return Routine(
        tuple(owners[row][0] for row in order),
        tuple(program.nest for program in programs),
        tuple(owners[row][1] for row in order),
        steps,
        tail_us,
        sum(step.time_us for step in steps) + float(tail_us.mean()),
        lives,
    )


def _role(step: Step) -> Role:
    return Role(step.kind, step.info.creates, step.ages, step.receives)


def _step(plan: Plan, operations: Sequence[Operation], order: Sequence[int]) -> Step:
    """Join the operations at one place of several programs."""
    first = operations[0]
    symbol = plan.symbols[first.symbol]
    info = _info(plan, first)
    ranks = [len(op.compute_ns.values) for op in operations]
    symbols = [plan.symbols[op.symbol] for op in operations]

    def rows(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        if arrays[0].ndim == 2:
            columns = math.lcm(*(array.shape[1] for array in arrays))
            # Repeated columns hand out the same values as before.
            arrays = [np.repeat(a, columns // a.shape[1], axis=1) for a in arrays]
        return np.concatenate(arrays, axis=0)[list(order)]

    def whole(arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
        return np.rint(np.nan_to_num(rows(arrays))).astype(np.int64)

    flags = np.repeat([bool(s["flags"] & IN_PLACE) for s in symbols], ranks)
    return Step(
        function=plan.functions[symbol["function"]].removesuffix("_c"),
        info=info,
        family=int(symbol["family"]),
        datatype_bytes=max(1, int(symbol["datatype_bytes"])),
        op=int(symbol["op"]),
        tag=int(symbol["tag"]),
        tag2=int(symbol["tag2"]),
        root=int(symbol["peer"]) if info.rooted else NO_PEER,
        site=int(symbol["site"]),
        ages=first.ages,
        occurrences=max(op.occurrences for op in operations),
        in_place=tuple(bool(flag) for flag in flags[list(order)]),
        peer=whole([_peers(op, plan) for op in operations])
        if info.kind in _PEERS
        else np.zeros((len(order), 0), np.int64),
        peer2=whole([_constant(op, plan, "peer2") for op in operations])
        if info.kind is Kind.SENDRECV
        else np.zeros((len(order), 0), np.int64),
        compute_us=rows([op.compute_ns.values / 1e3 for op in operations]),
        call_us=float(np.mean([_call_us(plan, op) for op in operations])),
        size_bytes=whole([op.size_bytes.values for op in operations]),
        capacity_bytes=max(int(op.receive_bytes.max()) for op in operations),
        to=_vectors(rows([op.vectors for op in operations]), 0),
        of=_vectors(rows([op.vectors for op in operations]), 1),
    )


def _call_us(plan: Plan, operation: Operation) -> float:
    if operation.group < 0:  # the application has no such call
        return 0.0
    group = plan.signature.groups[operation.group]
    count = max(1, int(group.count[operation.leaf]))
    return float(group.mpi_ns[operation.leaf].mean()) / count / 1e3


def _peers(operation: Operation, plan: Plan) -> NDArray[np.float64]:
    if int(plan.symbols[operation.symbol]["peer"]) == VARYING:
        ranks = len(operation.compute_ns.values)
        return np.tile(operation.peers.astype(np.float64), (ranks, 1))
    return _constant(operation, plan, "peer")


def _constant(operation: Operation, plan: Plan, column: str) -> NDArray[np.float64]:
    value = int(plan.symbols[operation.symbol][column])
    ranks = len(operation.compute_ns.values)
    return np.full((ranks, 1), PROC_NULL if value == NO_PEER else value, np.float64)


def _vectors(vectors: NDArray[np.float64], side: int) -> NDArray[np.int64]:
    """Return bytes by partner; no column when the function has none on that side."""
    values = vectors[:, side]
    if np.isnan(values).all():
        values = values[:, :0]
    return np.rint(np.nan_to_num(values)).astype(np.int64)
