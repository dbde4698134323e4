"""Read a string several times: later readings know bodies from the first symbol on.

The first iterations of a loop may look different because an inner loop had not shown
itself yet: it ran just once. A second reading knows the innermost bodies, a third the
bodies around them, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from skelgen.loops.single_trips import without_single_trips
from skelgen.loops.thresholds import FEW_ITEMS, MOST_READ_DEPTH, SYMBOLS_PER_FOLDED_ITEM
from skelgen.loops.types import Nest

Reading = Callable[[Nest, int], Nest]
"""Read the string, knowing the bodies of a nest up to a depth."""

Knowledge = Callable[[Nest, int], Hashable]
"""What a reading knows that is given a nest and a depth."""

#: Symbols up to so many times the number of leaves are looked up in a table.
_SPARSE = 8

_NOTHING = Nest(
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(1, np.int64),
    np.zeros((0, 2), np.int64),
)


def settle(read: Reading, known: Knowledge, length: int) -> Nest:
    """Return the shortest nest of some readings.

    A reading that would know what the one before knew is left out: it finds the same.

    Parameters
    ----------
    read : callable
        Its nests may hold loops that always ran once.
    known : callable
    length : int
        Symbols of the string.
    """
    found = read(_NOTHING, 0)
    best = without_single_trips(found)
    small = max(FEW_ITEMS, length // SYMBOLS_PER_FOLDED_ITEM)
    knew = known(_NOTHING, 0)
    for depth in range(1, MOST_READ_DEPTH):
        if not _can_shrink(best, length) or depth > deepest(found):
            break
        knows = known(found, depth)
        gain = 0
        if knows != knew:
            knew = knows
            again = read(found, depth)
            nest = without_single_trips(again)
            gain = len(best) - len(nest)
            if gain >= 0:
                found = again
            if gain > 0:
                best = nest
        if len(best) > small and gain < len(best) // 8:
            break
    return best


def _can_shrink(nest: Nest, length: int) -> bool:
    """Say whether the string has loops, and a symbol stands in two places."""
    if len(nest) > max(FEW_ITEMS, length * 4 // 5):
        return False
    leaves = nest.symbol[nest.body_items == 0]
    most = int(leaves.max(initial=0))
    if most < len(leaves) - 1:
        return True
    if most > _SPARSE * len(leaves):
        return len(np.unique(leaves)) < len(leaves)
    used = np.zeros(most + 1, bool)
    used[leaves] = True
    return int(np.count_nonzero(used)) < len(leaves)


def deepest(nest: Nest) -> int:
    """Return how many loops of more than one item stand inside each other at most."""
    loops = np.flatnonzero(nest.body_items > 1)
    change = np.zeros(len(nest) + 1, np.int64)
    change[loops] += 1
    np.subtract.at(change, loops + 1 + nest.body_items[loops], 1)
    return int(np.cumsum(change).max(initial=0))
