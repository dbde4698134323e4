"""Number equal rows of a structured array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FIRST = 1 << 10


def joined_rows(tables: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Join tables of one dtype; a single one is not copied.

    Examples
    --------
    >>> one, two = (np.array([row], "i4,i8") for row in ((1, 2), (3, 4)))
    >>> joined_rows([one, two]).tolist()
    [(1, 2), (3, 4)]
    """
    if len(tables) == 1:
        return tables[0]
    dtype = tables[0].dtype  # as bytes: NumPy would compare the columns of all
    plain = [np.ascontiguousarray(one).view(f"V{dtype.itemsize}") for one in tables]
    return np.concatenate(plain).view(dtype)


def copied_rows(table: NDArray[np.void]) -> NDArray[np.void]:
    """Return a copy of a table without gaps in it.

    Examples
    --------
    >>> copied_rows(np.array([(1, 2)], "i4,i8")).tolist()
    [(1, 2)]
    """
    dtype = table.dtype  # as bytes: NumPy would copy column by column
    return table.view(f"V{dtype.itemsize}").copy().view(dtype)


class RowTable:
    """Distinct rows in the order of their first appearance.

    Parameters
    ----------
    dtype : dtype
        Of a row; its size is a multiple of four bytes without padding.
    counter : str
        A 32-bit column whose values may count from row to row: the table is laid out
        so that this is fast.
    """

    def __init__(self, dtype: np.dtype[np.void], counter: str) -> None:
        from skelgen._kernels._rows import ffi

        self._state = ffi.new("struct skelgen_rows *")
        self._state.width = dtype.itemsize
        assert dtype.fields is not None
        self._state.counter = dtype.fields[counter][1]
        self._rows = np.zeros(_FIRST, dtype)
        self._attach()

    def _attach(self) -> None:
        from skelgen._kernels._rows import ffi

        state = self._state
        self._slots = np.zeros(2 * len(self._rows), np.uint32)
        state.table = ffi.cast("uint8_t *", self._rows.ctypes.data)
        state.capacity, state.used = len(self._rows), 0
        state.slots = ffi.cast("uint32_t *", self._slots.ctypes.data)
        state.slot_bits = len(self._slots).bit_length() - 1

    @property
    def rows(self) -> NDArray[np.void]:
        """Return the distinct rows."""
        return self._rows[: self._state.used]

    def at(self, numbers: NDArray[np.uint32]) -> NDArray[np.void]:
        """Return the rows with these numbers."""
        return self._rows.take(numbers)

    def number(self, rows: NDArray[np.void]) -> NDArray[np.uint32]:
        """Return numbers of rows; new ones are appended to the table."""
        rows = np.ascontiguousarray(rows)
        numbers = np.empty(len(rows), np.uint32)
        done = self._number(rows, numbers)
        while done < len(rows):
            self._grow()
            done += self._number(rows[done:], numbers[done:])
        return numbers

    def _number(self, rows: NDArray[np.void], numbers: NDArray[np.uint32]) -> int:
        from skelgen._kernels._rows import ffi, lib

        def pointer(array: NDArray[Any], kind: str) -> Any:
            return ffi.cast(f"{kind} *", array.ctypes.data)

        return int(
            lib.skelgen_rows_number(
                self._state,
                pointer(rows, "uint8_t"),
                len(rows),
                pointer(numbers, "uint32_t"),
            )
        )

    def _grow(self) -> None:
        old = self.rows
        self._rows = np.zeros(2 * len(old), old.dtype)
        self._attach()
        self._number(old, np.empty(len(old), np.uint32))
