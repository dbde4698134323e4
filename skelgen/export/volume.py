"""How many bytes a rank sends and receives in a collective."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import ROOT, Communicator
from skelgen.export.types import ExportedCall, Sides

if TYPE_CHECKING:
    from skelgen.export.run import TraceStreams

#: Answers that are remembered.
_MOST_FACTORS = 1 << 16

#: From the size of a call, its ranks and whether this is the root: sent, received.
_RULES: dict[str, Callable[[int, int, bool], tuple[int, int]]] = {
    "barrier": lambda size, ranks, root: (0, 0),
    "bcast": lambda size, ranks, root: (size, 0) if root else (0, size),
    "reduce": lambda size, ranks, root: (size, size if root else 0),
    "allreduce": lambda size, ranks, root: (size, size),
    "scan": lambda size, ranks, root: (size, size),
    "exscan": lambda size, ranks, root: (size, size),
    "reduce_scatter_block": lambda size, ranks, root: (ranks * size, size),
    "gather": lambda size, ranks, root: (size, ranks * size if root else 0),
    "scatter": lambda size, ranks, root: (ranks * size if root else 0, size),
    "allgather": lambda size, ranks, root: (size, ranks * size),
    "alltoall": lambda size, ranks, root: (ranks * size, ranks * size),
    "win_fence": lambda size, ranks, root: (0, 0),
    "gatherv": lambda size, ranks, root: (size, 0),
    "scatterv": lambda size, ranks, root: (0, size),
}


def neighbours(one: Communicator, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return whom a world rank sends to and receives from in a neighbourhood.

    As ranks of the communicator; MPI_PROC_NULL is left out.
    """
    if rank not in one.members or not (one.sources or one.destinations):
        return (), ()
    own = one.members.index(rank)
    sides = (one.destinations[own], one.sources[own])
    to, sources = (tuple(other for other in side if other >= 0) for side in sides)
    return to, sources


class Volumes:
    """What the ranks of a run send and receive in its collectives.

    Parameters
    ----------
    run : TraceStreams
    """

    def __init__(self, run: TraceStreams) -> None:
        self._run = run
        calls = run.calls
        self._communicator = calls.column(lambda call: call.communicator)
        self._rooted = calls.column(lambda call: call.rooted).astype(bool)
        remote = [bool(one.remote) for one in run.communicators]
        self._remote = np.array([*remote, False], bool)
        self._factors: dict[tuple[int, int], tuple[int, ...]] = {}
        self._of_sides: dict[tuple[int, int, int], tuple[int, int]] = {}

    def roots(
        self, rank: int, call: NDArray[np.int32], peer: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Say whether a world rank is the root of rooted collectives.

        Parameters
        ----------
        rank : int
        call : int32 array
            Rows of `ExportedCalls`.
        peer : int32 array
            The root where the call has one.
        """
        communicator = self._communicator[call]
        partner = self._run.groups.partners(communicator, peer)
        own = (partner == rank) & ~self._remote[communicator]
        result: NDArray[np.bool_] = self._rooted[call] & (own | (peer == ROOT))
        return result

    def volumes(
        self,
        rank: int,
        call: NDArray[np.int32],
        peer: NDArray[np.int32],
        size_bytes: NDArray[np.int64],
        sides: NDArray[np.int32],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bytes sent and received, a rank's own part included [bytes].

        Parameters
        ----------
        rank : int
            World rank of the caller.
        call, peer : int32 arrays
            As for `roots`.
        size_bytes : int64 array
            As in `skelgen.events.Calls` [bytes].
        sides : int32 array
            Rows of `SidesTable`, -1: none.
        """
        table = np.zeros((len(self._communicator), 4), np.int64)
        for one in np.flatnonzero(np.bincount(call)).tolist():
            table[one] = self._factors_of(rank, one)
        root = self.roots(rank, call, peer)
        sent = size_bytes * np.where(root, table[call, 0], table[call, 2])
        received = size_bytes * np.where(root, table[call, 1], table[call, 3])
        for at in np.flatnonzero(sides >= 0).tolist():
            if self._communicator[call[at]] >= 0:
                found = self._by_sides(rank, int(call[at]), int(sides[at]))
                sent[at], received[at] = (
                    size_bytes[at] if one < 0 else one for one in found
                )
        return sent, received

    def _factors_of(self, rank: int, number: int) -> tuple[int, ...]:
        """Return bytes for each byte: the root sends, receives, others do."""
        found = self._factors.get((number, rank))
        if found is None:
            if len(self._factors) >= _MOST_FACTORS:
                self._factors.clear()
            found = _factors(self._run.calls.table[number], self._run, rank)
            self._factors[number, rank] = found
        return found

    def _by_sides(self, rank: int, number: int, sides: int) -> tuple[int, int]:
        """Return bytes sent and received in a call with vectors; -1: its size."""
        key = (rank, number, sides)
        found = self._of_sides.get(key)
        if found is None:
            if len(self._of_sides) >= _MOST_FACTORS:
                self._of_sides.clear()
            call, vectors = self._run.calls.table[number], self._run.sides.table[sides]
            one = self._run.communicators[call.communicator]
            found = self._of_sides[key] = _totals(call, vectors, one, rank)
        return found


def _all_of_it(size: int, ranks: int, root: bool) -> tuple[int, int]:
    return size, size


def _factors(call: ExportedCall, run: TraceStreams, rank: int) -> tuple[int, ...]:
    if call.communicator < 0:
        return 0, 0, 0, 0
    one = run.communicators[call.communicator]
    if call.name.startswith("neighbor_"):
        to, sources = neighbours(one, rank)
        return (len(to), len(sources)) * 2
    rule = _RULES.get(call.name, _all_of_it)
    ranks = len(one.remote or one.members)
    return *rule(1, ranks, True), *rule(1, ranks, False)


def _totals(
    call: ExportedCall, vectors: Sides, one: Communicator, rank: int
) -> tuple[int, int]:
    sends, receives = vectors
    sent = -1 if sends is None else int(sends.sum())
    received = -1 if receives is None else int(receives.sum())
    if call.name == "reduce_scatter" and receives is not None:
        own = one.members.index(rank) if rank in one.members else 0
        return received, int(receives[own])
    return sent, received
