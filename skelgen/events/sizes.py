"""How the counts of a call become bytes, for single counts and for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import COLLECTIVES, SENDING, CallKind, FunctionInfo
from skelgen.trace import RankFile
from skelgen.trace.definition_types import Ragged
from skelgen.trace.format import trace_format

if TYPE_CHECKING:
    from skelgen.events.shapes import FileShapes

_SENDS = {*SENDING, CallKind.UNSUPPORTED}
_RECEIVES = {CallKind.RECEIVE, CallKind.IRECEIVE, CallKind.RECEIVE_INIT}
_SCATTERS = {"scatter", "scatterv"}
_LARGEST_SIZE = 1 << 44

_Bytes = NDArray[np.int64] | None


def set_sizes(
    file: RankFile,
    raw: NDArray[np.void],
    infos: Sequence[FunctionInfo],
    names: Sequence[str],
) -> None:
    """Tell the kernel which count and type make the size of each shape's calls."""
    types = {n: kind.size_bytes for n, kind in file.definitions.types.items()}
    for side in "ab":
        raw[f"bytes_{side}"] = [types.get(int(n), 0) for n in raw[f"type_{side}"]]
    bits = [trace_format()[f"SHAPE_{name}"] for name in ("HAS_A", "HAS_B", "NOT_READY")]
    raw["rule"] = [
        _rule(info.kind, name, *(bool(flags & bit) for bit in bits))
        for info, name, flags in zip(infos, names, raw["flags"].tolist(), strict=True)
    ]


def set_own_ranks(file: RankFile, raw: NDArray[np.void]) -> None:
    """Tell the kernel which rank this one is in the communicator of each shape."""
    comms = file.definitions.communicators
    raw["own"] = [comms[n].rank if n in comms else -1 for n in raw["comm"].tolist()]


def _rule(kind: CallKind, name: str, has_a: bool, has_b: bool, not_ready: bool) -> int:
    from skelgen.trace.workspace import kernel

    lib = kernel().lib
    collective = kind in COLLECTIVES
    if not_ready:
        rule = lib.SKELGEN_RULE_POLLS
    elif kind in _SENDS or (collective and has_a and name not in _SCATTERS):
        rule = lib.SKELGEN_RULE_A
    elif collective and name == "scatter":
        rule = lib.SKELGEN_RULE_ROOT_A
    elif kind in (CallKind.RMA, CallKind.IO):
        # What fetches may send nothing: MPI_Get_accumulate with MPI_NO_OP.
        rule = lib.SKELGEN_RULE_B if has_b else lib.SKELGEN_RULE_A
    elif collective or kind in _RECEIVES:
        rule = lib.SKELGEN_RULE_B
    else:
        rule = lib.SKELGEN_RULE_NONE
    return int(rule)


class Vectors:
    """Turns the vectors of one file's events into bytes, each combination once.

    Parameters
    ----------
    file : RankFile
    shapes : FileShapes
    """

    def __init__(self, file: RankFile, shapes: FileShapes) -> None:
        self._ragged: Ragged = file.definitions.vectors
        self._shapes = shapes
        self._bytes: dict[tuple[int, int, int], NDArray[np.int64]] = {}
        self._constants = trace_format()
        self._communicators = file.definitions.communicators

    def sides(
        self, shape: int, vector_a: int, vector_b: int
    ) -> tuple[_Bytes, _Bytes, int]:
        """Return bytes sent to and received from each rank, and the call's size.

        Parameters
        ----------
        shape : int
            Row of the file's shapes.
        vector_a, vector_b : int
            Ids of the event's vectors.

        Returns
        -------
        sends, receives : int64 array or None
        size : int
            -1: as its single count says [bytes].
        """
        raw, name = self._shapes.raw[shape], self._shapes.names[shape]
        flags, own = int(raw["flags"]), int(raw["own"])
        in_place = bool(flags & self._constants["SHAPE_IN_PLACE"])
        a = self._side(shape, vector_a, "a")
        b = self._side(shape, vector_b, "b")
        if name.startswith("neighbor_"):
            return a, b, 0 if a is None else _total(a)
        if name in ("alltoallv", "alltoallw"):
            sends = b if in_place else a
            return sends, b, 0 if sends is None else _total(sends)
        if name == "reduce_scatter":
            return None, a, 0 if a is None else _total(a)
        if name == "scatterv":
            return a, None, _own_part(a, own) if in_place else -1
        return None, b, _own_part(b, own) if in_place else -1

    def members(self, shape: int, vector: int) -> tuple[int, ...]:
        """Return a group as (rank - own rank) modulo the size of the window."""
        flags = self._side(shape, vector, "a")
        if flags is None:
            return ()
        own = int(self._shapes.raw["own"][shape])
        return tuple(sorted(((np.flatnonzero(flags) - own) % len(flags)).tolist()))

    def _side(self, shape: int, vector: int, side: str) -> _Bytes:
        raw = self._shapes.raw[shape]
        has = int(raw["flags"]) & self._constants[f"SHAPE_VECTOR_{side.upper()}"]
        peers = self._partners(shape, side)
        if not has or peers is None:
            return None
        element = int(raw[f"bytes_{side}"]) if raw[f"type_{side}"] else 1
        key = (vector, element, peers)
        if key not in self._bytes:
            self._bytes[key] = self._counted(vector, element, peers)
        return self._bytes[key]

    def _partners(self, shape: int, side: str) -> int | None:
        """Return how many counts a side has; None without communicator."""
        if not self._shapes.names[shape].startswith("neighbor_"):
            return int(self._shapes.peers[shape]) or None
        known = self._communicators.get(int(self._shapes.raw["comm"][shape]))
        if known is None:
            return None
        return len(known.destinations if side == "a" else known.sources)

    def _counted(self, vector: int, element: int, peers: int) -> NDArray[np.int64]:
        """Return bytes for each peer; what a damaged file lacks is 0."""
        counts = np.zeros(peers, np.int64)
        if vector:
            first, end = self._ragged.first[vector - 1 : vector + 1].tolist()
            stored = self._ragged.values[first:end][:peers]
            counts[: len(stored)] = stored
        most = _LARGEST_SIZE // max(element, 1)
        counts = np.minimum(counts, most) * element
        counts.setflags(write=False)
        return counts


def _own_part(vector: _Bytes, own: int) -> int:
    return int(vector[own]) if vector is not None and 0 <= own < len(vector) else 0


def _total(vector: NDArray[np.int64]) -> int:
    return min(int(vector.sum()), _LARGEST_SIZE)
