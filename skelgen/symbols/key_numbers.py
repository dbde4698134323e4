"""Number equal keys and equal rows: millions of calls become few combinations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import empty_column

_SMALLEST, _GROWTH = 1 << 12, 64
#: Elements of ragged rows that are compared one by one; the others of a row at once.
_ONE_BY_ONE = 32


def factorise(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give equal keys equal numbers from 0, in the order of their first appearance.

    Parameters
    ----------
    keys : (n,) int64 array

    Returns
    -------
    code : (n,) int32 array
        Number of each key.
    first : (numbers,) int64 array
        Position at which each number appears first.

    Examples
    --------
    >>> code, first = factorise(np.array([7, 7, 3, 7, 5]))
    >>> code.tolist(), first.tolist()
    ([0, 0, 1, 0, 2], [0, 2, 4])
    """
    from skelgen._kernels._factorise import ffi, lib

    keys = np.ascontiguousarray(keys, dtype=np.int64)
    code = empty_column(len(keys), np.int32)
    capacity = min(_SMALLEST, len(keys))
    while True:
        bits = max((2 * capacity).bit_length(), 1)
        slots = np.full(1 << bits, -1, np.int32)
        first = np.empty(capacity, np.int64)
        used = lib.skelgen_factorise(
            ffi.cast("int64_t *", keys.ctypes.data),
            len(keys),
            ffi.cast("int32_t *", slots.ctypes.data),
            bits,
            ffi.cast("int64_t *", first.ctypes.data),
            capacity,
            ffi.cast("int32_t *", code.ctypes.data),
        )
        if used >= 0:
            return code, first[:used].copy()
        capacity = min(capacity * _GROWTH, len(keys))


def factorise_parts(
    parts: list[slice], key_of: Callable[[slice], NDArray[np.int64]]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Do what `factorise` does, with the keys of one part of the array at a time.

    Each part is numbered, then the few different keys of all parts.

    Parameters
    ----------
    parts : list of slice
        One after the other they are the whole array.
    key_of : callable
        Returns the keys of a part.

    Examples
    --------
    >>> keys = np.array([7, 7, 3, 7, 5])
    >>> code, first = factorise_parts([slice(0, 2), slice(2, 5)], keys.__getitem__)
    >>> code.tolist(), first.tolist()
    ([0, 0, 1, 0, 2], [0, 2, 4])
    """
    code = empty_column(parts[-1].stop if parts else 0, np.int32)
    keys, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for part in parts:
        key = key_of(part)
        code[part], first = factorise(key)
        keys.append(key[first])
        places.append(first + part.start)
    number, first = factorise(np.concatenate(keys))
    done = 0
    for part, known in zip(parts, keys[1:], strict=True):
        code[part] = number[done : done + len(known)][code[part]]
        done += len(known)
    return code, np.concatenate(places)[first]


def combine(*columns: NDArray[np.integer]) -> NDArray[np.int64]:
    """Make one key of several columns, different where any of them differs.

    Examples
    --------
    >>> combine(np.array([0, 0, 1]), np.array([-2, 5, -2])).tolist()
    [0, 1, 2]
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        low = int(column.min(initial=0))
        span = int(column.max(initial=0)) - low + 1
        if span == 1:
            continue
        if int(key.max(initial=0)) >= (1 << 62) // span:
            key = factorise(key)[0].astype(np.int64)
        key *= span
        key += column
        key -= low
    return factorise(key)[0].astype(np.int64)


def factorise_rows(
    first: NDArray[np.int64], length: NDArray[np.int64], values: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Give equal ragged rows equal numbers.

    Row i is ``values[first[i]:first[i] + length[i]]``.

    Element by element, as a walk down a trie, and what is left of long rows at once:
    exact, and its cost is the number of elements.

    Examples
    --------
    >>> factorise_rows(np.array([0, 2, 0]), np.array([1, 2, 1]), np.array([4, 5, 4, 5]))
    array([0, 1, 0], dtype=int32)
    """
    low = int(values.min(initial=0))
    span = int(values.max(initial=0)) - low + 1
    code = np.zeros(len(first), np.int64)
    longer = np.flatnonzero(length > 0)
    known, column = 1, 0
    while len(longer) and column < _ONE_BY_ONE:
        elements = values[first[longer] + column] - low
        number, where = factorise(code[longer] * span + elements)
        code[longer] = known + number
        known += len(where)
        column += 1
        longer = longer[length[longer] > column]
    rests: dict[tuple[int, bytes], int] = {}
    for row in longer.tolist():
        rest = values[first[row] + column : first[row] + length[row]].tobytes()
        code[row] = rests.setdefault((int(code[row]), rest), known + len(rests))
    return factorise(code)[0]
