"""Tell the occurrences of leaves apart whose computation is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import occurrence_of
from skelgen.signature import RankGroup, Spread

#: Stands for all occurrences of a leaf that have no row of their own.
_OTHERS = -1


@dataclass(frozen=True, slots=True, eq=False)
class KnownOccurrences:
    """Occurrences of a group's leaves: each by itself, or many by their mean.

    Each has a row of its own where the samples of a leaf are all of its occurrences. Of
    other leaves the long ones have, and one row stands for the others.

    Attributes
    ----------
    first : (leaves + 1,) int64 array
        Those of leaf i are rows ``first[i]`` to ``first[i + 1]``.
    leaf : (m,) int64 array
    turn : (m,) int64 array
        Which of its leaf's occurrences a row is, ascending; -1 for many.
    often : (m,) int64 array
        How many occurrences a row stands for.
    sampled : (m,) bool array
        It has a sample.
    """

    first: NDArray[np.int64]
    leaf: NDArray[np.int64]
    turn: NDArray[np.int64]
    often: NDArray[np.int64]
    sampled: NDArray[np.bool_]

    @classmethod
    def of(cls, group: RankGroup) -> KnownOccurrences:
        """Return those of a group."""
        known = (~np.isnan(group.compute_ns.samples)).all(axis=1).sum(axis=1)
        whole = (known == group.count) & (known > 0)
        long = group.long_occurrences[~whole[group.long_occurrences["leaf"]]]
        apart = np.unique(long[["leaf", "occurrence"]])
        own = np.bincount(apart["leaf"], minlength=len(whole))
        rows = np.where(whole, known, own + 1)
        first = np.concatenate([[0], np.cumsum(rows)])
        leaf = np.repeat(np.arange(len(rows)), rows)
        sampled = whole[leaf]
        turn = np.where(sampled, np.arange(len(leaf)) - first[leaf], _OTHERS)
        others = first[:-1][~whole]
        turn[np.setdiff1d(np.flatnonzero(~sampled), others)] = apart["occurrence"]
        often = np.ones(len(leaf), np.int64)
        often[others] = (group.count - own)[~whole]
        return cls(first, leaf, turn, often, sampled)

    def values(self, spread: Spread) -> NDArray[np.float64]:
        """Return a quantity of the group at each row, (m, ranks).

        Rows without a sample have the mean of their leaf.
        """
        place = np.where(self.sampled, self.turn, 0)
        count = np.bincount(self.leaf, self.often, len(spread.total))
        mean = (spread.total / np.maximum(count, 1)[:, np.newaxis])[self.leaf]
        each = spread.samples[
            self.leaf, :, np.minimum(place, spread.samples.shape[2] - 1)
        ]
        return np.where(self.sampled[:, np.newaxis] & ~np.isnan(each), each, mean)

    def computation(
        self, group: RankGroup
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the computation at each row, and the squares of all it stands for.

        Returns
        -------
        compute_ns, squares : (m, ranks) float64 arrays
            Means of a row [ns], and sums over its occurrences [ns^2].
        """
        spread, long = group.compute_ns, group.long_occurrences
        at = self._rows(long["leaf"], long["occurrence"])
        rank, time = long["rank"], long["compute_ns"]
        total, squares, count = (np.zeros(spread.total.shape) for _ in range(3))
        for sums, amounts in ((total, time), (squares, time**2), (count, 1)):
            np.add.at(sums, (long["leaf"], rank), amounts)
        rest = np.maximum(group.count[:, np.newaxis] - count, 1)
        mean = np.maximum(spread.total - total, 0) / rest
        square = np.maximum(spread.squares - squares, 0) / rest
        compute_ns = self.values(spread)
        many = ~self.sampled
        compute_ns[many] = mean[self.leaf[many]]
        compute_ns[at, rank] = time
        of_many = self.often[:, np.newaxis] * square[self.leaf]
        alone = (self.turn >= 0)[:, np.newaxis]
        return compute_ns, np.where(alone, compute_ns**2, of_many)

    def _rows(
        self, leaf: NDArray[np.integer], occurrence: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the rows that some occurrences have, or belong to."""
        width = int(max(occurrence.max(initial=0), self.turn.max(initial=0))) + 2
        keys = self.leaf * width + self.turn + 1
        wanted = leaf.astype(np.int64) * width + occurrence + 1
        row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.asarray(np.where(keys[row] == wanted, row, self.first[leaf]))

    def at(self, leaf: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the row that each position stands for.

        Parameters
        ----------
        leaf : (n,) int32 array
            Leaf of each position of the string.
        """
        return self._rows(leaf, occurrence_of(leaf))
