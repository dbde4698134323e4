"""Find occurrences that are alike: the same call after about as much computation."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.signature import Signature
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.known_occurrences import KnownOccurrences
from skelgen.skeleton.thresholds import LEAST_MOVED_SHARE


@dataclass(frozen=True, slots=True)
class AlikeOccurrences:
    """Which occurrences are of one kind.

    Attributes
    ----------
    occurrences : tuple of KnownOccurrences
        Of each group.
    kind : tuple of (m,) int64 array
        For each group, the leaf that stands for the kind of each of them. It has the
        same symbol.
    moved : float
        Part of the computation that stands before another call when each call has the
        mean of its kind, 0 to 1 [1].
    """

    occurrences: tuple[KnownOccurrences, ...]
    kind: tuple[NDArray[np.int64], ...]
    moved: float

    @property
    def kinds(self) -> int:
        """Return how many there are, all groups together."""
        return sum(len(np.unique(own)) for own in self.kind)


def alike_occurrences(signature: Signature, most: int) -> AlikeOccurrences:
    """Join occurrences of a symbol that compute as long, the nearest first.

    It ends when there are few kinds and one more pair would move more than little
    computation, or when each symbol has one kind. A symbol has no more kinds than
    leaves.

    Parameters
    ----------
    signature : Signature
    most : int
        Number of kinds, all groups together.
    """
    occurrences = tuple(map(KnownOccurrences.of, signature.groups))
    symbols = [leaf_symbols(group.nest) for group in signature.groups]
    often = np.concatenate([one.often for one in occurrences])
    times = [
        one.computation(group)[0].mean(axis=1)
        for one, group in zip(occurrences, signature.groups, strict=True)
    ]
    each_ns = np.concatenate(times)
    chains = _Chains(often.copy(), often * each_ns)
    little_ns = LEAST_MOVED_SHARE * float(chains.time.sum())
    first = np.cumsum([0, *(len(one.often) for one in occurrences)]).tolist()
    for number, one in enumerate(occurrences):
        rows = slice(first[number], first[number + 1])
        leaves = np.bincount(symbols[number])
        for symbol, members in _of_symbols(symbols[number][one.leaf], each_ns[rows]):
            chains.put((first[number] + members).tolist(), int(leaves[symbol]))
    chains.join(most, little_ns)
    roots = np.split(chains.roots(), first[1:-1])
    kind = tuple(
        _standing_for(root, symbol, one.leaf)
        for root, symbol, one in zip(roots, symbols, occurrences, strict=True)
    )
    return AlikeOccurrences(occurrences, kind, _moved(occurrences, times, kind))


def _of_symbols(
    symbol: NDArray[np.int64], time: NDArray[np.float64]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each symbol with the rows that have it, by their time."""
    order = np.lexsort([time, symbol])
    ends = np.flatnonzero(np.diff(symbol[order])) + 1
    for members in np.split(order, ends):
        if len(members):
            yield int(symbol[members[0]]), members


def _standing_for(
    root: NDArray[np.int64], symbol: NDArray[np.int64], leaf: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for the kind of each row a leaf of its own with the same symbol."""
    _, first, number = np.unique(root, return_index=True, return_inverse=True)
    free = {
        name: iter(np.flatnonzero(symbol == name).tolist())
        for name in np.unique(symbol).tolist()
    }
    stands = np.zeros(len(first), np.int64)
    for kind in np.argsort(first).tolist():  # the kind that comes first, the first leaf
        stands[kind] = next(free[int(symbol[leaf[first[kind]]])])
    found: NDArray[np.int64] = stands[number]
    return found


def _moved(
    occurrences: Sequence[KnownOccurrences],
    times: Sequence[NDArray[np.float64]],
    kind: Sequence[NDArray[np.int64]],
) -> float:
    moved = total = 0.0
    for one, time, own in zip(occurrences, times, kind, strict=True):
        calls = np.bincount(own, one.often)
        mean = np.bincount(own, one.often * time) / np.maximum(calls, 1)
        moved += float((one.often * np.abs(time - mean[own])).sum()) / 2
        total += float((one.often * time).sum())
    return moved / max(total, 1.0)


@dataclass(slots=True)
class _Chains:
    """Occurrences of a symbol in a row, by their time; neighbours may be joined."""

    count: NDArray[np.int64]
    time: NDArray[np.float64]
    before: dict[int, int] = field(default_factory=dict)
    after: dict[int, int] = field(default_factory=dict)
    joined_to: dict[int, int] = field(default_factory=dict)
    kinds: int = 0

    def put(self, members: list[int], most: int) -> None:
        """Add a chain, of which at most so many kinds are left."""
        for one, other in itertools.pairwise(members):
            self.after[one], self.before[other] = other, one
        self.kinds += len(members)
        excess = len(members) - most
        if excess > 0:
            self._join_nearest(members[:-1], lambda done, _: done >= excess)

    def join(self, most: int, little: float) -> None:
        """Join neighbours until kinds are few and joining moves more than little [ns].

        Parameters
        ----------
        most : int
        little : float
            Of all that is joined [ns].
        """
        kinds = self.kinds
        self._join_nearest(
            list(self.after),
            lambda done, moved: kinds - done <= most and moved > little,
        )

    def roots(self) -> NDArray[np.int64]:
        """Return one occurrence of the kind of each."""
        root = np.arange(len(self.count))
        for other, one in reversed(self.joined_to.items()):
            root[other] = root[one]
        return root

    def _join_nearest(
        self, links: Iterable[int], enough: Callable[[int, float], bool]
    ) -> None:
        heap = [(self._moved(one), one, self.after[one]) for one in links]
        heapq.heapify(heap)
        done, moved = 0, 0.0
        while heap:
            time, one, other = heapq.heappop(heap)
            if self.after.get(one) != other or time != self._moved(one):
                continue  # one of them has been joined meanwhile
            moved += time
            if enough(done, moved):
                break
            self._join(one, other)
            done += 1
            for left in (self.before.get(one, -1), one):
                if left in self.after:
                    heapq.heappush(heap, (self._moved(left), left, self.after[left]))
        self.kinds -= done

    def _moved(self, one: int) -> float:
        """Return the time [ns] that joining a kind with the one behind it moves."""
        other = self.after[one]
        calls, more = max(int(self.count[one]), 1), max(int(self.count[other]), 1)
        apart = abs(self.time[one] / calls - self.time[other] / more)
        return float(calls * more / (calls + more) * apart)

    def _join(self, one: int, other: int) -> None:
        self.count[one] += self.count[other]
        self.time[one] += self.time[other]
        self.joined_to[other] = one
        last = self.after.pop(other, None)
        if last is None:
            del self.after[one]
        else:
            self.after[one], self.before[last] = last, one
