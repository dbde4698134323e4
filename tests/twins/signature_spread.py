"""Twin of `skelgen.signature.spread`, in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.signature.spread import MOST_BINS, Columns


def statistics_plainly(
    leaf: NDArray[np.int32], leaves: int, values: NDArray[np.int64]
) -> Columns:
    """Do what `statistics` does, in Python: the tests compare the two."""
    total, squares = np.zeros(leaves), np.zeros(leaves)
    least, most = np.full(leaves, np.inf), np.full(leaves, -np.inf)
    histogram = np.zeros((leaves, MOST_BINS), np.int64)
    for at, value in zip(leaf.tolist(), values.tolist(), strict=True):
        total[at] += value
        squares[at] += float(value) * float(value)
        least[at] = min(least[at], value)
        most[at] = max(most[at], value)
        histogram[at, max(value, 0).bit_length()] += 1
    return total, squares, least, most, histogram
