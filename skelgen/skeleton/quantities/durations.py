"""Give every operation the computation before it.

Computation is divisible, calls are not. So every leaf keeps the same fraction of its
computation: that of the calls which were really kept, not 1/K. When rounding leaves
9 % more calls than asked for, there is 9 % more computation too, and the shares of
both stay those of the application; a rare set-up computation of seconds is not kept
whole because its call happened to be. What stood before calls that were left out
altogether goes to the next call that was kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.signature import RankGroup, Signature
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.quantities.series import (
    MOST_COLUMNS,
    occurrences_of_columns,
    sampled,
)
from skelgen.skeleton.quantities.strings import INSERTED, SharedStrings
from skelgen.skeleton.thresholds import (
    CALLS_LOOKED_AHEAD,
    LARGEST_STEADY_DEVIATION,
    LEAST_VARIED_LEAF_SHARE,
)


@dataclass(frozen=True, slots=True)
class Durations:
    """Computation of one program.

    Attributes
    ----------
    compute_ns : tuple of (ranks, s) float64 array
        Of each operation [ns].
    tail_ns : (ranks,) float64 array
        After the last call [ns].
    head_ns : (ranks,) float64 array
        Before the first call, where that call is repeated and this is not [ns].
    """

    compute_ns: tuple[NDArray[np.float64], ...]
    tail_ns: NDArray[np.float64]
    head_ns: NDArray[np.float64]


def uneven_leaves(signature: Signature) -> set[tuple[int, int]]:
    """Return the (group, leaf) whose computation is worth more than an average."""
    wanted: list[NDArray[np.bool_]] = []
    for group in signature.groups:
        mean = group.compute_ns.total / np.maximum(group.count, 1)[:, np.newaxis]
        heavy = _share(group, group.compute_ns.total) >= LEAST_VARIED_LEAF_SHARE
        spread = deviation(group) > LARGEST_STEADY_DEVIATION * mean
        wanted.append(np.asarray((heavy & spread).any(axis=1)))
    return _with_alike(signature, wanted)


def heavy_calls(signature: Signature) -> set[tuple[int, int]]:
    """Return the (group, leaf) whose calls take a noticeable share of the time."""
    wanted: list[NDArray[np.bool_]] = []
    for group in signature.groups:
        heavy = _share(group, group.mpi_ns) >= LEAST_VARIED_LEAF_SHARE
        wanted.append(np.asarray(heavy.any(axis=1)))
    return _with_alike(signature, wanted)


def _share(group: RankGroup, time_ns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of a rank's time that each leaf's part of it takes."""
    rank_ns = (group.compute_ns.total + group.mpi_ns).sum(axis=0) + group.tail_ns
    return np.asarray(time_ns / np.maximum(rank_ns, 1), np.float64)


def _with_alike(
    signature: Signature, wanted: list[NDArray[np.bool_]]
) -> set[tuple[int, int]]:
    """Add the like of wanted leaves in all groups, so that programs keep one form."""
    alike: dict[Hashable, list[tuple[int, int]]] = {}
    found: set[Hashable] = set()
    keys = signature.symbols[["function", "family", "site"]].tolist()
    for number, group in enumerate(signature.groups):
        symbols = group.nest.symbol[group.nest.body_items == 0].tolist()
        chosen = wanted[number].tolist()
        for leaf, symbol in enumerate(symbols):
            key = keys[symbol]
            alike.setdefault(key, []).append((number, leaf))
            if chosen[leaf]:
                found.add(key)
    return {place for key in found for place in alike[key]}


def deviation(group: RankGroup) -> NDArray[np.float64]:
    """Return the standard deviation of the computation of each leaf and rank [ns]."""
    count = np.maximum(group.count, 1)[:, np.newaxis]
    mean = group.compute_ns.total / count
    return np.sqrt(np.maximum(group.compute_ns.squares / count - mean**2, 0))


def durations_of(
    signature: Signature,
    expansion: Expansion,
    shared: SharedStrings,
    calls_first: NDArray[np.int64],
    fraction: float,
) -> list[Durations]:
    """Decide the computation of all programs.

    Parameters
    ----------
    signature : Signature
    expansion : Expansion
    shared : SharedStrings
    calls_first : (ranks + 1,) int64 array
        ``Calls.first`` of the application.
    fraction : float
        Kept part of all calls [1].
    """
    uneven = uneven_leaves(signature)
    found = []
    for program in range(len(shared.ranks)):
        homeless = _homeless(signature, expansion, shared, program, calls_first)
        found.append(_program(signature, shared, program, fraction, uneven, homeless))
    return found


