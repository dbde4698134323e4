"""Statistics of one quantity at every leaf and rank of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import scattered
from skelgen.signature.thresholds import MOST_SAMPLES
from skelgen.signature.types import Spread

#: Bins of an int64: below 1, then one for each power of two.
MOST_BINS = 64
#: Samples of a whole signature, both quantities.
_ALL_SAMPLES = 200_000
#: Values of ranks that are summarised together.
_TOGETHER = 1 << 16

Columns = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64],
]


def spread_of(
    leaf: NDArray[np.int32],
    leaves: int,
    values: Iterable[NDArray[np.int64]],
    sampled: NDArray[np.int64],
) -> Spread:
    """Summarise a quantity of all ranks of a group.

    Parameters
    ----------
    leaf : (n,) int32 array
        Leaf of each position of the string.
    leaves : int
    values : iterable of (n,) int64 array
        The quantity at each position, for each rank.
    sampled : (leaves, s) int64 array
        Positions of the samples, -1 beyond a leaf's number of samples.

    Returns
    -------
    Spread
    """
    columns: list[Columns] = []
    samples: list[NDArray[np.float64]] = []
    for of_ranks in _together(values, len(leaf)):
        columns.append(statistics_of_ranks(leaf, leaves, of_ranks))
        samples.append(_taken(of_ranks, sampled))
    total, squares, least, most = (
        np.ascontiguousarray(np.concatenate([column[part] for column in columns]).T)
        for part in range(4)
    )
    # Where all values are the same, their sums are products: no rounding on the way.
    same = least == most
    times = np.bincount(leaf, minlength=leaves).astype(np.float64)[:, None]
    total = np.where(same, least * times, total)
    squares = np.where(same, least * (least * times), squares)
    histogram = np.concatenate([column[4] for column in columns]).transpose(1, 0, 2)
    used = np.flatnonzero(histogram.any(axis=(0, 1)))
    bins = int(used[-1]) + 1 if len(used) else 1
    return Spread(
        total=total,
        squares=squares,
        least=least,
        most=most,
        histogram=np.ascontiguousarray(histogram[:, :, :bins]),
        samples=np.ascontiguousarray(np.concatenate(samples).transpose(1, 0, 2)),
    )


def totals_of(
    leaf: NDArray[np.int32], leaves: int, values: Iterable[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Sum a quantity of all ranks of a group at each leaf.

    Parameters
    ----------
    leaf, leaves, values
        As for `spread_of`.

    Returns
    -------
    (leaves, ranks) float64 array
    """
    parts = _together(values, len(leaf))
    totals = [statistics_of_ranks(leaf, leaves, of_ranks)[0] for of_ranks in parts]
    return np.ascontiguousarray(np.concatenate(totals).T)


