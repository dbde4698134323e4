"""How many bytes calls send, and to whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import (
    COLLECTIVES,
    SENDING,
    CallKind,
    function_info,
)
from skelgen.events.shapes import plain_name
from skelgen.events.types import PROC_NULL, ROOT, Calls, Communicator

#: A matrix of more ranks is not made.
_MOST_RANKS = 4096
_EACH = {"alltoall", "reduce_scatter_block"}
_AT_ROOT = {"bcast", "scatter"}
_NOTHING = {"barrier", "scatterv"}


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """What the calls of a run send.

    Attributes
    ----------
    function_bytes : (functions,) float64 array
        Bytes sent by all ranks in calls of each function; what a rank sends itself
        counts [bytes].
    matrix : (ranks, ranks) float64 array
        Bytes in messages from each rank to each other; (0, 0) beyond `_MOST_RANKS`
        ranks [bytes].
    messages : (ranks, ranks) uint32 array
        Messages from each rank to each other, those without bytes too.
    """

    function_bytes: NDArray[np.float64]
    matrix: NDArray[np.float64]
    messages: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class TrafficSums:
    """What the calls of a run send, while ranks are added.

    Attributes
    ----------
    functions : tuple of str
    communicators : tuple of Communicator
    sent : Traffic
    """

    functions: tuple[str, ...]
    communicators: tuple[Communicator, ...]
    sent: Traffic

    @classmethod
    def of(cls, calls: Calls) -> TrafficSums:
        """Begin for a run with these ranks, functions and communicators."""
        size = calls.ranks if calls.ranks <= _MOST_RANKS else 0
        matrix, messages = np.zeros((size, size)), np.zeros((size, size), np.uint32)
        nothing = Traffic(np.zeros(len(calls.functions)), matrix, messages)
        return cls(calls.functions, calls.communicators, nothing)

    def add(
        self,
        rank: int,
        shapes: NDArray[np.void],
        count: NDArray[np.int64],
        size_bytes: NDArray[np.int64],
    ) -> None:
        """Take up what the calls of a rank send.

        Parameters
        ----------
        rank : int
        shapes : SHAPE_DTYPE array
        count, size_bytes : (shapes,) int64 arrays
            Calls of each shape that send, and the sum of their sizes [bytes].
        """
        kinds = [function_info(name).kind for name in self.functions]
        kind = np.array([*kinds, CallKind.LOCAL])[shapes["function"]]
        is_sending = np.isin(kind, SENDING)
        used = np.flatnonzero((size_bytes > 0) | (is_sending & (count > 0)))
        share = self._shares(kinds, shapes[used], rank)
        rows = shapes["function"][used]
        np.add.at(self.sent.function_bytes, rows, size_bytes[used] * share)
        if len(self.sent.matrix):
            used = used[is_sending[used]]
            to, who = self._partners(shapes[used])
            sizes = size_bytes[used][who].astype(np.float64)
            np.add.at(self.sent.matrix[rank], to[who], sizes)
            numbers = count[used][who].astype(np.uint32)
            np.add.at(self.sent.messages[rank], to[who], numbers)

    def include(self, other: Traffic) -> None:
        """Add what other ranks send, functions numbered alike."""
        for name in ("function_bytes", "matrix", "messages"):
            getattr(self.sent, name)[...] += getattr(other, name)

    def scattered(self, function: int, size_bytes: int) -> None:
        """Take up what a root scatters in parts of different sizes."""
        self.sent.function_bytes[function] += size_bytes

    def _shares(
        self, kinds: list[CallKind], shapes: NDArray[np.void], rank: int
    ) -> NDArray[np.float64]:
        """Return by what a call's size must be multiplied to be what it sends."""
        own: dict[int, int] = {}
        shares = np.zeros(len(shapes))
        for i, row in enumerate(shapes.tolist()):
            shape = dict(zip(shapes.dtype.names or (), row, strict=True))
            kind = kinds[shape["function"]]
            comm = shape["communicator"]
            if kind in SENDING and shape["peer"] != PROC_NULL:
                shares[i] = 1
            if kind not in COLLECTIVES or comm < 0:
                continue
            one = self.communicators[comm]
            if comm not in own:
                own[comm] = one.members.index(rank) if rank in one.members else -1
            is_root = shape["peer"] in (own[comm], ROOT)
            name = plain_name(self.functions[shape["function"]])
            shares[i] = _share(name, one, is_root)
        return shares

    def _partners(
        self, shapes: NDArray[np.void]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the world rank of each shape's partner, and which shapes have one."""
        partners = np.full(len(shapes), -1, np.int64)
        peers = zip(
            shapes["communicator"].tolist(), shapes["peer"].tolist(), strict=True
        )
        for i, (comm, peer) in enumerate(peers):
            if comm >= 0 and peer >= 0:
                one = self.communicators[comm]
                partners[i] = (one.remote or one.members)[peer]
        return partners, partners >= 0


def _share(name: str, communicator: Communicator, is_root: bool) -> int:
    size = len(communicator.remote or communicator.members)
    if name in _NOTHING or (name in _AT_ROOT and not is_root):
        return 0
    return size if name in _EACH or name == "scatter" else 1


def started(
    calls: Calls, starts: NDArray[np.bool_], begin: int, end: int
) -> NDArray[np.int64]:
    """Return starts of persistent requests by the shape that made them.

    Parameters
    ----------
    calls : Calls
    starts : (shapes,) bool array
        Which calls start requests.
    begin, end : int
        Calls of the rank.

    Returns
    -------
    (2, shapes) int64 array
        Their number, and the bytes of the calls that made the requests [bytes].
    """
    creations = Creations.of(calls, slice(begin, end))
    places = np.flatnonzero(starts[calls.shape[begin:end]])
    rows = calls.ages[begin:end][places]
    index, age = rows_of(calls.age_first, calls.age_values, rows)
    creators = creations.named(places[index], age)
    creators = begin + creators[creators >= 0]
    made_by = calls.shape[creators]
    result = np.zeros((2, len(calls.shapes)), np.int64)
    result[0] = np.bincount(made_by, minlength=len(calls.shapes))
    np.add.at(result[1], made_by, calls.size_bytes[creators])
    return result
