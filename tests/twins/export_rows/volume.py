"""How many bytes a rank sends and receives in a collective."""

from __future__ import annotations

from collections.abc import Callable

from skelgen.events.types import ROOT, Communicator
from tests.twins.export_rows.types import ExportedCall, Sides

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


def is_root(
    call: ExportedCall, communicators: tuple[Communicator, ...], rank: int
) -> bool:
    """Say whether a world rank is the root of a rooted collective."""
    if call.root == ROOT:
        return True
    if call.communicator < 0 or call.root < 0:
        return False
    one = communicators[call.communicator]
    group = one.remote or one.members
    return call.root < len(group) and group[call.root] == rank and not one.remote


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


def volume(
    call: ExportedCall,
    size_bytes: int,
    sides: Sides | None,
    communicators: tuple[Communicator, ...],
    rank: int,
) -> tuple[int, int]:
    """Return the bytes that a rank sends and receives, its own part included [bytes].

    Parameters
    ----------
    call : ExportedCall
    size_bytes : int
        As in `Event` [bytes].
    sides : Sides or None
    communicators : tuple of Communicator
    rank : int
        World rank of the caller.
    """
    if call.communicator < 0:
        return 0, 0
    one = communicators[call.communicator]
    ranks = len(one.remote or one.members)
    to, sources = neighbours(one, rank)
    if sides is not None:
        sends, receives = sides
        sent = size_bytes if sends is None else int(sends.sum())
        received = size_bytes if receives is None else int(receives.sum())
        if call.name == "reduce_scatter" and receives is not None:
            own = one.members.index(rank) if rank in one.members else 0
            return int(receives.sum()), int(receives[own])
        return sent, received
    if call.name.startswith("neighbor_"):
        return size_bytes * len(to), size_bytes * len(sources)
    rule = _RULES.get(call.name)
    root = is_root(call, communicators, rank)
    return (size_bytes, size_bytes) if rule is None else rule(size_bytes, ranks, root)
