"""One call of a routine with what it is on each of its ranks."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    TWO_SIDED,
    WITH_PARTNERS,
    CallKind,
    FunctionInfo,
    function_info,
)
from skelgen.events.types import HOLES, IN_PLACE, NO_PEER, PROC_NULL
from skelgen.skeleton.share.even_sizes import even
from skelgen.skeleton.types import Operation, Plan, Serving, Turn
from skelgen.symbols.types import VARYING

_PEERS = {*SENDING, *RECEIVING, CallKind.PROBE, CallKind.RMA}
_SUPPORTED = {*_PEERS, *COLLECTIVES, *WITH_PARTNERS} | {
    CallKind.START,
    CallKind.COMPLETE,
    CallKind.RELEASE,
}


@dataclass(frozen=True, slots=True, eq=False)
class CallStep:
    """One MPI call of a routine, with the values of each of its ranks.

    Attributes
    ----------
    function : str
        Such as ``MPI_Isend``.
    info : FunctionInfo
    family : int
    datatype_bytes, piece_bytes, op, tag, tag2, root : int
        As in the symbol; `root` is NO_PEER for all but rooted collectives.
    site : int
        Call site of the first program's symbol.
    ages : tuple of int
    occurrences : int
        The most of all ranks.
    partners : tuple of int
        Relative partners of Win_post and its like.
    serving : Serving or None
    turn : Turn
        As in the operation.
    variants : tuple of CallStep
        The calls at all places of a text that stands at several; empty for others.
    in_place : tuple of bool
        Of each rank.
    holes : bool
        Whether the message has holes in memory, on any rank.
    present : tuple of bool
        Whether each rank executes it.
    peer, peer2 : (ranks, s) int arrays
        Relative partners, or PROC_NULL; no column without a partner.
    compute_us : (ranks, s) float64 array
        Computation before the call [us].
    idle_us : (ranks, 1) float64 array
        Sleep before the call [us].
    call_us : float
        Time inside the call in the application, mean of its occurrences [us].
    size_bytes : (ranks, s) int64 array
    capacity_bytes : int
        Largest message that it receives on any rank [bytes].
    to, of : (ranks, p) int64 arrays
        Bytes to and from each rank of the communicator, or each neighbour; no column
        for none.
    nap_us : (ranks, 1) float64 array
        Sleep between two polls for what it waits for [us]; -1 for ranks that wait
        inside MPI.
    """

    function: str
    info: FunctionInfo
    family: int
    datatype_bytes: int
    piece_bytes: int
    op: int
    tag: int
    tag2: int
    root: int
    site: int
    ages: tuple[int, ...]
    occurrences: int
    in_place: tuple[bool, ...]
    holes: bool
    present: tuple[bool, ...]
    peer: NDArray[np.int64]
    peer2: NDArray[np.int64]
    compute_us: NDArray[np.float64]
    idle_us: NDArray[np.float64]
    call_us: float
    size_bytes: NDArray[np.int64]
    capacity_bytes: int
    to: NDArray[np.int64]
    of: NDArray[np.int64]
    nap_us: NDArray[np.float64]
    variants: tuple[CallStep, ...] = ()
    partners: tuple[int, ...] = ()
    serving: Serving | None = None
    turn: Turn = Turn.NONE

    @property
    def everywhere(self) -> tuple[CallStep, ...]:
        """Return the call at each place of its text."""
        return self.variants or (self,)

    def plain(self, least_us: float) -> CallStep:
        """Return the call with one duration of computation, if it takes little.

        Parameters
        ----------
        least_us : float
            Time of all occurrences from which on differences matter [us].
        """
        mean_us = float(self.compute_us.mean())
        if mean_us * self.occurrences >= least_us:
            return self
        return replace(self, compute_us=np.full((len(self.in_place), 1), mean_us))

    @property
    def counts(self) -> bool:
        """Return whether anything about it changes from occurrence to occurrence."""
        columns = (self.peer, self.compute_us, self.size_bytes)
        return any(array.shape[1] > 1 for array in columns)

    @property
    def polls(self) -> bool:
        """Return whether any rank polls for what it waits for."""
        return bool((self.nap_us >= 0).any())

    @property
    def text_key(self) -> Hashable:
        """Return what calls must have in common to share a text."""
        if self.peer.shape[1] > 1:
            return id(self)  # what changes in turn belongs to one call
        return (
            self.function,
            self.site,
            self.family,
            self.datatype_bytes,
            self.piece_bytes,
            self.op,
            self.tag,
            self.tag2,
            self.root,
            self.ages,
            self.partners,
            self.in_place,
            self.holes,
            self.present,
            id(self.serving),
            self.turn,
            self.polls,
            self.to.tobytes(),
            self.of.tobytes(),
        )

    @property
    def kind(self) -> CallKind:
        """Return how the call takes part in communication."""
        return self.info.kind

    @property
    def time_us(self) -> float:
        """Return the time of all occurrences on a rank, about [us]."""
        before_us = float(self.compute_us.mean()) + float(self.idle_us.mean())
        return self.occurrences * (before_us + self.call_us)

    @property
    def block_bytes(self) -> int:
        """Return the size of the pieces of its message in memory [bytes].

        All participants of a collective must mean the same bytes, whatever their types,
        and both ends of a message must. So no message has a part of a piece.
        """
        if not self.holes:
            return 1
        unit = math.gcd(8, self.datatype_bytes)
        common = 0
        for at in self.everywhere:
            for sizes in (at.size_bytes, at.to, at.of, [at.capacity_bytes]):
                common = math.gcd(common, int(np.gcd.reduce(sizes, axis=None)))
        if self.piece_bytes and common:
            return math.gcd(self.piece_bytes, common)
        return math.gcd(unit, common) if self.kind in COLLECTIVES else unit

    @property
    def typed(self) -> bool:
        """Return whether it takes a type for each rank or neighbour."""
        return self.info.collective in ("Alltoallw", "Neighbor_alltoallw")

    @property
    def on_window(self) -> bool:
        """Return whether it is a call on a window."""
        one_sided = self.kind is CallKind.RMA or self.kind in WITH_PARTNERS
        return one_sided or self.info.collective == "Win_fence"

    @property
    def sends(self) -> bool:
        """Return whether it sends a message to one partner."""
        return self.kind in SENDING

    @property
    def receives(self) -> bool:
        """Return whether it receives a message from one partner."""
        return self.kind in RECEIVING


def info_of(plan: Plan, operation: Operation) -> FunctionInfo:
    """Return what the call of an operation does.

    Raises
    ------
    InputError
        When skeletons do not repeat it.
    """
    name = plan.functions[plan.symbols[operation.symbol]["function"]]
    info = function_info(name)
    if info.kind not in _SUPPORTED:
        raise InputError(
            f"the plan holds {name}, which a skeleton cannot repeat; "
            "leave it out of the signature"
        )
    return info


def join_step(
    plan: Plan,
    operations: Sequence[Operation],
    order: Sequence[int],
    present: Sequence[bool],
) -> CallStep:
    """Join the operations at one place of several programs.

    Parameters
    ----------
    plan : Plan
    operations : sequence of Operation
        One of each program.
    order : sequence of int
        Rows of all programs in the order of their ranks.
    present : sequence of bool
        Whether the program executes it.
    """
    first = operations[0]
    symbol = plan.symbols[first.symbol]
    info = info_of(plan, first)
    rows = _Rows(operations, order)
    flags = [int(plan.symbols[op.symbol]["flags"]) for op in operations]
    unit = max(1, int(symbol["datatype_bytes"]))
    with_peer, both = info.kind in _PEERS, info.kind in TWO_SIDED
    sizes = rows.of([op.size_bytes.values for op in operations])
    vectors = rows.of([op.vectors for op in operations])
    to, of = _vectors(vectors, 0), _vectors(vectors, 1)
    return CallStep(
        function=plan.functions[symbol["function"]].removesuffix("_c"),
        info=info,
        family=int(symbol["family"]),
        datatype_bytes=unit,
        piece_bytes=_piece_bytes(plan, operations),
        op=int(symbol["op"]),
        tag=int(symbol["tag"]),
        tag2=int(symbol["tag2"]),
        root=int(symbol["peer"]) if info.rooted else NO_PEER,
        site=int(symbol["site"]),
        ages=first.ages,
        occurrences=max(op.occurrences for op in operations),
        in_place=rows.each([bool(one & IN_PLACE) for one in flags]),
        holes=any(one & HOLES for one in flags),
        present=rows.each(present),
        peer=rows.whole([_peers(op, plan) for op in operations if with_peer]),
        peer2=rows.whole([_constant(op, plan, "peer2") for op in operations if both]),
        compute_us=rows.of([op.compute_ns.values / 1e3 for op in operations]),
        idle_us=rows.of([op.idle_ns.values / 1e3 for op in operations]),
        call_us=float(np.mean([_call_us(plan, op) for op in operations])),
        size_bytes=_sizes(sizes, info, unit),
        capacity_bytes=max(int(op.receive_bytes.max()) for op in operations),
        to=to,
        of=of,
        nap_us=_nap_us(operations, rows),
        partners=first.partners,
        serving=first.serving,
        turn=first.turn,
    )


def _piece_bytes(plan: Plan, operations: Sequence[Operation]) -> int:
    """Return the smallest pieces of a message on any rank; 0 where none are known."""
    rows = [plan.symbols[one.symbol] for one in operations]
    return min(
        (int(row["piece_bytes"]) for row in rows if int(row["flags"]) & HOLES),
        default=0,
    )


def _nap_us(operations: Sequence[Operation], rows: _Rows) -> NDArray[np.float64]:
    """Give all ranks that poll the mean sleep between two polls, -1 to others."""
    naps_ns = [op.nap_ns for op in operations]
    known = [one for one in naps_ns if one is not None]
    mean_us = float(np.mean(known)) / 1e3 if known else 0.0
    found = [-1.0 if one is None else mean_us for one in naps_ns]
    counts = [len(op.compute_ns.values) for op in operations]
    return rows.of([np.full((n, 1), u) for n, u in zip(counts, found, strict=True)])


class _Rows:
    """Puts what operations of several programs hold in the order of the ranks."""

    def __init__(self, operations: Sequence[Operation], order: Sequence[int]) -> None:
        self.ranks = [len(op.compute_ns.values) for op in operations]
        self.order = list(order)

    def of(self, arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Join arrays with a row for each rank of a program."""
        if arrays[0].ndim == 2:
            columns = math.lcm(*(array.shape[1] for array in arrays))
            # Repeated columns hand out the same values as before.
            arrays = [np.repeat(a, columns // a.shape[1], axis=1) for a in arrays]
        return np.concatenate(arrays, axis=0)[self.order]

    def whole(self, arrays: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
        """Join arrays and round their values; no column when there is no array."""
        if not arrays:
            return np.zeros((len(self.order), 0), np.int64)
        return np.rint(np.nan_to_num(self.of(arrays))).astype(np.int64)

    def each(self, of_program: Sequence[bool]) -> tuple[bool, ...]:
        """Give each rank what its program has."""
        return tuple(np.repeat(of_program, self.ranks)[self.order].tolist())


def _sizes(
    size_bytes: NDArray[np.float64], info: FunctionInfo, unit_bytes: int
) -> NDArray[np.int64]:
    """Return sizes in whole bytes: even ones of sends, the largest of receives."""
    if info.kind in SENDING:
        size_bytes = even(size_bytes, unit_bytes)
    elif info.kind in RECEIVING:
        size_bytes = np.full((len(size_bytes), 1), size_bytes.max())
    return np.rint(size_bytes).astype(np.int64)


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
