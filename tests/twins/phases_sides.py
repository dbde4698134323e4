"""Raise calls behind cuts, one by one: what the kernel of skelgen.phases.sides does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.phases.sides import Needs


def close(
    side: NDArray[np.int32],
    first: NDArray[np.int64],
    joint: NDArray[np.int64],
    together: NDArray[np.bool_],
    needs: Sequence[Needs],
) -> None:
    """Raise sides until nothing changes."""
    before = None
    while before is None or (side != before).any():
        before = side.copy()
        for needing, needed in needs:
            for one, other in zip(needing, needed, strict=True):
                side[one] = max(side[one], side[other])
        for event in set(joint[together].tolist()):
            rows = together & (joint == event)
            side[rows] = side[rows].max()
        for begin, end in pairwise(first):
            np.maximum.accumulate(side[begin:end], out=side[begin:end])
