"""From a signature back to calls, so that they can be matched again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import empty_column
from skelgen.events import SHAPE_DTYPE, Calls, Communicator, function_info
from skelgen.events.parts import looked_up
from skelgen.events.types import NO_COMMUNICATOR
from skelgen.loops import positions
from skelgen.signature.expand_ages import ExpandedAges, completes_all
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.types import RankGroup, Signature
from skelgen.symbols.pairs import PARTNER_KINDS
from skelgen.symbols.types import VARYING

_COPIED = (
    "function", "flags", "tag", "tag2", "datatype_bytes", "piece_bytes", "op", "site",
)  # fmt: skip


def extent(signature: Signature) -> tuple[int, int]:
    """Return what a signature expands to: calls, and requests that they complete.

    Parameters
    ----------
    signature : Signature
    """
    requests_of = np.diff(signature.age_first)[signature.symbols["ages"]]
    if completes_all(signature, signature.functions, signature.symbols).any():
        # Each request is completed once.
        creates = [function_info(name).creates for name in signature.functions]
        requests_of = requests_of + np.array(creates)[signature.symbols["function"]]
    calls, requests = 0, 0
    for group in signature.groups:
        calls += int(group.count.sum()) * len(group.ranks)
        of_leaf = requests_of[leaf_symbols(group.nest)]
        requests += int((group.count * of_leaf).sum()) * len(group.ranks)
    return calls, requests


def calls_of(signature: Signature) -> Calls:
    """Expand a signature to the calls of all ranks, without times.

    Parameters
    ----------
    signature : Signature

    Returns
    -------
    Calls
        With the tags of the symbols, partners as ranks of their communicators, and
        mean sizes. `match` finds the whole matched events of the run in them.
    """
    ages = ExpandedAges(signature)
    place_of = {
        rank: (group, column)
        for group in signature.groups
        for column, rank in enumerate(group.ranks)
    }
    strings = {id(group): positions(group.nest) for group in signature.groups}
    calls = sum(len(strings[id(one)]) * len(one.ranks) for one in signature.groups)
    expansion = _Expansion(signature, calls)
    for rank in range(signature.ranks):
        group, column = place_of[rank]
        leaf = strings[id(group)]
        expansion.add(rank, group, column, leaf, ages.of(group, leaf))
    return expansion.calls(*ages.rows())


class _GroupCalls:
    """What the calls of all ranks of a group have in common.

    Parameters
    ----------
    group : RankGroup
    leaf : (n,) int32 array
        Leaf of each call.

    Attributes
    ----------
    plain : list of int
        Symbols whose partner does not vary, each once.
    place : (leaves,) int32 array
        Where the symbol of each leaf stands among them.
    varying : list of (int, int, (n,) bool array)
        Leaves whose partner varies, their symbols, and which calls are theirs.
    size_bytes : (leaves, ranks) int64 array
        Mean sizes [bytes].
    """

    def __init__(self, group: RankGroup, leaf: NDArray[np.int32]) -> None:
        symbols = leaf_symbols(group.nest).tolist()
        number: dict[int, int] = {}
        places = [
            0 if len(runs) else number.setdefault(symbol, len(number))
            for symbol, runs in zip(symbols, group.peers, strict=True)
        ]
        self.plain = list(number)
        self.place = np.array(places, np.int32)
        self.varying = [
            (at, symbols[at], leaf == at)
            for at, runs in enumerate(group.peers)
            if len(runs)
        ]
        count = np.maximum(group.count, 1)[:, None]
        self.size_bytes = np.rint(group.size_bytes.total / count).astype(np.int64)


class _Expansion:
    """Fills the columns rank by rank."""

    def __init__(self, signature: Signature, calls: int) -> None:
        self.signature = signature
        self.communicators, self.instance = _communicators(signature)
        kinds = [function_info(name).kind for name in signature.functions]
        point = np.isin(np.array(kinds, np.uint8), PARTNER_KINDS)
        relative = point[signature.symbols["function"]].tolist()
        copied = _columns(signature.symbols, _COPIED)
        self.copied = {row: number for number, row in enumerate(dict.fromkeys(copied))}
        names = ("family", "peer", "peer2")
        self.symbols = [
            (*row, of_partner, self.copied[same])
            for row, of_partner, same in zip(
                _columns(signature.symbols, names), relative, copied, strict=True
            )
        ]
        self.groups: dict[int, _GroupCalls] = {}
        self.rows: dict[tuple[int, ...], int] = {}
        self.shape = empty_column(calls, np.uint32)
        self.size_bytes = empty_column(calls, np.int64)
        self.ages = empty_column(calls, np.uint32)
        self.vector_call: list[NDArray[np.int64]] = []
        self.vectors: list[NDArray[np.object_]] = []
        self.first = [0]

    def add(
        self,
        rank: int,
        group: RankGroup,
        column: int,
        leaf: NDArray[np.int32],
        ages: NDArray[np.uint32],
    ) -> None:
        if id(group) not in self.groups:
            self.groups[id(group)] = _GroupCalls(group, leaf)
        known = self.groups[id(group)]
        begin = self.first[-1]
        own = slice(begin, begin + len(leaf))
        shapes = [self._shape(symbol, rank, VARYING) for symbol in known.plain]
        of_leaf = np.array(shapes or [0], np.uint32)[known.place]
        shape = looked_up(of_leaf, leaf, out=self.shape[own])
        for at, symbol, calls in known.varying:
            runs = group.peers[at]
            of_run = [self._shape(symbol, rank, int(p)) for p in runs[:, 0]]
            shape[calls] = np.repeat(np.array(of_run, np.uint32), runs[:, 1])
        looked_up(known.size_bytes[:, column], leaf, out=self.size_bytes[own])
        self.ages[own] = ages
        self._add_vectors(column, group, leaf)
        self.first.append(own.stop)

    def _add_vectors(
        self, column: int, group: RankGroup, leaf: NDArray[np.int32]
    ) -> None:
        having = [at for at, known in enumerate(group.vectors) if known.shape[2]]
        if not having:
            return
        calls = np.flatnonzero(np.isin(leaf, having))
        sides = np.full((len(group.vectors), 2), None, dtype=object)
        for at in having:
            for side in range(2):
                mean = group.vectors[at][column, side]
                if not np.isnan(mean).all():
                    sides[at, side] = np.rint(mean[~np.isnan(mean)]).astype(np.int64)
        self.vector_call.append(calls + self.first[-1])
        self.vectors.append(sides[leaf[calls]])

    def _shape(self, symbol: int, rank: int, varying: int) -> int:
        """Return the shape of a symbol on a rank; `varying`: relative partner."""
        family, peer, peer2, relative, copied = self.symbols[symbol]
        communicator = NO_COMMUNICATOR
        if family >= 0:
            communicator, own, size = self.instance[family, rank]
            peer = varying if peer == VARYING else peer
            peer2 = varying if peer2 == VARYING else peer2
            if relative:
                peer = (peer + own) % size if peer >= 0 else peer
                peer2 = (peer2 + own) % size if peer2 >= 0 else peer2
        key = (copied, communicator, peer, peer2)
        return self.rows.setdefault(key, len(self.rows))

    def _shapes(self) -> NDArray[np.void]:
        """Return the shapes in the order of their numbers."""
        found = np.zeros(len(self.rows), SHAPE_DTYPE)
        keys = np.array(list(self.rows), np.int64).reshape(-1, 4).T
        same, found["communicator"], found["peer"], found["peer2"] = keys
        copied = np.array(list(self.copied), np.int64).reshape(-1, len(_COPIED)).T
        for name, column in zip(_COPIED, copied, strict=True):
            found[name] = column[same]
        return found

    def calls(
        self, age_first: NDArray[np.int64], age_values: NDArray[np.int64]
    ) -> Calls:
        vectors = self.vectors or [np.empty((0, 2), dtype=object)]
        none = [np.empty(0, np.int64)]
        return Calls(
            first=np.array(self.first, np.int64),
            shape=self.shape,
            size_bytes=self.size_bytes,
            ages=self.ages,
            age_first=age_first,
            age_values=age_values,
            vector_call=np.concatenate(self.vector_call or none),
            vectors=np.concatenate(vectors),
            shapes=self._shapes(),
            communicators=self.communicators,
            functions=self.signature.functions,
        )


def _columns(rows: NDArray[np.void], names: Sequence[str]) -> list[tuple[int, ...]]:
    """Return some columns of each row as plain numbers."""
    return list(zip(*(rows[name].tolist() for name in names), strict=True))


def _communicators(
    signature: Signature,
) -> tuple[tuple[Communicator, ...], dict[tuple[int, int], tuple[int, int, int]]]:
    """Return all communicators, and for (family, rank) its number, rank and size."""
    communicators: list[Communicator] = []
    instance: dict[tuple[int, int], tuple[int, int, int]] = {}
    first_of: list[int] = []
    for number, family in enumerate(signature.families):
        first_of.append(len(communicators))
        parent = first_of[family.parent] if family.parent >= 0 else -1
        for members in family.instances:
            for own, rank in enumerate(members):
                instance[number, rank] = (len(communicators), own, len(members))
            above = parent
            if family.parent >= 0:
                known = instance.get((family.parent, members[0]))
                above = known[0] if known else parent
            communicators.append(Communicator(number, above, family.kind, members))
    return tuple(communicators), instance
