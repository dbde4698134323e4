"""Read a string several times: later readings know bodies from the first symbol on.

The first iterations of a loop may look different because an inner loop had not shown
itself yet: it ran just once. A second reading knows the innermost bodies, a third the
bodies around them, and so on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skelgen.loops.types import Nest

Reading = Callable[[Nest, int], Nest]
"""Read the string, knowing the bodies of a nest up to a depth."""

#: Readings of a string whose loops stand inside each other this deep, and deeper.
_MOST = 6
#: A nest with fewer items is always worth another reading.
_FEW = 1000
#: Symbols for each item of a nest; below, the string hardly has loops.
_FOLDED = 2

_NOTHING = Nest(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(1, np.int64),
    np.zeros((0, 2), np.int64),
)


def settle(read: Reading, length: int) -> Nest:
    """Return the shortest nest of some readings.

    Parameters
    ----------
    read : callable
    length : int
        Symbols of the string.
    """
    best = read(_NOTHING, 0)
    for depth in range(1, _MOST):
        if not _can_shrink(best, length) or depth > deepest(best):
            break
        nest = read(best, depth)
        if len(nest) < len(best):
            best = nest
    return best


def _can_shrink(nest: Nest, length: int) -> bool:
    """Say whether a nest has loops, and a symbol stands in two places."""
    if len(nest) > max(_FEW, length // _FOLDED):
        return False
    leaves = nest.symbol[nest.body_items == 0]
    return len(np.unique(leaves)) < len(leaves)


def deepest(nest: Nest) -> int:
    """Return how many loops of more than one item stand inside each other at most."""
    loops = np.flatnonzero(nest.body_items > 1)
    change = np.zeros(len(nest) + 1, np.int64)
    change[loops] += 1
    np.subtract.at(change, loops + 1 + nest.body_items[loops], 1)
    return int(np.cumsum(change).max(initial=0))
