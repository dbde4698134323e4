"""Let leaves of a signature stand for kinds of occurrences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import occurrence_of
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
        merged = _Merged(group, alike.occurrences[number], alike.kind[number], leaf)
        groups.append(merged.group())
        leaves.append(merged.position.astype(np.int32))
    return replace(signature, groups=tuple(groups)), np.concatenate(leaves)


class _Merged:
    """One group while its leaves are merged."""

    def __init__(
        self,
        group: RankGroup,
        occurrences: KnownOccurrences,
        kind: NDArray[np.int64],
        leaf: NDArray[np.int32],
    ) -> None:
        self.of, self.occurrences, self.kind = group, occurrences, kind
        self.leaf, self.at = leaf, occurrences.at(leaf)
        self.position = kind[self.at]
        often = occurrences.often
        #: Part of a leaf's occurrences that each row stands for.
        self.part = often / np.maximum(group.count, 1)[occurrences.leaf]
        self.used = np.unique(kind)

    def group(self) -> RankGroup:
        """Return the group."""
        of, occurrences = self.of, self.occurrences
        count = np.bincount(self.kind, occurrences.often, len(of.count))
        compute_ns, squares = occurrences.computation(of)
        return replace(
            of,
            count=count.astype(np.int64),
            compute_ns=self._spread(
                of.compute_ns, compute_ns, squares, compute_ns[self.at]
            ),
            mpi_ns=self._shared(of.mpi_ns),
            idle_ns=self._shared(of.idle_ns),
            polls=self._shared(of.polls),
            nap_ns=self._shared(of.nap_ns),
            size_bytes=self._sizes(),
            size_steps=self._shared(of.size_steps),
            peers=self._peers(),
            vectors=self._vectors(),
            long_occurrences=of.long_occurrences[:0],
        )

    def _sizes(self) -> Spread:
        sizes = self.of.size_bytes
        values = self.occurrences.values(sizes)
        parts = sizes.squares[self.occurrences.leaf] * self.part[:, np.newaxis]
        squares = np.where(self.occurrences.sampled[:, np.newaxis], values**2, parts)
        return self._spread(sizes, values, squares, self._sampled(sizes))

    def _shared(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share the sums of leaves out to kinds, by the number of occurrences."""
        found = np.zeros_like(total)
        parts = total[self.occurrences.leaf] * self.part[:, np.newaxis]
        np.add.at(found, self.kind, parts)
        return found

    def _spread(
        self,
        one: Spread,
        values: NDArray[np.float64],
        square: NDArray[np.float64],
        each: NDArray[np.float64],
    ) -> Spread:
        """Join a quantity, of which rows have means and squares, and positions each."""
        often, leaf = self.occurrences.often[:, np.newaxis], self.occurrences.leaf
        total, squares = np.zeros_like(one.total), np.zeros_like(one.squares)
        np.add.at(total, self.kind, often * values)
        np.add.at(squares, self.kind, square)
        least, most = one.least.copy(), one.most.copy()
        for found, extreme in ((least, np.minimum), (most, np.maximum)):
            limits = found.copy()
            found[self.used] = limits[leaf[self._first_of_kind()]]
            extreme.at(found, self.kind, limits[leaf])
        return Spread(
            total,
            squares,
            least,
            most,
            self._histogram(one, values),
            self._samples(each),
        )

    def _histogram(self, one: Spread, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count the values of occurrences; of rows for many those of their leaf."""
        found = np.zeros_like(one.histogram)
        apart = self.occurrences.turn >= 0
        whole = np.flatnonzero(~apart)
        np.add.at(found, self.kind[whole], one.histogram[self.occurrences.leaf[whole]])
        bins = np.frexp(np.maximum(values, 0.5))[1].clip(0, found.shape[2] - 1)
        place = self.kind * found.shape[2]
        for rank in range(values.shape[1]):
            counts = np.bincount(
                (place + bins[:, rank])[apart], minlength=found[:, rank].size
            )
            found[:, rank] += counts.reshape(found[:, rank].shape)
        return found

    def _first_of_kind(self) -> NDArray[np.intp]:
        return np.unique(self.kind, return_index=True)[1]

    def _sampled(self, one: Spread) -> NDArray[np.float64]:
        """Return the sample that is nearest in time to each position."""
        known = (~np.isnan(one.samples)).all(axis=1).sum(axis=1)
        count = np.maximum(self.of.count, 1)[self.leaf]
        sample = occurrence_of(self.leaf) * known[self.leaf] // count
        return np.asarray(one.samples[self.leaf, :, sample])

    def _samples(self, each: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take samples of each kind, of the values of all positions, in their order.

        Computation is the mean of a leaf where its occurrences are not known: samples
        of other occurrences on each rank would be work that waits for no work.
        """
        found = np.full_like(self.of.compute_ns.samples, np.nan)
        order = np.argsort(self.position, kind="stable")
        ends = np.cumsum(np.bincount(self.position, minlength=len(found)))
        begins = np.concatenate([[0], ends[:-1]])
        for kind in self.used.tolist():
            calls = int(ends[kind] - begins[kind])
            wanted = min(found.shape[2], calls)
            turn = (2 * np.arange(wanted) + 1) * calls // max(2 * wanted, 1)
            found[kind, :, :wanted] = each[order[begins[kind] + turn]].T
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
