"""Call shapes as seen by each rank: few rows that stand for millions of calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.functions import RECEIVING, SENDING
from skelgen.events.parts import blocks_of, ranks_in
from skelgen.events.types import NO_PEER, NO_TAG
from skelgen.keys import rows_by
from skelgen.symbols.key_numbers import factorise_parts

#: Functions whose effect is that of another one.
_STANDS_FOR = {
    "MPI_Test": "MPI_Wait",
    "MPI_Testany": "MPI_Wait",
    "MPI_Testall": "MPI_Waitall",
    "MPI_Testsome": "MPI_Waitall",
    "MPI_Mrecv": "MPI_Recv",
    "MPI_Imrecv": "MPI_Irecv",
    "MPI_Win_test": "MPI_Win_wait",
}
#: Kinds whose peers are partners, not roots.
PARTNER_KINDS = tuple(dict.fromkeys((*SENDING, *RECEIVING, CallKind.RMA)))
#: Kinds that are about requests and nothing else.
ON_REQUESTS = (CallKind.START, CallKind.COMPLETE, CallKind.RELEASE)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The distinct combinations of rank and call shape.

    Attributes
    ----------
    of_call : (n,) int32 array
        Pair of each call.
    first_call : (p,) int64 array
        First call of each pair.
    rank : (p,) int64 array
        World rank.
    shape : (p,) SHAPE_DTYPE array
    kind : (p,) uint8 array
        `CallKind` of the function.
    function : (p,) int64 array
        Index into `functions` of the function that stands for the pair's.
    creates : (p,) bool array
        Whether a call creates a request.
    family, size : (p,) int64 arrays
        Of the communicator; -1 and 0 when the call has none.
        An intercommunicator's size is that of both groups: its messages are those of a
        communicator of all of them.
    remote : (p,) bool array
        Whether it is an intercommunicator.
    spawned : (p,) bool array
        Whether some of its processes are no ranks of the run.
    peer, peer2 : (p,) int64 arrays
        Relative partners, or roots as they are.
    functions : tuple of str
    """

    of_call: NDArray[np.int32]
    first_call: NDArray[np.int64]
    rank: NDArray[np.int64]
    shape: NDArray[np.void]
    kind: NDArray[np.uint8]
    function: NDArray[np.int64]
    creates: NDArray[np.bool_]
    family: NDArray[np.int64]
    size: NDArray[np.int64]
    remote: NDArray[np.bool_]
    spawned: NDArray[np.bool_]
    peer: NDArray[np.int64]
    peer2: NDArray[np.int64]
    functions: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rank)

    def is_kind(self, *kinds: CallKind) -> NDArray[np.bool_]:
        """Return for each pair whether it is of one of these kinds."""
        wanted = np.zeros(256, bool)
        wanted[list(kinds)] = True
        chosen: NDArray[np.bool_] = wanted[self.kind]
        return chosen

    def having(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each pair whether any of its calls is among the chosen."""
        found = chosen[self.first_call]
        others = chosen & ~found[self.of_call]
        found[self.of_call[np.flatnonzero(others)]] = True
        return found


def stands_for(function: str) -> str:
    """Return the name of the function that has the effect of this one.

    Examples
    --------
    >>> stands_for("MPI_Testall"), stands_for("MPI_Isend_c")
    ('MPI_Waitall', 'MPI_Isend')
    """
    plain = function.removesuffix("_c")
    return _STANDS_FOR.get(plain, plain)


def distinct_pairs(calls: Calls) -> Pairs:
    """Find the distinct combinations of rank and call shape.

    Parameters
    ----------
    calls : Calls

    Returns
    -------
    Pairs
    """
    of_call, first_call = factorise_parts(blocks_of(calls.first), _keys(calls))
    shape = calls.shapes[calls.shape[first_call]]
    rank_of = np.searchsorted(calls.first, first_call, side="right") - 1
    infos = [function_info(name) for name in calls.functions]
    kind = np.array([info.kind for info in infos], np.uint8)[shape["function"]]
    creates = np.array([info.creates for info in infos], bool)[shape["function"]]
    functions, function = _canonical(calls.functions)
    places = _places(calls, rank_of, shape["communicator"])
    family, size = places["family"], places["size"]
    point = np.isin(kind, PARTNER_KINDS)
    peers = [
        np.where(
            point & (shape[end] >= 0) & (size > 0),
            (shape[end] + places["shift"]) % np.maximum(size, 1),
            shape[end],
        )
        for end in ("peer", "peer2")
    ]
    return Pairs(
        of_call=of_call,
        first_call=first_call,
        rank=rank_of.astype(np.int64),
        shape=_without_what_requests_ignore(shape, np.isin(kind, ON_REQUESTS)),
        kind=kind,
        function=function[shape["function"]],
        creates=creates,
        family=family,
        size=size,
        remote=places["remote"],
        spawned=places["spawned"],
        peer=peers[0],
        peer2=peers[1],
        functions=functions,
    )


def _keys(calls: Calls) -> Callable[[slice], NDArray[np.int64]]:
    """Return a function for the keys of pairs in a block of calls."""

    def keys(block: slice) -> NDArray[np.int64]:
        key = ranks_in(calls.first, block)
        key *= len(calls.shapes)
        key += calls.shape[block]
        return key

    return keys


def _canonical(functions: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    names = list(functions)
    number = np.empty(len(functions), np.int64)
    for i, name in enumerate(functions):
        canonical = stands_for(name)
        if canonical not in names:
            names.append(canonical)
        number[i] = names.index(canonical)
    return tuple(names), number


def _without_what_requests_ignore(
    shape: NDArray[np.void], on_requests: NDArray[np.bool_]
) -> NDArray[np.void]:
    shape = shape.copy()
    for column, nothing in (
        ("flags", 0), ("communicator", -1), ("peer", NO_PEER), ("peer2", NO_PEER),
        ("tag", NO_TAG), ("tag2", NO_TAG), ("datatype_bytes", 0), ("piece_bytes", 0),
        ("op", 0),
    ):  # fmt: skip
        shape[column][on_requests] = nothing
    return shape


#: Of each pair: family, size, what makes a partner relative, and the two flags.
_PLACES = np.dtype(
    [
        ("family", np.int64),
        ("size", np.int64),
        ("shift", np.int64),
        ("remote", np.bool_),
        ("spawned", np.bool_),
    ]
)


def _places(
    calls: Calls, rank: NDArray[np.int64], communicator: NDArray[np.int32]
) -> NDArray[np.void]:
    """Say for each pair what its communicator is and where its rank stands there."""
    places = np.zeros(len(rank), _PLACES)
    places["family"] = -1
    for rows in rows_by(communicator):
        number = int(communicator[rows[0]])
        if number < 0:
            continue
        known = calls.communicators[number]
        members = np.array(known.everyone, np.int64)
        by_rank = np.argsort(members)
        place = np.searchsorted(members[by_rank], rank[rows])
        own = by_rank[np.minimum(place, len(members) - 1)]
        places["shift"][rows] = known.first_partner - own
        places["family"][rows], places["size"][rows] = known.family, len(members)
        places["remote"][rows] = bool(known.remote)
        places["spawned"][rows] = members.min() < 0
    return places
