"""How many bytes calls send, and to whom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import (
    COLLECTIVES,
    PERSISTENT,
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


def traffic(calls: Calls) -> Traffic:
    """Add up what all calls send, messages and collectives.

    Parameters
    ----------
    calls : Calls
    """
    kinds = [function_info(name).kind for name in calls.functions]
    kind = np.array([*kinds, CallKind.LOCAL])[calls.shapes["function"]]
    size = calls.ranks if calls.ranks <= _MOST_RANKS else 0
    matrix, messages = np.zeros((size, size)), np.zeros((size, size), np.uint32)
    is_sending = np.isin(kind, SENDING)
    function_bytes = np.zeros(len(calls.functions))
    for rank, (begin, end) in enumerate(pairwise(calls.first.tolist())):
        shape = calls.shape[begin:end]
        weights = calls.size_bytes[begin:end]
        sums: NDArray[np.float64] = np.zeros(len(calls.shapes))
        sums += np.bincount(shape, weights=weights, minlength=len(sums))
        count = np.bincount(shape, minlength=len(sums))
        sums[np.isin(kind, PERSISTENT)] = count[np.isin(kind, PERSISTENT)] = 0
        if (kind == CallKind.START).any():  # these send what persistent requests name
            size_bytes, starts = _started(calls, kind, begin, end)
            sums += size_bytes
            count += starts
        used = np.flatnonzero((sums > 0) | (is_sending & (count > 0)))
        share = _shares(calls, kinds, rank, used)
        rows = calls.shapes["function"][used]
        np.add.at(function_bytes, rows, sums[used] * share)
        if size:
            used = used[is_sending[used]]
            to, who = _partners(calls, used)
            np.add.at(matrix[rank], to[who], sums[used][who])
            np.add.at(messages[rank], to[who], count[used][who].astype(np.uint32))
    for call, (sends, _) in zip(calls.vector_call, calls.vectors, strict=True):
        function = calls.shapes["function"][calls.shape[call]]
        if sends is not None and plain_name(calls.functions[function]) == "scatterv":
            function_bytes[function] += int(sends.sum())
    return Traffic(function_bytes, matrix, messages)


def _shares(
    calls: Calls, kinds: list[CallKind], rank: int, used: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return by what a call's size must be multiplied to be what it sends."""
    own: dict[int, int] = {}
    shares = np.zeros(len(used))
    for i, row in enumerate(calls.shapes[used].tolist()):
        shape = dict(zip(calls.shapes.dtype.names or (), row, strict=True))
        kind = kinds[shape["function"]]
        comm = shape["communicator"]
        if kind in SENDING and shape["peer"] != PROC_NULL:
            shares[i] = 1
        if kind not in COLLECTIVES or comm < 0:
            continue
        one = calls.communicators[comm]
        if comm not in own:
            own[comm] = one.members.index(rank) if rank in one.members else -1
        is_root = shape["peer"] in (own[comm], ROOT)
        shares[i] = _share(plain_name(calls.functions[shape["function"]]), one, is_root)
    return shares


def _share(name: str, communicator: Communicator, is_root: bool) -> int:
    size = len(communicator.remote or communicator.members)
    if name in _NOTHING or (name in _AT_ROOT and not is_root):
        return 0
    return size if name in _EACH or name == "scatter" else 1


def _partners(
    calls: Calls, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the world rank of each shape's partner, and which shapes have one."""
    partners = np.full(len(rows), -1, np.int64)
    for i, (comm, peer) in enumerate(
        zip(
            calls.shapes["communicator"][rows].tolist(),
            calls.shapes["peer"][rows].tolist(),
            strict=True,
        )
    ):
        if comm >= 0 and peer >= 0:
            one = calls.communicators[comm]
            partners[i] = (one.remote or one.members)[peer]
    return partners, partners >= 0


def _started(
    calls: Calls, kind: NDArray[np.int64], begin: int, end: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return bytes and starts of persistent requests by the shape that made them."""
    creations = Creations.of(calls, slice(begin, end))
    starts = np.flatnonzero(kind[calls.shape[begin:end]] == CallKind.START)
    rows = calls.ages[begin:end][starts]
    index, age = rows_of(calls.age_first, calls.age_values, rows)
    creators = creations.named(starts[index], age)
    creators = begin + creators[creators >= 0]
    made_by = calls.shape[creators]
    starts_of = np.bincount(made_by, minlength=len(calls.shapes))
    result = np.zeros(len(calls.shapes))
    np.add.at(result, made_by, calls.size_bytes[creators])
    return result, starts_of
