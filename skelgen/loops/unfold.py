"""Expand nests: the string, the leaf of each position, the executions of loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._unfold import ffi, lib
from skelgen.columns import empty_column
from skelgen.errors import InputError
from skelgen.loops.types import Nest


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The executions of all loops of a nest, in the order in which they begin.

    Iteration t of execution e covers the positions from ``bound[first[e] + t]`` up to
    ``bound[first[e] + t + 1]``, which it does not include. So an execution with n
    trips has n + 1 bounds; the executions inside an iteration of it follow it.

    Attributes
    ----------
    item : (executions,) int32 array
        Loop that is executed.
    first : (executions + 1,) int64 array
        Bounds of execution e are ``bound[first[e]:first[e + 1]]``.
    bound : (bounds,) int64 array
        Positions in the string.
    """

    item: NDArray[np.int32]
    first: NDArray[np.int64]
    bound: NDArray[np.int64]

    @property
    def trips(self) -> NDArray[np.int64]:
        """Return the iterations of each execution, (executions,)."""
        return np.diff(self.first) - 1


def expand(nest: Nest) -> NDArray[np.int32]:
    """Return the string of symbols that a nest stands for.

    Raises
    ------
    InputError
        When the trip counts do not fit the loops.

    Examples
    --------
    >>> from skelgen.loops import fold
    >>> expand(fold(np.array([4, 7, 7, 4, 7], np.int32))).tolist()
    [4, 7, 7, 4, 7]
    """
    string: NDArray[np.int32] = nest.symbol[nest.body_items == 0][positions(nest)]
    return string


def positions(nest: Nest) -> NDArray[np.int32]:
    """Return for each position of the string its leaf, numbered in prefix order.

    Raises
    ------
    InputError
        When the trip counts do not fit the loops.
    """
    return _unfold(nest, with_spans=False)[0]


def spans(nest: Nest) -> Spans:
    """Return where every iteration of every loop begins and ends in the string.

    Raises
    ------
    InputError
        When the trip counts do not fit the loops.
    """
    return _unfold(nest, with_spans=True)[1]


def _unfold(nest: Nest, *, with_spans: bool) -> tuple[NDArray[np.int32], Spans]:
    columns = _sound_columns(nest)
    given = ffi.new("struct skelgen_folded *")
    given.items = len(nest)
    for name, column in columns.items():
        setattr(given, name, _pointer(column))
    extent = ffi.new("struct skelgen_extent *")
    status = lib.skelgen_measure(given, extent)
    if status > 0:
        raise _broken("its trip counts do not fit its loops")
    leaf = empty_column(extent.length, np.int32)
    executions = extent.executions if with_spans else 0
    found = Spans(
        np.empty(executions, np.int32),
        np.zeros(executions + 1, np.int64),
        np.empty(executions + extent.iterations if with_spans else 0, np.int64),
    )
    out = [_pointer(column) for column in (found.item, found.first, found.bound)]
    if not with_spans:
        out = [ffi.NULL] * 3
    if status or lib.skelgen_unfold(given, extent, _pointer(leaf), *out):
        raise MemoryError(f"no memory for expanding {extent.length} symbols")
    return leaf, found


def _sound_columns(nest: Nest) -> dict[str, NDArray[Any]]:
    """Return the columns as the kernel reads them, their sizes checked."""
    first = nest.trips_first
    if (
        not len(nest.body_items) == len(nest.symbol) == len(first) - 1
        or nest.trips.ndim != 2
        or nest.trips.shape[1] != 2
        or first[0] != 0
        or first[-1] != len(nest.trips)
        or (np.diff(first) < 0).any()
    ):
        raise _broken("its columns have different lengths")
    return {
        "body_items": np.ascontiguousarray(nest.body_items, np.int32),
        "trips_first": np.ascontiguousarray(first, np.int64),
        "trips": np.ascontiguousarray(nest.trips, np.int64),
    }


def _broken(why: str) -> InputError:
    return InputError(f"a loop nest is broken: {why}; build the signature again")


def _pointer(array: NDArray[Any]) -> Any:
    name = {"i8": "int64_t *", "i4": "int32_t *"}[array.dtype.str[1:]]
    return ffi.cast(name, array.ctypes.data)