def _together(
    values: Iterable[NDArray[np.int64]], length: int
) -> Iterator[NDArray[np.int64]]:
    """Give the values of several ranks as the rows of one array."""
    ranks = max(_TOGETHER // max(length, 1), 1)
    rest = iter(values)
    while rows := list(islice(rest, ranks)):
        yield np.stack(rows)


def constant_spread(
    value: NDArray[np.float64], count: NDArray[np.int64], bins: int, samples: int
) -> Spread:
    """Return the statistics of quantities that always have the same value.

    Parameters
    ----------
    value : (leaves, ranks) float64 array
    count : (leaves,) int64 array
        Occurrences of each leaf.
    bins, samples : int
        Sizes of the histogram and of the samples; values beyond the last bin are
        not counted.

    Returns
    -------
    Spread
    """
    times = count.astype(np.float64)[:, None]
    histogram = np.zeros((*value.shape, bins), np.int64)
    number = np.frexp(np.maximum(value, 0.5))[1].astype(np.int64)
    leaf, rank = np.nonzero(number < bins)
    histogram[leaf, rank, number[leaf, rank]] = count[leaf]
    taken = np.arange(samples)[None, :] < count[:, None]
    repeated = np.repeat(value[:, :, None], samples, axis=2)
    return Spread(
        total=value * times,
        squares=value * (value * times),
        least=value.copy(),
        most=value.copy(),
        histogram=histogram,
        samples=np.where(taken[:, None, :], repeated, np.nan),
    )


def statistics(
    leaf: NDArray[np.int32], leaves: int, values: NDArray[np.int64]
) -> Columns:
    """Return total, squares, least, most and histogram at each leaf.

    Parameters
    ----------
    leaf : (n,) int32 array
    leaves : int
        Every leaf occurs.
    values : (n,) int64 array
    """
    total, squares, least, most, histogram = (
        column[0] for column in statistics_of_ranks(leaf, leaves, values[None])
    )
    return total, squares, least, most, histogram


def statistics_of_ranks(
    leaf: NDArray[np.int32], leaves: int, values: NDArray[np.int64]
) -> Columns:
    """Return the statistics of ranks with the same leaves (C kernel).

    Parameters
    ----------
    leaf, leaves
        As for `statistics`.
    values : (ranks, n) int64 array

    Returns
    -------
    Columns
        Arrays of (ranks, leaves); the histogram has bins as a third dimension.
    """
    from skelgen._kernels._spread import ffi, lib

    leaf = np.ascontiguousarray(leaf, np.int32)
    values = np.ascontiguousarray(values, np.int64)
    shape = (len(values), leaves)
    total, squares = np.zeros(shape), np.zeros(shape)
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    histogram = np.zeros((*shape, MOST_BINS), np.int64)
    lib.skelgen_spread_of_ranks(
        ffi.from_buffer("int32_t[]", leaf),
        ffi.from_buffer("int64_t[]", values),
        len(leaf),
        *shape,
        *(
            ffi.from_buffer("double[]", column, require_writable=True)
            for column in (total, squares, least, most)
        ),
        ffi.from_buffer("int64_t[]", histogram, require_writable=True),
        MOST_BINS,
    )
    return total, squares, least, most, histogram


def _taken(
    values: NDArray[np.int64], sampled: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the samples of each rank at each leaf."""
    taken = np.full((len(values), *sampled.shape), np.nan)
    there = sampled >= 0
    taken[:, there] = values[:, sampled[there]]
    return taken


def samples_of_each(counts: Iterable[tuple[NDArray[np.int64], int]]) -> int:
    """Choose how many samples a leaf gets, so that a signature stays small.

    Parameters
    ----------
    counts : iterable of ((leaves,) int64 array, int)
        Occurrences of the leaves of each group, and its number of ranks.

    Returns
    -------
    int
        At least one, at most 32; leaves with fewer occurrences have fewer.
    """
    groups = list(counts)
    for wanted in range(MOST_SAMPLES, 1, -1):
        samples = sum(
            2 * ranks * int(np.minimum(count, wanted).sum()) for count, ranks in groups
        )
        if samples <= _ALL_SAMPLES:
            return wanted
    return 1


def sampled_positions(
    leaf: NDArray[np.int32], count: NDArray[np.int64], wanted: int
) -> NDArray[np.int64]:
    """Choose the occurrences of each leaf that stand for all of them.

    The occurrences are cut into equal strata; from each one is taken, at an offset
    that looks random but depends only on the leaf's count, so that leaves of the
    same loop are sampled in the same iterations, on all ranks.

    Parameters
    ----------
    leaf : (n,) int32 array
        Leaf of each position of the string.
    count : (leaves,) int64 array
        Occurrences of each leaf.
    wanted : int
        Samples of each leaf that occurs so often.

    Returns
    -------
    (leaves, s) int64 array
        Positions, -1 beyond a leaf's number of samples.
    """
    strata = min(wanted, int(count.max(initial=0)))
    narrow = leaf.astype(np.uint16) if len(count) <= 1 << 16 else leaf
    order = np.argsort(narrow, kind="stable")
    first = np.cumsum(count) - count
    number = np.arange(strata)[None, :]
    parts = np.minimum(count, max(strata, 1))[:, None]
    low = number * count[:, None] // parts
    width = (number + 1) * count[:, None] // parts - low
    draw = scattered((count[:, None] << 8).astype(np.uint64) + number.astype(np.uint64))
    offset = draw % np.maximum(width, 1).astype(np.uint64)
    occurrence = first[:, None] + low + offset.astype(np.int64)
    there = number < parts
    positions = np.full(there.shape, -1, np.int64)
    positions[there] = order[occurrence[there]]
    return positions
