"""Statistics of one quantity at every leaf and rank of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import scattered
from skelgen.signature.rank_values import PositionValues
from skelgen.signature.thresholds import MOST_SAMPLES
from skelgen.signature.types import Spread

#: Bins of an int64: below 1, then one for each power of two.
MOST_BINS = 64
#: Positions that are looked at at a time, or more: for less memory.
_BLOCK = 1 << 16
#: Samples of a whole signature, both quantities.
_ALL_SAMPLES = 200_000

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
    values: Iterable[PositionValues],
    sampled: NDArray[np.int64],
) -> Spread:
    """Summarise a quantity of all ranks of a group.

    Parameters
    ----------
    leaf : (n,) int32 array
        Leaf of each position of the string.
    leaves : int
    values : iterable of (n,) int64 array or RankValues
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
    times = occurrences(leaf, leaves).astype(np.float64)[:, None]
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
    leaf: NDArray[np.int32], leaves: int, values: Iterable[PositionValues]
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


def steps_of(
    leaf: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    values: Iterable[PositionValues],
    ranks: int,
) -> NDArray[np.float64]:
    """Sum how far a quantity is from its value at the occurrence before.

    Parameters
    ----------
    leaf : (n,) int32 array
        Leaf of each position of the string.
    wanted : (leaves,) bool array
        Leaves that are looked at; others have 0.
    values : iterable of (n,) int64 array or RankValues
        The quantity at each position, for each rank.
    ranks : int

    Returns
    -------
    (leaves, ranks) float64 array
    """
    found = np.zeros((len(wanted), ranks))
    if not wanted.any():
        return found
    for column, of_rank in enumerate(values):
        before = np.full(len(wanted), np.nan)
        for part in blocks(len(leaf), len(wanted)):
            place = np.flatnonzero(wanted[leaf[part]])
            own = leaf[part][place]
            order = np.argsort(own, kind="stable")
            own, value = own[order], of_rank[part][place][order].astype(np.float64)
            first = np.diff(own, prepend=-1) != 0
            steps = np.abs(np.diff(value, prepend=0.0))
            steps[first] = np.nan_to_num(np.abs(value - before[own])[first])
            found[:, column] += np.bincount(own, steps, minlength=len(wanted))
            before[own] = value  # of equal ones the last stays
    return found


def _together(
    values: Iterable[PositionValues], length: int
) -> Iterator[Sequence[PositionValues]]:
    """Give the values of a few ranks at a time: as many as are one block."""
    ranks = max(_BLOCK // max(length, 1), 1)
    rest = iter(values)
    while some := list(islice(rest, ranks)):
        if ranks > 1:  # short: all of them at once
            yield list(np.stack([of_rank[slice(0, length)] for of_rank in some]))
        else:
            yield some


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


def statistics(leaf: NDArray[np.int32], leaves: int, values: PositionValues) -> Columns:
    """Return total, squares, least, most and histogram at each leaf.

    Parameters
    ----------
    leaf : (n,) int32 array
    leaves : int
        Every leaf occurs.
    values : (n,) int64 array or RankValues
    """
    total, squares, least, most, histogram = (
        column[0] for column in statistics_of_ranks(leaf, leaves, [values])
    )
    return total, squares, least, most, histogram


def statistics_of_ranks(
    leaf: NDArray[np.int32], leaves: int, values: Sequence[PositionValues]
) -> Columns:
    """Return the statistics of ranks with the same leaves (C kernel).

    Parameters
    ----------
    leaf, leaves
        As for `statistics`.
    values : sequence of (n,) int64 array or RankValues
        One for each rank. Looked at block by block.

    Returns
    -------
    Columns
        Arrays of (ranks, leaves); the histogram has bins as a third dimension.
    """
    from skelgen._kernels._spread import ffi, lib

    leaf = np.ascontiguousarray(leaf, np.int32)
    shape = (len(values), leaves)
    total, squares = np.zeros(shape), np.zeros(shape)
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    histogram = np.zeros((*shape, MOST_BINS), np.int64)
    sums = [
        ffi.from_buffer("double[]", column, require_writable=True)
        for column in (total, squares, least, most)
    ]
    bins = ffi.from_buffer("int64_t[]", histogram, require_writable=True)
    for part in blocks(len(leaf)):
        own = np.stack([of_rank[part] for of_rank in values])
        lib.skelgen_spread_of_ranks(
            ffi.from_buffer("int32_t[]", leaf[part]),
            ffi.from_buffer("int64_t[]", np.ascontiguousarray(own, np.int64)),
            own.shape[1],
            *shape,
            *sums,
            bins,
            MOST_BINS,
        )
    return total, squares, least, most, histogram


def blocks(positions: int, least: int = 0) -> list[slice]:
    """Return all positions in blocks, of at least so many."""
    size = max(_BLOCK, least)
    begins = range(0, positions, size)
    return [slice(begin, min(begin + size, positions)) for begin in begins]


def occurrences(leaf: NDArray[np.int32], leaves: int) -> NDArray[np.int64]:
    """Return how often each leaf occurs at the positions of a string."""
    count = np.zeros(leaves, np.int64)
    for part in blocks(len(leaf), leaves):
        count += np.bincount(leaf[part], minlength=leaves)
    return count


def _taken(
    values: Sequence[PositionValues], sampled: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the samples of each rank at each leaf."""
    taken = np.full((len(values), *sampled.shape), np.nan)
    there = sampled >= 0
    taken[:, there] = np.stack([of_rank[sampled[there]] for of_rank in values])
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
    number = np.arange(strata)[None, :]
    parts = np.minimum(count, max(strata, 1))[:, None]
    low = number * count[:, None] // parts
    width = (number + 1) * count[:, None] // parts - low
    draw = scattered((count[:, None] << 8).astype(np.uint64) + number.astype(np.uint64))
    offset = draw % np.maximum(width, 1).astype(np.uint64)
    occurrence = np.where(number < parts, low + offset.astype(np.int64), -1)
    return _places(leaf, occurrence)


def _places(leaf: NDArray[np.int32], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of some occurrences of each leaf, -1 where one is -1."""
    positions = np.full(wanted.shape, -1, np.int64)
    narrow = np.uint16 if len(wanted) <= 1 << 16 else np.int32
    done = np.zeros((len(wanted), 1), np.int64)
    for part in blocks(len(leaf), wanted.size):
        # NumPy sorts narrow numbers in linear time.
        order = np.argsort(leaf[part].astype(narrow), kind="stable")
        count = np.bincount(leaf[part], minlength=len(wanted))[:, None]
        here = (wanted >= done) & (wanted < done + count)
        place = np.cumsum(count)[:, None] - count + wanted - done
        positions[here] = part.start + order[place[here]]
        done += count
    return positions
