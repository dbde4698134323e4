"""The shortest skeleton that can be good.

The dominant sequence is the body of the innermost loop whose iterations together
still hold most of the application's time. A skeleton is good when it holds one full
iteration of it, which takes K up to the number of those iterations in the run. Where
no single loop holds that much (several phases one after the other), the largest loops
that together do are all needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.signature import RankGroup, Signature

#: Share of the application's time that the dominant sequence holds.
DOMINANT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class _Loop:
    item: int
    end: int
    share: float
    iterations: int


def largest_good_scale(signature: Signature) -> float:
    """Return the scaling factor of the shortest good skeleton [1].

    Parameters
    ----------
    signature : Signature

    Returns
    -------
    float
        1 when nothing dominant repeats.

    References
    ----------
    Sodhi and Subhlok 2005, section III-D.
    """
    scales = [_scale_of_group(group) for group in signature.groups]
    return float(max(1, min(scales, default=1)))


def _scale_of_group(group: RankGroup) -> int:
    nest = group.nest
    time_ns = (group.compute_ns.total + group.mpi_ns).mean(axis=1)
    total_ns = time_ns.sum() + group.tail_ns.mean()
    if not len(nest) or total_ns <= 0:
        return 1
    leaf = nest.body_items == 0
    item_ns = np.zeros(len(nest))
    item_ns[leaf] = time_ns
    before_ns = np.concatenate([[0.0], np.cumsum(item_ns)])
    loops = [
        _Loop(item, item + 1 + int(items), share, _iterations(group, item))
        for item, items in enumerate(nest.body_items.tolist())
        if items
        and (share := (before_ns[item + 1 + items] - before_ns[item]) / total_ns) > 0
    ]
    dominant = [loop for loop in loops if loop.share >= DOMINANT_SHARE]
    if dominant:
        # Loops stand in prefix order and only one at each depth can hold so much.
        return dominant[-1].iterations
    return _several(loops)


def _several(loops: list[_Loop]) -> int:
    """Return the fewest iterations of the largest outer loops that together do."""
    outer: list[_Loop] = []
    for loop in loops:
        if not outer or loop.item >= outer[-1].end:
            outer.append(loop)
    share, fewest = 0.0, 0
    for loop in sorted(outer, key=lambda one: -one.share):
        share += loop.share
        fewest = min(fewest or loop.iterations, loop.iterations)
        if share >= DOMINANT_SHARE:
            return fewest
    return 1


def _iterations(group: RankGroup, item: int) -> int:
    first, last = group.nest.trips_first[item : item + 2]
    rows: NDArray[np.int64] = group.nest.trips[first:last]
    return int((rows[:, 0] * rows[:, 1]).sum())
