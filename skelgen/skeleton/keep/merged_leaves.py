"""Let leaves of a signature stand for kinds of occurrences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.parts import run_lengths
from skelgen.signature import RankGroup, Signature, Spread
from skelgen.skeleton.keep.alike_occurrences import AlikeOccurrences
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.known_occurrences import KnownOccurrences


def merged_leaves(
    signature: Signature, expansion: Expansion, alike: AlikeOccurrences
) -> tuple[Signature, NDArray[np.int32]]:
    """Give the leaves that stand for kinds the statistics of these.

    Parameters
    ----------
    signature : Signature
    expansion : Expansion
        Of that signature.
    alike : AlikeOccurrences
        In it.

    Returns
    -------
    Signature
        Other leaves have no occurrences. Its nests are those of the given one: they
        expand to other leaves.
    leaf : (p,) int32 array
        Leaf of each position, as in `Expansion`.
    """
    groups, leaves = [], []
    for number, group in enumerate(signature.groups):
        leaf = expansion.leaf[expansion.first[number] : expansion.first[number + 1]]
        occurrences, kind = alike.occurrences[number], alike.kind[number]
        at = occurrences.at(leaf)
        merged = _Merged(group, occurrences, kind, leaf, kind[at])
        groups.append(merged.group())
        leaves.append(kind[at].astype(np.int32))
    return replace(signature, groups=tuple(groups)), np.concatenate(leaves)


class _Merged:
    """One group while its leaves are merged."""

    def __init__(
        self,
        group: RankGroup,
        occurrences: KnownOccurrences,
        kind: NDArray[np.int64],
        leaf: NDArray[np.int32],
        position: NDArray[np.int64],
    ) -> None:
        self.of, self.occurrences, self.kind = group, occurrences, kind
        self.leaf, self.position = leaf, position
        often = occurrences.often
        #: Part of a leaf's occurrences that each row stands for.
        self.part = often / np.maximum(group.count, 1)[occurrences.leaf]
        self.used = np.unique(kind)

    def group(self) -> RankGroup:
        """Return the group."""
        of, occurrences = self.of, self.occurrences
        count = np.bincount(self.kind, occurrences.often, len(of.count))
        return replace(
            of,
            count=count.astype(np.int64),
            compute_ns=self._spread(of.compute_ns),
            mpi_ns=self._shared(of.mpi_ns),
            idle_ns=self._shared(of.idle_ns),
            polls=self._shared(of.polls),
            nap_ns=self._shared(of.nap_ns),
            size_bytes=self._spread(of.size_bytes),
            size_steps=self._shared(of.size_steps),
            peers=self._peers(),
            vectors=self._vectors(),
        )

    def _shared(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share the sums of leaves out to kinds, by the number of occurrences."""
        found = np.zeros_like(total)
        parts = total[self.occurrences.leaf] * self.part[:, np.newaxis]
        np.add.at(found, self.kind, parts)
        return found

    def _spread(self, one: Spread) -> Spread:
        often, leaf = self.occurrences.often[:, np.newaxis], self.occurrences.leaf
        values = self.occurrences.values(one, self.of)
        total, squares = np.zeros_like(one.total), np.zeros_like(one.squares)
        np.add.at(total, self.kind, often * values)
        apart = (self.occurrences.often == 1)[:, np.newaxis]
        parts = one.squares[leaf] * self.part[:, np.newaxis]
        np.add.at(squares, self.kind, np.where(apart, values**2, parts))
        histogram = np.zeros_like(one.histogram)
        bins = np.frexp(np.maximum(values, 0.5))[1].clip(0, histogram.shape[2] - 1)
        for rank in range(values.shape[1]):
            of_rank = histogram[:, rank]
            of_rank += _counted(self.kind, bins[:, rank], often[:, 0], of_rank.shape)
        least, most = one.least.copy(), one.most.copy()
        for found, extreme in ((least, np.minimum), (most, np.maximum)):
            limits = found.copy()
            found[self.used] = limits[leaf[self._first_of_kind()]]
            extreme.at(found, self.kind, limits[leaf])
        return Spread(
            total, squares, least, most, histogram, self._samples(one, values)
        )

    def _first_of_kind(self) -> NDArray[np.intp]:
        return np.unique(self.kind, return_index=True)[1]

    def _samples(self, one: Spread, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take samples of each kind in the order of time."""
        found = np.full_like(one.samples, np.nan)
        at = self.occurrences.at(self.leaf)
        order = np.argsort(self.position, kind="stable")
        ends = np.cumsum(np.bincount(self.position, minlength=len(found)))
        begins = np.concatenate([[0], ends[:-1]])
        for kind in self.used.tolist():
            calls = int(ends[kind] - begins[kind])
            wanted = min(one.samples.shape[2], calls)
            turn = (2 * np.arange(wanted) + 1) * calls // max(2 * wanted, 1)
            found[kind, :, :wanted] = values[at[order[begins[kind] + turn]]].T
        return found

    def _peers(self) -> tuple[NDArray[np.int32], ...]:
        """Put partners in the order of all calls that a leaf stands for."""
        none = np.empty((0, 2), np.int32)
        found = [none] * len(self.of.count)
        varying = [at for at, runs in enumerate(self.of.peers) if len(runs)]
        if not varying:
            return tuple(found)
        partner = np.zeros(len(self.leaf), np.int32)
        for at in varying:
            runs = self.of.peers[at]
            partner[self.leaf == at] = np.repeat(runs[:, 0], runs[:, 1])
        kinds = self.kind[np.isin(self.occurrences.leaf, varying)]
        for kind in np.unique(kinds).tolist():
            own = partner[self.position == kind]
            found[kind] = run_lengths(own).astype(np.int32)
        return tuple(found)

    def _vectors(self) -> tuple[NDArray[np.float64], ...]:
        """Return the mean bytes of all calls that a leaf stands for."""
        found = list(self.of.vectors)
        for kind in self.used.tolist():
            own = self.kind == kind
            leaves = self.occurrences.leaf[own]
            every = [self.of.vectors[leaf] for leaf in leaves.tolist()]
            if every[0].size:
                weight = self.occurrences.often[own]
                weight = weight / max(int(weight.sum()), 1)
                found[kind] = np.tensordot(weight, np.stack(every), 1)
        return tuple(found)


def _counted(
    row: NDArray[np.int64],
    column: NDArray[np.int64],
    often: NDArray[np.int64],
    shape: tuple[int, ...],
) -> NDArray[np.int64]:
    """Add up numbers by row and column."""
    place = row * shape[1] + column
    sums = np.bincount(place, often, shape[0] * shape[1])
    return sums.astype(np.int64).reshape(shape)