def _homeless(
    signature: Signature,
    expansion: Expansion,
    shared: SharedStrings,
    program: int,
    calls_first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each leaf the operation that takes its computation.

    -1: the leaf is kept and takes its own; the number of operations: the tail.
    """
    number, rank = shared.group[program], shared.ranks[program][0]
    rows = slice(shared.strings.first[rank], shared.strings.first[rank + 1])
    call = shared.strings.call[rows]
    steps = np.flatnonzero(call != INSERTED)
    position = call[steps] - calls_first[rank]
    own = expansion.leaf[expansion.first[number] : expansion.first[number + 1]]
    first = np.full(len(signature.groups[number].count), len(own))
    first[own[::-1]] = np.arange(len(own) - 1, -1, -1)
    following = np.searchsorted(position, first)
    operations = len(shared.step[program])
    string = np.append(shared.local[program][steps], operations)
    heir = string[following]
    often = np.append(np.bincount(shared.local[program], minlength=operations), 1)
    for leaf in np.flatnonzero(signature.groups[number].count == 1).tolist():
        # What happened once shall not become a part of every iteration.
        near = string[following[leaf] : following[leaf] + CALLS_LOOKED_AHEAD]
        single = near[often[near] == 1]
        heir[leaf] = single[0] if len(single) else heir[leaf]
    taken = shared.column("leaf", program)
    heir[taken[taken != INSERTED]] = -1
    return heir.astype(np.int64)


def _program(
    signature: Signature,
    shared: SharedStrings,
    program: int,
    fraction: float,
    uneven: set[tuple[int, int]],
    homeless: NDArray[np.int64],
) -> Durations:
    number = shared.group[program]
    group = signature.groups[number]
    rows = [group.ranks.index(rank) for rank in shared.ranks[program]]
    total = group.compute_ns.total[:, rows] * fraction
    leaf = shared.column("leaf", program)
    often = np.bincount(shared.local[program], minlength=len(leaf))
    kept = leaf != INSERTED
    leaf_often = np.bincount(leaf[kept], often[kept], minlength=len(group.count))
    extra = np.zeros((len(leaf) + 1, len(rows)))
    early = _set_up(group, rows, homeless, leaf, often)
    head_ns = total[early].sum(axis=0)
    adrift = np.setdiff1d(np.flatnonzero(homeless >= 0), early)
    np.add.at(extra, homeless[adrift], total[adrift])
    series = []
    for operation, own in enumerate(leaf.tolist()):
        count = int(often[operation])
        value = extra[operation][:, np.newaxis] / count
        if own != INSERTED:
            part = total[own] * (count / leaf_often[own])
            columns = min(MOST_COLUMNS, count) if (number, own) in uneven else 1
            samples = group.compute_ns.samples[own][rows]
            value = value + _values(part, samples, columns, count)
        series.append(value)
    return Durations(tuple(series), group.tail_ns[rows] * fraction + extra[-1], head_ns)


def _set_up(
    group: RankGroup,
    rows: list[int],
    homeless: NDArray[np.int64],
    leaf: NDArray[np.int64],
    often: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return leaves whose computation stands before a program, not in its loop.

    They happened once, before all calls of a first operation that is repeated, whose
    iterations or the end would take it otherwise; and they are worth it.
    """
    if not len(often) or often[0] == 1 or leaf[0] == INSERTED:
        return np.zeros(0, np.int64)
    heavy = _share(group, group.compute_ns.total)[:, rows] >= LEAST_VARIED_LEAF_SHARE
    elsewhere = (homeless == 0) | (homeless == len(leaf))
    once = (group.count == 1) & elsewhere & heavy.any(axis=1)
    before = np.arange(len(once)) < leaf[0]  # leaves are numbered in prefix order
    return np.flatnonzero(once & before)


def _values(
    total: NDArray[np.float64],
    samples: NDArray[np.float64],
    columns: int,
    occurrences: int,
) -> NDArray[np.float64]:
    """Spread each rank's total over columns in the proportions of its samples."""
    even = np.repeat(total[:, np.newaxis] / occurrences, columns, axis=1)
    picked = sampled(samples, columns) if columns > 1 else None
    if picked is None:
        return even
    weight = occurrences_of_columns(columns, occurrences)
    sums = (picked * weight).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = picked * (total[:, np.newaxis] / sums)
    return np.where(sums > 0, scaled, even)
