"""A quantity of the calls of one rank that have a symbol, without a copy of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skelgen.events.narrow import Rows


class PositionValues(Protocol):
    """What gives the values of a range of positions, or of some positions."""

    def __getitem__(self, rows: Rows, /) -> NDArray[np.int64]:
        """Return them."""


class RankValues:
    """The values of those calls of a rank that are wanted, by their positions.

    Parameters
    ----------
    of_calls : callable
        Returns the values of calls of the run.
    first : int
        The first call of the rank.
    wanted : (n,) bool array
        Of its calls.

    Examples
    --------
    >>> of_calls = np.array([7, 8, 9, 10]).__getitem__
    >>> values = RankValues(of_calls, 1, np.array([True, False, True]))
    >>> values[0:2].tolist(), values[np.array([1])].tolist()
    ([8, 10], [10])
    """

    def __init__(
        self,
        of_calls: Callable[[Rows], NDArray[np.int64]],
        first: int,
        wanted: NDArray[np.bool_],
    ) -> None:
        self._of_calls, self._first = of_calls, first
        self._rows: NDArray[np.int64] | None = None
        if not wanted.all():
            self._rows = np.flatnonzero(wanted)
            self._rows += first

    def __getitem__(self, rows: Rows, /) -> NDArray[np.int64]:
        """Return the values of a range of positions, or of some positions."""
        if self._rows is not None:
            return self._of_calls(self._rows[rows])
        if isinstance(rows, slice):
            return self._of_calls(
                slice(rows.start + self._first, rows.stop + self._first)
            )
        return self._of_calls(rows + self._first)
