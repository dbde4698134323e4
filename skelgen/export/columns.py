"""Columns of a kernel's struct of arrays, and selections of their rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.export.kernel import address, halves


class Columns:
    """Named columns of one length; a selection gathers those that are asked for.

    Parameters
    ----------
    arrays : dict of str to array
    rows : array or slice
        Which rows of the arrays these are.
    count : int
        How many.
    """

    __slots__ = ("_arrays", "_gathered", "_rows", "count")

    def __init__(
        self, arrays: dict[str, NDArray[Any]], rows: NDArray[Any] | slice, count: int
    ) -> None:
        self._arrays, self._rows, self.count = arrays, rows, count
        self._gathered: dict[str, NDArray[Any]] = {}

    @classmethod
    def room(cls, name: str, count: int) -> Columns:
        """Return room for what a struct of `halves` points to: the kernel fills it."""
        arrays = {field: np.empty(count, number) for field, number in _fields(name)}
        return cls(arrays, slice(None), count)

    def attach(self, struct: Any) -> None:
        """Point the kernel's struct to columns that `room` made."""
        for name, array in self._arrays.items():
            kind = "int64_t" if array.dtype == np.int64 else "int32_t"
            setattr(struct, name, address(halves(), array, kind))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = self._gathered.get(name)
        if found is None:
            found = self._gathered[name] = self._arrays[name][self._rows]
        return found

    def first(self, count: int) -> Columns:
        """Return the first rows of columns that `room` made."""
        return Columns(self._arrays, slice(count), count)

    def at(self, rows: NDArray[Any]) -> Columns:
        """Return some rows.

        Parameters
        ----------
        rows : int or bool array
            Their numbers among these, or which of these.
        """
        if rows.dtype == bool:
            if rows.all():
                return self
            rows = np.flatnonzero(rows)
        if isinstance(self._rows, slice):
            return Columns(self._arrays, rows, len(rows))
        return Columns(self._arrays, self._rows[rows], len(rows))


@cache
def _fields(name: str) -> tuple[tuple[str, type[np.int32 | np.int64]], ...]:
    """Return the pointers of a struct of `halves`, and what they point to."""
    fields = halves().ffi.typeof(f"struct skelgen_{name}").fields
    return tuple(
        (field, np.int64 if "64" in kind.type.cname else np.int32)
        for field, kind in fields
    )
