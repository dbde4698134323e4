"""Cut a row of points into stretches of which each is explained by one function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_cuts(costs: NDArray[np.float64], price: float, *, most: int) -> list[int]:
    """Return where the stretches begin whose costs and prices have the smallest sum.

    Parameters
    ----------
    costs : ndarray, shape (points, points)
        What a stretch from a first to a last point leaves unexplained; infinite where
        there can be none.
    price : float
        Of each stretch.
    most : int
        Stretches, at most.

    Returns
    -------
    list of int
        Number of the first point of each stretch; 0 comes first.

    Examples
    --------
    >>> costs = np.array([[0.0, 0, 9], [9, 0, 9], [9, 9, 0]])
    >>> best_cuts(costs, 1.0, most=3)
    [0, 2]
    """
    count = len(costs)
    # best[k, n]: of the first n points in k stretches; came: where the last began.
    best = np.full((most + 1, count + 1), np.inf)
    came = np.zeros((most + 1, count + 1), int)
    best[0, 0] = 0.0
    for k in range(1, most + 1):
        for n in range(1, count + 1):
            sums = best[k - 1, :n] + costs[:n, n - 1]
            came[k, n] = int(np.argmin(sums))
            best[k, n] = sums[came[k, n]]
    totals = best[1:, count] + price * np.arange(1, most + 1)
    if not np.any(np.isfinite(totals)):
        return [0]
    k, n = int(np.argmin(totals)) + 1, count
    cuts: list[int] = []
    while k:
        n = int(came[k, n])
        cuts.append(n)
        k -= 1
    return cuts[::-1]
