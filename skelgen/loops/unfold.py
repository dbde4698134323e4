"""Expand nests again, and look at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._unfold import ffi, lib
from skelgen.loops.types import Nest


def _pointer(kind: str, array: NDArray[Any]) -> Any:
    return ffi.cast(f"{kind} *", array.ctypes.data)


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
    length = lib.skelgen_unfold(
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
