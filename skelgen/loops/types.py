"""The loop nest of one string of symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """A string of symbols as nested loops, without loss.

    Items stand in prefix order: a loop is followed by the items of its body.

    Attributes
    ----------
    body_items : (items,) int32 array
        0 for a leaf; for a loop the number of items in its body, all levels.
    symbol : (items,) int32 array
        Symbol of a leaf; -1 for a loop.
    trips_first : (items + 1,) int64 array
        Trip counts of item i are rows ``trips_first[i]`` to ``trips_first[i + 1]``
        of `trips`; a leaf has none.
    trips : (rows, 2) int64 array
        Run-length code of a loop's trip counts in the order of its executions:
        (trips, how many executions in a row have them).

    Examples
    --------
    The string a b b a b b is one loop of two trips around a and a loop around b::

        body_items  3  0  1  0
        symbol     -1  a -1  b
        trips      (2, 1) of the first loop, (2, 2) of the second
    """

    body_items: NDArray[np.int32]
    symbol: NDArray[np.int32]
    trips_first: NDArray[np.int64]
    trips: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of items, the length of the signature."""
        return len(self.symbol)
