"""The calls of a run in parts: work on many goes part by part, for less memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import empty_column

#: Calls of a part.
_PART = 1 << 15


def rank_slices(first: NDArray[np.int64]) -> list[slice]:
    """Return the calls of each rank.

    Work on millions of calls goes rank by rank, for less memory at a time.
    """
    bounds = first.tolist()
    return [slice(*pair) for pair in pairwise(bounds)]


def parts_of(first: NDArray[np.int64]) -> list[slice]:
    """Return the calls of each rank in parts whose columns fit into the cache."""
    return [
        slice(begin, min(begin + _PART, own.stop))
        for own in rank_slices(first)
        for begin in range(own.start, own.stop, _PART)
    ]


def blocks_of(first: NDArray[np.int64]) -> list[slice]:
    """Return the calls in parts that fit into the cache, whatever their ranks are."""
    calls = int(first[-1])
    return [slice(begin, min(begin + _PART, calls)) for begin in range(0, calls, _PART)]


def ranks_together(first: NDArray[np.int64]) -> list[range]:
    """Return ranges of ranks with few calls together, or of one rank.

    Examples
    --------
    >>> ranks_together(np.array([0, 3, 5, 90_000, 90_001]))
    [range(0, 2), range(2, 3), range(3, 4)]
    """
    bounds, found, begin = first.tolist(), list[range](), 0
    for rank in range(1, len(bounds) - 1):
        if bounds[rank + 1] - bounds[begin] > _PART:
            found.append(range(begin, rank))
            begin = rank
    return [*found, range(begin, len(bounds) - 1)] if len(bounds) > 1 else found


def ranks_in(first: NDArray[np.int64], block: slice) -> NDArray[np.int64]:
    """Return the rank of each call of a block.

    Examples
    --------
    >>> ranks_in(np.array([0, 2, 2, 5]), slice(1, 4)).tolist()
    [0, 2, 2]
    """
    if block.stop <= block.start:
        return np.zeros(0, np.int64)
    ends = np.searchsorted(first, (block.start, block.stop - 1), side="right")
    ranks = np.arange(ends[0] - 1, ends[1])
    edges = np.clip(first[ranks[0] : ranks[-1] + 2], block.start, block.stop)
    return np.repeat(ranks, np.diff(edges))


def rank_of(first: NDArray[np.int64], part: slice) -> int:
    """Return the rank of a part."""
    return int(np.searchsorted(first, part.start, side="right")) - 1


def members_in(
    whole_event: NDArray[np.int64], part: slice
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the calls of a part that belong to an event, and their events.

    Parameters
    ----------
    whole_event : (n,) int64 array
        Of each call of a run; -1 where there is none.
    part : slice
    """
    own = whole_event[part]
    rows = np.flatnonzero(own >= 0)
    return part.start + rows, own[rows]


def looked_up(
    table: NDArray[Any], rows: NDArray[np.integer], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return ``table[rows]``: NumPy alone takes 8 bytes more for each narrow row.

    Parameters
    ----------
    table : array
    rows : (n,) integer array
    out : (n,) array, optional
        Filled and returned; it may be `rows` itself.

    Examples
    --------
    >>> looked_up(np.array([5, 7]), np.array([1, 1, 0], np.int32)).tolist()
    [7, 7, 5]
    """
    found = empty_column(len(rows), table.dtype) if out is None else out
    for begin in range(0, len(rows), _PART):
        part = slice(begin, begin + _PART)
        found[part] = table[rows[part]]
    return found
