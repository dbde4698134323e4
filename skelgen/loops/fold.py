"""Fold and expand strings of symbols with the C kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skelgen._kernels._fold import ffi, lib
from skelgen.loops.types import Nest


def _pointer(kind: str, array: NDArray[Any]) -> Any:
    return ffi.cast(f"{kind} *", array.ctypes.data)


def fold(symbols: ArrayLike) -> Nest:
    """Fold a string of symbols into nested loops.

    Time and memory are linear in the length of the string.

    Parameters
    ----------
    symbols : (n,) array of int
        Symbols, all >= 0.

    Returns
    -------
    Nest
        Expands to the same string.

    Raises
    ------
    ValueError
        When a symbol is negative.

    References
    ----------
    Sodhi and Subhlok 2005, section III-B, identification of cycles.

    Examples
    --------
    The paper's own string, a b b g b b g b b g k a a:

    >>> nest = fold([0, 1, 1, 2, 1, 1, 2, 1, 1, 2, 3, 0, 0])
    >>> nest.symbol.tolist()
    [0, -1, -1, 1, 2, 3, -1, 0]
    >>> nest.trips.tolist()
    [[3, 1], [2, 3], [2, 1]]
    """
    string = np.ascontiguousarray(symbols, dtype=np.int32)
    if string.size and int(string.min()) < 0:
        raise ValueError("symbols must not be negative")
    handle = lib.skelgen_fold(_pointer("int32_t", string), len(string))
    if handle == ffi.NULL:
        raise MemoryError(f"no memory to fold {len(string)} symbols")
    items = int(lib.skelgen_fold_items(handle))
    rows = int(lib.skelgen_fold_trip_rows(handle))
    nest = Nest(
        body_items=np.zeros(items, np.int32),
        symbol=np.zeros(items, np.int32),
        trips_first=np.zeros(items + 1, np.int64),
        trips=np.zeros((rows, 2), np.int64),
    )
    lib.skelgen_fold_take(
        handle,
        _pointer("int32_t", nest.body_items),
        _pointer("int32_t", nest.symbol),
        _pointer("int64_t", nest.trips_first),
        _pointer("int64_t", nest.trips),
    )
    return nest


def length_of(nest: Nest) -> int:
    """Count the symbols that a nest expands to, without expanding it.

    The order of a loop's executions decides which of its trip counts an enclosing
    iteration gets, but every one is used once: the executions of a loop are the
    iterations of the loop around it.

    Returns
    -------
    int
    """
    total = 0
    ends: list[int] = []
    iterations: list[int] = [1]
    for item in range(len(nest)):
        while ends and ends[-1] <= item:
            ends.pop()
            iterations.pop()
        body = int(nest.body_items[item])
        if body == 0:
            total += iterations[-1]
            continue
        rows = nest.trips[nest.trips_first[item] : nest.trips_first[item + 1]]
        iterations.append(sum(int(trips) * int(times) for trips, times in rows))
        ends.append(item + 1 + body)
    return total


def _expand(nest: Nest, string: Any, leaf: Any, room: int) -> None:
    length = lib.skelgen_fold_expand(
        len(nest),
        _pointer("int32_t", np.ascontiguousarray(nest.body_items)),
        _pointer("int32_t", np.ascontiguousarray(nest.symbol)),
        _pointer("int64_t", np.ascontiguousarray(nest.trips_first)),
        _pointer("int64_t", np.ascontiguousarray(nest.trips)),
        room,
        string,
        leaf,
    )
    if length != room:
        raise ValueError(f"trip counts do not fit the loops: {room} symbols expected")


def expand(nest: Nest) -> NDArray[np.int32]:
    """Expand a nest to the string that was folded.

    Returns
    -------
    (n,) int32 array
    """
    string = np.empty(length_of(nest), np.int32)
    _expand(nest, _pointer("int32_t", string), ffi.NULL, len(string))
    return string


def positions(nest: Nest) -> NDArray[np.int32]:
    """Return the leaf that each element of the expanded string comes from.

    Returns
    -------
    (n,) int32 array
        Leaves are numbered from 0 in prefix order.
    """
    leaves = np.empty(length_of(nest), np.int32)
    _expand(nest, ffi.NULL, _pointer("int32_t", leaves), len(leaves))
    return leaves


def same(one: Nest, other: Nest) -> bool:
    """Tell whether two nests have equal items and trip counts."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("body_items", "symbol", "trips_first", "trips")
    )


def children(nest: Nest, item: int = -1) -> list[int]:
    """List the items of a loop's body, or the outermost ones for item -1."""
    first = item + 1
    end = len(nest) if item < 0 else first + int(nest.body_items[item])
    found = []
    while first < end:
        found.append(first)
        first += 1 + int(nest.body_items[first])
    return found
