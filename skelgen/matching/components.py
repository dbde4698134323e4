"""Sets of things that are connected with each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def components(
    node: NDArray[np.int64], call: NDArray[np.int64], nodes: int, calls: int
) -> NDArray[np.int64]:
    """Return the smallest node that each node is connected with through calls."""
    least = np.arange(nodes)
    while True:
        of_call = np.full(calls, nodes)
        np.minimum.at(of_call, call, least[node])
        lower = least.copy()
        np.minimum.at(lower, node, of_call[call])
        lower = lower[lower]
        if np.array_equal(lower, least):
            return least
        least = lower
