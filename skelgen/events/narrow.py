"""Columns of durations that take 32 bits for each call, and no value is lost."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import copied_column, zero_column

#: Elements that are converted at a time: for less memory.
PIECE = 1 << 15
#: What a narrow element says of a value that needs more bits, or is below 0.
_WIDE = np.uint32(0xFFFFFFFF)

Rows: TypeAlias = slice | NDArray[np.integer]


class NarrowColumn:
    """A column of int64 values of which most fit into 32 bits.

    It is read and written like an array; what is read is a new int64 array.

    Parameters
    ----------
    size : int
        Number of elements, all 0.

    Examples
    --------
    >>> column = NarrowColumn.of(np.array([3, 5_000_000_000, -1, 7]))
    >>> column[1:].tolist(), column[np.array([3, 1])].tolist()
    ([5000000000, -1, 7], [7, 5000000000])
    """

    __slots__ = ("_narrow", "_rows", "_values")

    def __init__(self, size: int) -> None:
        self._narrow = zero_column(size, np.uint32)
        #: Places and values of those that do not fit, ascending.
        self._rows = np.zeros(0, np.int64)
        self._values = np.zeros(0, np.int64)

    @classmethod
    def of(cls, values: NDArray[np.int64]) -> NarrowColumn:
        """Return a narrow copy of an array."""
        column = cls(len(values))
        for begin in range(0, len(values), PIECE):
            part = slice(begin, min(begin + PIECE, len(values)))
            column[part] = values[part]
        return column

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self._narrow)

    def __getitem__(self, rows: Rows) -> NDArray[np.int64]:
        """Return the values of a range without step, or at some places."""
        narrow = self._narrow[rows]
        found = narrow.astype(np.int64)
        if not len(self._rows):
            return found
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(len(self))
            some = slice(*np.searchsorted(self._rows, (begin, end)).tolist())
            found[self._rows[some] - begin] = self._values[some]
            return found
        wide = np.flatnonzero(narrow == _WIDE)
        found[wide] = self._values[np.searchsorted(self._rows, rows[wide])]
        return found

    def __setitem__(self, rows: slice, values: NDArray[np.int64]) -> None:
        """Replace a range without step."""
        begin, end, _ = rows.indices(len(self))
        some = slice(*np.searchsorted(self._rows, (begin, end)).tolist())
        wide = np.flatnonzero(values.astype(np.uint64) >= _WIDE)
        narrow = self._narrow[begin:end]
        narrow[:] = values.astype(np.uint32)
        narrow[wide] = _WIDE
        if len(wide) or some.stop > some.start:
            before, after = slice(some.start), slice(some.stop, None)
            self._rows = np.concatenate(
                [self._rows[before], wide + begin, self._rows[after]]
            )
            self._values = np.concatenate(
                [self._values[before], values[wide], self._values[after]]
            )

    def copy(self) -> NarrowColumn:
        """Return another column with the same values."""
        column = NarrowColumn(0)
        column._narrow = copied_column(self._narrow)
        column._rows, column._values = self._rows, self._values
        return column


#: Amounts of calls, narrow or not.
Amounts: TypeAlias = NDArray[np.int64] | NarrowColumn
