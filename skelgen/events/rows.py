"""Number equal rows of a structured array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FIRST = 1 << 10


class RowTable:
    """Distinct rows in the order of their first appearance.

    Parameters
    ----------
    dtype : dtype
        Of a row; its size is a multiple of four bytes without padding.
    """

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self._rows = np.zeros(_FIRST, dtype)
        self._slots = np.zeros(4 * _FIRST, np.uint32)
        self._used = 0

    @property
    def rows(self) -> NDArray[np.void]:
        """Return the distinct rows."""
        return self._rows[: self._used].copy()

    def at(self, numbers: NDArray[np.uint32]) -> NDArray[np.void]:
        """Return the rows with these numbers."""
        return self._rows[numbers]

    def number(self, rows: NDArray[np.void]) -> NDArray[np.uint32]:
        """Return numbers of rows; new ones are appended to the table."""
        from skelgen._kernels._rows import ffi, lib

        rows = np.ascontiguousarray(rows)
        numbers = np.empty(len(rows), np.uint32)
        done = 0

        def pointer(array: NDArray[Any], kind: str) -> Any:
            return ffi.cast(f"{kind} *", array.ctypes.data)

        while done < len(rows):
            used = lib.skelgen_rows_number(
                pointer(rows[done:], "uint8_t"),
                len(rows) - done,
                rows.itemsize,
                pointer(self._rows, "uint8_t"),
                len(self._rows),
                self._used,
                pointer(self._slots, "uint32_t"),
                len(self._slots).bit_length() - 1,
                pointer(numbers[done:], "uint32_t"),
            )
            if used >= 0:
                self._used = used
                break
            done += -1 - used
            self._used = len(self._rows)
            self._grow()
        return numbers

    def _grow(self) -> None:
        old = self._rows
        self._rows = np.zeros(2 * len(old), old.dtype)
        self._slots = np.zeros(4 * len(self._rows), np.uint32)
        self._used = 0
        self.number(old)


def number_plainly(
    known: dict[bytes, int], rows: NDArray[np.void]
) -> NDArray[np.uint32]:
    """Do what `RowTable.number` does, in Python: the tests compare the two."""
    return np.array(
        [known.setdefault(row.tobytes(), len(known)) for row in rows], np.uint32
    )
