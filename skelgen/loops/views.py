"""Look at nests: items of a body, trips of a loop, whether two nests are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.types import Nest


def children(nest: Nest, item: int = -1) -> list[int]:
    """Return the items of a loop's body, those of the whole string for -1.

    Parameters
    ----------
    nest : Nest
    item : int

    Examples
    --------
    >>> from skelgen.loops import fold
    >>> nest = fold(np.array([0, 1, 1, 0, 1, 1, 2], np.int32))
    >>> children(nest), children(nest, 0)
    ([0, 4], [1, 2])
    """
    inner, found = item + 1, []
    end = len(nest) if item < 0 else inner + int(nest.body_items[item])
    while inner < end:
        found.append(inner)
        inner += 1 + int(nest.body_items[inner])
    return found


def trip_rows(nest: Nest, item: int) -> NDArray[np.int64]:
    """Return the rows of a loop: trips, and how many executions in a row have them.

    Examples
    --------
    >>> from skelgen.loops import fold
    >>> trip_rows(fold(np.array([0, 1, 1, 0, 1, 1, 2], np.int32)), 2).tolist()
    [[2, 2]]
    """
    first, end = nest.trips_first[item : item + 2].tolist()
    rows: NDArray[np.int64] = nest.trips[first:end]
    return rows


def same(one: Nest, other: Nest) -> bool:
    """Say whether two nests have the same loops, symbols and trip counts."""
    return all(
        np.array_equal(getattr(one, column), getattr(other, column))
        for column in ("body_items", "symbol", "trips_first", "trips")
    )
