"""Keys of things that are compared by hash: how to make them, and to number them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._select import ffi, lib


def label(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give equal keys one number, in the order of their first occurrence.

    Returns
    -------
    labels : (n,) int32 array
    first : (labels,) int64 array
        Where each label occurs first.

    Examples
    --------
    >>> labels, first = label(np.array([7, 3, 7, 9], np.uint64))
    >>> labels.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    keys = np.ascontiguousarray(keys)
    labels = np.empty(len(keys), np.int32)
    first = np.empty(len(keys), np.int64)
    found = lib.skelgen_label(
        len(keys),
        ffi.from_buffer("uint64_t[]", keys),
        ffi.from_buffer("int32_t[]", labels, require_writable=True),
        ffi.from_buffer("int64_t[]", first, require_writable=True),
    )
    if found < 0:
        raise MemoryError
    return labels, first[:found].copy()


def rows_by(values: NDArray[np.integer]) -> list[NDArray[np.int64]]:
    """Return the rows of each value, in the order of the values.

    Examples
    --------
    >>> [rows.tolist() for rows in rows_by(np.array([7, 3, 7]))]
    [[1], [0, 2]]
    """
    order = np.argsort(values, kind="stable")
    cuts = np.flatnonzero(np.diff(values[order])) + 1
    return np.split(order, cuts) if len(order) else []


def occurrence_of(row: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return which of its occurrences each element of a string is.

    Examples
    --------
    >>> occurrence_of(np.array([5, 3, 5, 5, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(row, kind="stable")
    ordered = row[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(begins, len(row)))
    found = np.empty(len(row), np.int64)
    found[order] = np.arange(len(row)) - np.repeat(begins, lengths)
    return found


def mixed(values: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Spread numbers over 64 bits; none becomes 0 but -1."""
    with np.errstate(over="ignore"):
        return scattered(values.astype(np.uint64) + np.uint64(1))


def scattered(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Turn numbers into ones that look random; 0 stays 0.

    References
    ----------
    Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators":
    splitmix64.
    """
    with np.errstate(over="ignore"):
        spread = values * np.uint64(0x9E3779B97F4A7C15)
        spread = (spread ^ (spread >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        spread = (spread ^ (spread >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return spread ^ (spread >> np.uint64(31))
