"""The calls of a run in parts: work on many goes part by part, for less memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

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
