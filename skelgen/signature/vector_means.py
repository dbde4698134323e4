"""Means of what vector collectives send to each rank and receive from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class VectorMean:
    """Running mean of the vectors of one leaf and rank."""

    def __init__(self) -> None:
        self.totals: list[NDArray[np.int64] | None] = [None, None]
        self.count = 0

    def add(self, sides: NDArray[np.object_], often: int) -> None:
        """Take equal vectors of some calls: what each sends, what it receives."""
        self.count += often
        for side, vector in enumerate(sides):
            total = self.totals[side]
            if vector is not None:
                more = vector * often
                self.totals[side] = more if total is None else total + more


def vector_means(means: dict[int, VectorMean], ranks: int) -> NDArray[np.float64]:
    """Return the means of one leaf.

    Parameters
    ----------
    means : dict of int to VectorMean
        By the place of the rank.
    ranks : int

    Returns
    -------
    (ranks, 2, p) float64 array
        NaN where there is no vector.
    """
    length = max(
        (
            len(total)
            for mean in means.values()
            for total in mean.totals
            if total is not None
        ),
        default=0,
    )
    result = np.full((ranks, 2, length), np.nan)
    for rank, mean in means.items():
        for side, total in enumerate(mean.totals):
            if total is not None:
                result[rank, side, : len(total)] = total / mean.count
    return result
