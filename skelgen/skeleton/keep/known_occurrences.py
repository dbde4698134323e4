"""Tell the occurrences of leaves apart whose samples are all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import occurrence_of
from skelgen.signature import RankGroup, Spread


@dataclass(frozen=True, slots=True, eq=False)
class KnownOccurrences:
    """Occurrences of a group's leaves: each by itself, or all of a leaf by their mean.

    Attributes
    ----------
    first : (leaves + 1,) int64 array
        Those of leaf i are rows ``first[i]`` to ``first[i + 1]``, in the order of time.
    leaf : (m,) int64 array
    often : (m,) int64 array
        How many occurrences a row stands for.
    """

    first: NDArray[np.int64]
    leaf: NDArray[np.int64]
    often: NDArray[np.int64]

    @classmethod
    def of(cls, group: RankGroup) -> KnownOccurrences:
        """Return those of a group."""
        known = (~np.isnan(group.compute_ns.samples)).all(axis=1).sum(axis=1)
        rows = np.where(known == group.count, np.maximum(known, 1), 1)
        first = np.concatenate([[0], np.cumsum(rows)])
        leaf = np.repeat(np.arange(len(rows)), rows)
        return cls(first, leaf, (group.count // rows)[leaf])

    def values(self, spread: Spread) -> NDArray[np.float64]:
        """Return a quantity of the group at each row, (m, ranks)."""
        number = np.arange(len(self.leaf)) - self.first[self.leaf]
        each = spread.samples[
            self.leaf, :, np.minimum(number, spread.samples.shape[2] - 1)
        ]
        count = np.bincount(self.leaf, self.often, len(spread.total))
        mean = spread.total / np.maximum(count, 1)[:, np.newaxis]
        apart = (self.often == 1)[:, np.newaxis] & ~np.isnan(each)
        return np.where(apart, each, mean[self.leaf])

    def at(self, leaf: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the row that each position stands for.

        Parameters
        ----------
        leaf : (n,) int32 array
            Leaf of each position of the string.
        """
        last = np.diff(self.first)[leaf] - 1
        return np.asarray(self.first[leaf] + np.minimum(occurrence_of(leaf), last))
