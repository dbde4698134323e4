"""Collectives of some ranks as messages, for a replay that knows only all ranks.

SMPI replays every collective on MPI_COMM_WORLD. One on a smaller communicator is
written as the messages of a usual algorithm, with the same waiting and the same bytes:
dissemination, a binomial tree, one message for each rank at the root, or pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from skelgen.export.types import Sides


class SpreadMessage(NamedTuple):
    """A message in a collective.

    Attributes
    ----------
    to, source : int
        Ranks of the communicator; -1: nothing is sent, or received.
    sent, received : int
        Bytes [bytes].
    """

    to: int
    source: int
    sent: int
    received: int


class Participants(NamedTuple):
    """Who takes part.

    Attributes
    ----------
    size, rank : int
        Of the communicator, and the caller's rank in it.
    root : int
        Its rank; -1: none.
    size_bytes : int
        As in `Event` [bytes].
    sides : Sides or None
    """

    size: int
    rank: int
    root: int
    size_bytes: int
    sides: Sides | None


def _dissemination(group: Participants) -> Iterator[SpreadMessage]:
    """Let every rank hear of every other in log2 rounds."""
    distance = 1
    while distance < group.size:
        to = (group.rank + distance) % group.size
        source = (group.rank - distance) % group.size
        yield SpreadMessage(to, source, group.size_bytes, group.size_bytes)
        distance *= 2


def _gather_all(group: Participants) -> Iterator[SpreadMessage]:
    """Do the same with what was heard so far, so the messages grow."""
    each = group.size_bytes
    if group.sides is not None and group.sides[1] is not None:
        each = int(group.sides[1].sum()) // group.size
    distance = 1
    while distance < group.size:
        to = (group.rank + distance) % group.size
        source = (group.rank - distance) % group.size
        size = each * min(distance, group.size - distance)
        yield SpreadMessage(to, source, size, size)
        distance *= 2


def _down(group: Participants) -> Iterator[SpreadMessage]:
    """Hand something down a binomial tree."""
    place = (group.rank - group.root) % group.size
    bit = 1
    while bit < group.size and not place & bit:
        bit *= 2
    if place:
        source = (place - bit + group.root) % group.size
        yield SpreadMessage(-1, source, 0, group.size_bytes)
    while bit > 1:
        bit //= 2
        if place + bit < group.size:
            to = (place + bit + group.root) % group.size
            yield SpreadMessage(to, -1, group.size_bytes, 0)


def _up(group: Participants) -> Iterator[SpreadMessage]:
    """Collect something up a binomial tree: the way down backwards."""
    for step in reversed(list(_down(group))):
        yield SpreadMessage(step.source, step.to, step.received, step.sent)


def _to_root(group: Participants) -> Iterator[SpreadMessage]:
    """Let each rank send its own part to the root."""
    if group.rank != group.root:
        yield SpreadMessage(group.root, -1, group.size_bytes, 0)
        return
    parts = group.sides[1] if group.sides is not None else None
    for source in range(group.size):
        if source != group.rank:
            size = group.size_bytes if parts is None else int(parts[source])
            yield SpreadMessage(-1, source, 0, size)


def _from_root(group: Participants) -> Iterator[SpreadMessage]:
    """Let the root send each rank its part."""
    if group.rank != group.root:
        yield SpreadMessage(-1, group.root, 0, group.size_bytes)
        return
    parts = group.sides[0] if group.sides is not None else None
    for to in range(group.size):
        if to != group.rank:
            size = group.size_bytes if parts is None else int(parts[to])
            yield SpreadMessage(to, -1, size, 0)


def _pairs(group: Participants) -> Iterator[SpreadMessage]:
    """Let each rank exchange with each other."""
    sends, receives = group.sides if group.sides is not None else (None, None)
    for distance in range(1, group.size):
        to = (group.rank + distance) % group.size
        source = (group.rank - distance) % group.size
        sent = group.size_bytes if sends is None else int(sends[to])
        received = group.size_bytes if receives is None else int(receives[source])
        yield SpreadMessage(to, source, sent, received)


_SPREADS: dict[str, Callable[[Participants], Iterator[SpreadMessage]]] = {
    "barrier": _dissemination,
    "win_fence": _dissemination,
    "allreduce": _dissemination,
    "reduce_scatter": _dissemination,
    "reduce_scatter_block": _dissemination,
    "scan": _dissemination,
    "exscan": _dissemination,
    "allgather": _gather_all,
    "allgatherv": _gather_all,
    "bcast": _down,
    "reduce": _up,
    "gather": _to_root,
    "gatherv": _to_root,
    "scatter": _from_root,
    "scatterv": _from_root,
    "alltoall": _pairs,
    "alltoallv": _pairs,
    "alltoallw": _pairs,
}


def among_neighbours(
    group: Participants, to: tuple[int, ...], sources: tuple[int, ...]
) -> tuple[list[SpreadMessage], list[SpreadMessage]]:
    """Return the messages of a neighbourhood collective: sends, and receives.

    Parameters
    ----------
    group : Participants
    to, sources : tuple of int
        Whom the caller sends to and receives from, as ranks of the communicator.
    """
    sends, receives = group.sides if group.sides is not None else (None, None)
    size = group.size_bytes
    return (
        [
            SpreadMessage(rank, -1, size if sends is None else int(sends[i]), 0)
            for i, rank in enumerate(to)
        ],
        [
            SpreadMessage(-1, rank, 0, size if receives is None else int(receives[i]))
            for i, rank in enumerate(sources)
        ],
    )


def spread(name: str, group: Participants) -> Iterator[SpreadMessage]:
    """Return the caller's messages of a collective, in order.

    Parameters
    ----------
    name : str
        Of the blocking form, in lower case.
    group : Participants
    """
    return _SPREADS[name](group)


def known(name: str) -> bool:
    """Say whether a collective can be written as messages."""
    return name in _SPREADS
