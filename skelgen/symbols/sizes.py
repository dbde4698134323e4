"""Cluster message sizes, so that drifting sizes are one symbol."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import copied_column
from skelgen.events import CallKind, Calls
from skelgen.events.functions import COLLECTIVES, RECEIVING, SENDING
from skelgen.matching import Matching
from skelgen.symbols.key_numbers import combine
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.thresholds import LARGEST_SIZE_GAP, SMALL_MESSAGE_BYTES

#: Messages that are looked at at a time: for less memory.
_PART = 1 << 16
#: Kinds whose calls have a size of their own.
SIZED = (*SENDING, *RECEIVING, *COLLECTIVES, CallKind.RMA)


def message_bytes(calls: Calls, matching: Matching, pairs: Pairs) -> NDArray[np.int64]:
    """Return what each call sends or, for receives, what arrived.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    pairs : Pairs

    Returns
    -------
    (n,) int64 array
        Sizes [bytes], not to be changed; a Start has those of the messages that it
        starts.
    """
    size, sent = calls.size_bytes, matching.message_bytes
    starts = pairs.is_kind(CallKind.START)
    takes = pairs.is_kind(CallKind.RECEIVE, CallKind.IRECEIVE)
    other = size
    for begin in range(0, len(sent), _PART):
        part = slice(begin, begin + _PART)
        call = matching.receive_call[part]
        arrived = takes[pairs.of_call[call]] & (size[call] != sent[part])
        if arrived.any():
            other = size.copy() if other is size else other
            other[call[arrived]] = sent[part][arrived]
    if not starts.any():
        return other  # where nothing changes: no copy
    other = size.copy() if other is size else other
    for call in (matching.send_call, matching.receive_call):
        started = np.flatnonzero(starts[pairs.of_call[call]])
        np.add.at(other, call[started], sent[started])
    return other


def distinct_sizes(
    row_of_call: NDArray[np.int32],
    key: NDArray[np.int64],
    size_bytes: NDArray[np.int64],
    parts: list[slice],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Find the distinct combinations of a key and a size.

    Parameters
    ----------
    row_of_call : (n,) int32 array
        Row of `key` that each call belongs to.
    key : (rows,) int64 array
        Sizes are clustered among calls with the same key; -1: no size.
    size_bytes : (n,) int64 array
        [bytes].
    parts : list of slice
        All calls, one part after the other.

    Returns
    -------
    code : (n,) int32 array
        Combination of each call.
    keys, sizes : (combinations,) int64 arrays
    """
    usual = np.zeros(len(key), np.int64)
    usual[row_of_call] = size_bytes  # whatever call comes last
    code = copied_column(row_of_call)
    keys, sizes, known = [key], [np.where(key < 0, 0, usual)], len(key)
    for part in parts:
        rows, size = row_of_call[part], size_bytes[part]
        other = np.flatnonzero(size != usual[rows])
        other = other[key[rows[other]] >= 0]
        if not len(other):
            continue
        of_other, size = key[rows[other]], size[other]
        number = combine(of_other, size)
        first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
        first[number[::-1]] = np.arange(len(number))[::-1]
        code[part][other] = known + number
        keys.append(of_other[first])
        sizes.append(size[first])
        known += len(first)
    all_keys, all_sizes = np.concatenate(keys), np.concatenate(sizes)
    number = combine(all_keys, all_sizes)
    first = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    for part in parts:
        code[part] = number[code[part]]
    return code, all_keys[first], all_sizes[first]


def size_classes(
    keys: NDArray[np.int64], sizes: NDArray[np.int64], threshold: float | None
) -> NDArray[np.int32]:
    """Cluster the sizes of each key.

    Parameters
    ----------
    keys, sizes : (m,) int64 arrays
        Distinct combinations; key -1 has no sizes. Sizes in bytes.
    threshold : float or None
        None: split where neighbouring sizes differ by more than a factor of two.
        Else sizes of a cluster differ at most by this share of the larger one
        [0 to 1].

    Returns
    -------
    (m,) int32 array
        Number of the cluster among those of its key, smallest sizes first; -1 for
        key -1.

    References
    ----------
    Sodhi and Subhlok 2005, section III-B: the threshold relates linearly to the
    largest difference of sizes in a cluster.

    Examples
    --------
    >>> size_classes(np.zeros(4, int), np.array([0, 4000, 10000, 6000]), None).tolist()
    [0, 1, 1, 1]
    >>> size_classes(np.zeros(3, int), np.array([1800, 2000, 1700]), 0.1).tolist()
    [0, 1, 0]
    """
    order = np.lexsort((sizes, keys))
    key, size = keys[order], sizes[order]
    new_key = np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]
    if threshold is None:
        near = np.maximum(size, SMALL_MESSAGE_BYTES)
        apart = np.concatenate([[False], near[1:] > LARGEST_SIZE_GAP * near[:-1]])[
            : len(key)
        ]
        begins = new_key | apart
    else:
        begins = _widest_clusters(new_key, size, threshold)
    number = np.cumsum(begins)
    first = np.maximum.accumulate(np.where(new_key, number, 0))
    classes = np.empty(len(keys), np.int32)
    classes[order] = np.where(key < 0, -1, number - first)
    return classes


def _widest_clusters(
    new_key: NDArray[np.bool_], size: NDArray[np.int64], threshold: float
) -> NDArray[np.bool_]:
    """Begin a cluster where a size is too far from the smallest one of the last."""
    if threshold <= 0:
        return np.ones(len(size), bool)
    begins = new_key.copy()
    firsts = np.flatnonzero(new_key)
    for first, end in pairwise([*firsts.tolist(), len(size)]):
        at = first
        while threshold < 1:
            # The largest size to which `size[at]` is near enough; rounding must not
            # part sizes that differ by exactly the threshold.
            largest = float(size[at]) / (1 - threshold) * (1 + 1e-12)
            at += int(np.searchsorted(size[at:end], largest, side="right"))
            if at >= end:
                break
            begins[at] = True
    return begins
