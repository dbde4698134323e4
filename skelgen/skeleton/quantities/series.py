"""Take a few values of a quantity, in the order of time, from a leaf's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.keep.selection import strata
from skelgen.skeleton.types import OccurrenceSeries, Operation, Program
from skelgen.units import NS_PER_S

#: Most columns of a `Series`.
MOST_COLUMNS = 16


def sampled(samples: NDArray[np.float64], columns: int) -> NDArray[np.float64] | None:
    """Return values from the middle of as many strata of the samples.

    Parameters
    ----------
    samples : (..., s) float64 array
        In the order of time, NaN beyond a leaf's number of samples.
    columns : int

    Returns
    -------
    (..., columns) float64 array, or None when there are no samples

    Examples
    --------
    >>> sampled(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 2).tolist()
    [2.0, 4.0]
    """
    known = ~np.isnan(samples)
    valid = int(known.reshape(-1, samples.shape[-1]).all(axis=0).sum())
    if not valid:
        return None
    if columns >= valid:
        picked = np.arange(columns) * valid // columns
    else:
        picked = strata(valid, columns)
    return np.asarray(samples[..., picked], np.float64)


def occurrences_of_columns(columns: int, occurrences: int) -> NDArray[np.int64]:
    """Return how many of n occurrences take each column ``k * s // n``.

    Examples
    --------
    >>> occurrences_of_columns(2, 5).tolist()
    [3, 2]
    """
    # Column j begins at the first k with k * s >= j * n.
    begins = -(-np.arange(columns + 1) * occurrences // columns)
    return np.diff(begins)


def series_sums(values: NDArray[np.float64], occurrences: int) -> NDArray[np.float64]:
    """Return the sum of a series over all occurrences, for each rank.

    Examples
    --------
    >>> series_sums(np.array([[1.0, 10.0]]), 5).tolist()
    [23.0]
    """
    weight = occurrences_of_columns(values.shape[1], occurrences)
    return np.asarray(values @ weight.astype(np.float64))


def longest_compute_s(programs: Sequence[Program]) -> float:
    """Return the computation of the rank that computes longest [s].

    A skeleton prints what each rank really took for it (`compute_s`).
    """
    longest_ns = 0.0
    for program in programs:
        each_ns = program.tail_ns + program.head_ns
        for one in program.operations:
            each_ns = each_ns + series_sums(one.compute_ns.values, one.occurrences)
        longest_ns = max(longest_ns, float(each_ns.max(initial=0.0)))
    return longest_ns / NS_PER_S


def taken(
    values: NDArray[np.float64], turns: NDArray[np.int64], often: int
) -> NDArray[np.float64]:
    """Return the values at some occurrences, in few columns where that is exact.

    Parameters
    ----------
    values : (ranks, s) float64 array
        Occurrence k of n takes column ``k * s // n``.
    turns : (m,) int64 array
        The occurrences, ascending.
    often : int
        n.

    Examples
    --------
    >>> taken(np.array([[1.0, 2.0]]), np.array([0, 1, 2]), 8).tolist()
    [[1.0]]
    """
    columns = values.shape[1]
    taken = values[:, turns * columns // often]
    for fewer in (1, columns):
        if fewer >= len(turns):
            break
        spread = np.arange(len(turns)) * fewer // len(turns)
        sample = taken[:, np.searchsorted(spread, np.arange(fewer))]
        if (sample[:, spread] == taken).all():
            return sample
    return taken


def summed(values: NDArray[np.float64], columns: int) -> NDArray[np.float64]:
    """Return averages of neighbours where there are more columns; sums remain.

    Examples
    --------
    >>> summed(np.array([[1.0, 2.0, 3.0, 5.0]]), 2).tolist()
    [[1.5, 4.0]]
    """
    if values.shape[1] <= columns:
        return values
    count = occurrences_of_columns(columns, values.shape[1])
    sums = np.add.reduceat(values, np.cumsum(count) - count, axis=1)
    return np.asarray(sums / count)


def part(whole: Operation, turns: NDArray[np.int64]) -> Operation:
    """Return some of an operation's occurrences as an operation of its own.

    Parameters
    ----------
    whole : Operation
    turns : (m,) int64 array
        The occurrences, ascending.
    """
    if len(turns) == whole.occurrences:
        return whole
    size = taken(whole.size_bytes.values, turns, whole.occurrences)
    peers = whole.peers
    compute = taken(whole.compute_ns.values, turns, whole.occurrences)
    return replace(
        whole,
        occurrences=len(turns),
        compute_ns=OccurrenceSeries(summed(compute, MOST_COLUMNS)),
        size_bytes=OccurrenceSeries(size),
        peers=peers[turns % len(peers)] if len(peers) else peers,
    )
