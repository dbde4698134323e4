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
from skelgen.skeleton.quantities.naps import nap_ns
from skelgen.skeleton.quantities.series import (
    MOST_COLUMNS,
    occurrences_of_columns,
    sampled,
)
from skelgen.skeleton.quantities.strings import INSERTED, SharedStrings
from skelgen.skeleton.thresholds import (
    CALLS_LOOKED_AHEAD,
    LARGEST_STEADY_DEVIATION,
    LEAST_IDLE_SHARE,
    LEAST_OWN_SHARE,
    LEAST_VARIED_LEAF_SHARE,
)


@dataclass(frozen=True, slots=True)
class Durations:
    """Computation of one program.

    Attributes
    ----------
    compute_ns : tuple of (ranks, s) float64 array
        Of each operation [ns].
    idle_ns : tuple of (ranks, 1) float64 array
        Sleep before each operation [ns].
    tail_ns : (ranks,) float64 array
        After the last call [ns].
    head_ns : (ranks,) float64 array
        Before the first call, where that call is repeated and this is not [ns].
    tail_idle_ns : (ranks,) float64 array
        Sleep after the last call [ns].
    nap_ns : tuple of (float or None)
        Sleep between two polls for what each operation waits for [ns], as in `nap_ns`.
    """

    compute_ns: tuple[NDArray[np.float64], ...]
    idle_ns: tuple[NDArray[np.float64], ...]
    tail_ns: NDArray[np.float64]
    head_ns: NDArray[np.float64]
    tail_idle_ns: NDArray[np.float64]
    nap_ns: tuple[float | None, ...]


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
    return np.asarray(time_ns / np.maximum(group.rank_ns, 1), np.float64)


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
    *,
    pooled: bool = False,
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
    pooled : bool
        Leaves share their computation: of each so few calls are kept, on each rank
        others, that a fraction for each would be work that waits for no work.
    """
    uneven = uneven_leaves(signature)
    sleeps = sleeping(signature)
    found = []
    for program in range(len(shared.ranks)):
        homeless = _homeless(signature, expansion, shared, program, calls_first)
        kept = _Kept(signature, shared, program, fraction, homeless, pooled=pooled)
        found.append(_program(kept, uneven, sleeps=sleeps))
    return found


def sleeping(signature: Signature) -> bool:
    """Say whether the ranks of a skeleton sleep: else that time is computation."""
    rank_s = signature.application_s * signature.ranks
    return signature.idle_s > LEAST_IDLE_SHARE * rank_s


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


class _Kept:
    """Shares a time out to the operations that a program kept."""

    def __init__(
        self,
        signature: Signature,
        shared: SharedStrings,
        program: int,
        fraction: float,
        homeless: NDArray[np.int64],
        *,
        pooled: bool,
    ) -> None:
        self.number, self.fraction = shared.group[program], fraction
        self.group = signature.groups[self.number]
        rows = np.searchsorted(self.group.ranks, shared.ranks[program])
        self.rows: list[int] = rows.tolist()
        self.homeless = homeless
        self.leaf = shared.column("leaf", program)
        self.often = np.bincount(shared.local[program], minlength=len(self.leaf))
        leaves = self.leaf[self.leaf != INSERTED]
        self.pool = _pools(self.group, leaves, fraction, pooled=pooled)

    def share_out(
        self,
        total: NDArray[np.float64],
        tail: NDArray[np.float64],
        uneven: set[tuple[int, int]],
        early: NDArray[np.int64],
    ) -> tuple[tuple[NDArray[np.float64], ...], NDArray[np.float64]]:
        """Return a time before each operation, and after the last, of the ranks [ns].

        What stands in `early` is in neither.

        Parameters
        ----------
        total : (leaves, ranks) array
            Before the leaves of the group, all its ranks [ns].
        tail : (ranks,) array
        uneven : set of (int, int)
            (group, leaf) whose samples say how it changes during the run.
        early : int64 array
            Leaves whose time stands before the program.
        """
        total = total[:, self.rows] * self.fraction
        extra = np.zeros((len(self.leaf) + 1, len(self.rows)))
        adrift = (self.homeless >= 0) & (self.pool < 0)
        adrift[early] = False
        np.add.at(extra, self.homeless[adrift], total[adrift])
        parts = self._parts(total, early)
        series = []
        for operation, own in enumerate(self.leaf.tolist()):
            count = int(self.often[operation])
            value = extra[operation][:, np.newaxis] / count
            if own != INSERTED:
                varied = (self.number, own) in uneven
                columns = min(MOST_COLUMNS, count) if varied else 1
                samples = self.group.compute_ns.samples[own][self.rows]
                value = value + _values(parts[operation], samples, columns, count)
            series.append(value)
        return tuple(series), tail[self.rows] * self.fraction + extra[-1]

    def _parts(
        self, total: NDArray[np.float64], early: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return what each operation gets of the times of its pool [ns]."""
        kept = self.leaf != INSERTED
        leaf = np.where(kept, self.leaf, 0)
        pool, often = self.pool[leaf], np.where(kept, self.often, 0)[:, np.newaxis]
        usual = total[leaf] / np.maximum(self.group.count[leaf], 1)[:, np.newaxis]
        pools = len(self.group.count)
        there = self.pool >= 0
        there[early] = False
        own = np.zeros((3, pools, len(self.rows)))
        np.add.at(own[0], self.pool[there], total[there])
        np.add.at(own[1], pool, usual * often)
        np.add.at(own[2], pool, np.broadcast_to(often, usual.shape))
        with np.errstate(invalid="ignore", divide="ignore"):
            even = often * (own[0] / own[2])[pool]
            found = usual * often * (own[0] / own[1])[pool]
        return np.asarray(np.where(own[1][pool] > 0, found, even))


def _pools(
    group: RankGroup, kept: NDArray[np.int64], fraction: float, *, pooled: bool
) -> NDArray[np.int64]:
    """Return for each leaf the first of those that share their time, or -1.

    Each has its own, or all share it but those of which one occurrence would be much of
    a skeleton. -1: none of these is kept.
    """
    pool = np.arange(len(group.count))
    if pooled and len(pool):
        each_ns = group.before_ns / np.maximum(group.count, 1)[:, np.newaxis]
        light = (_share(group, each_ns) < LEAST_OWN_SHARE * fraction).all(axis=1)
        pool[light] = np.argmax(light)
    found: NDArray[np.int64] = np.where(np.isin(pool, pool[kept]), pool, -1)
    return found


def _program(kept: _Kept, uneven: set[tuple[int, int]], *, sleeps: bool) -> Durations:
    """Return the durations of a program; sleep stays with calls, also of set-up."""
    group, rows = kept.group, kept.rows
    early = _set_up(group, rows, kept.homeless, kept.leaf, kept.often)
    before_ns, after_ns = group.before_ns, group.after_ns
    if sleeps:
        before_ns, after_ns = group.compute_ns.total, group.tail_ns
    compute_ns, tail_ns = kept.share_out(before_ns, after_ns, uneven, early)
    head_ns = before_ns[:, rows][early].sum(axis=0) * kept.fraction
    none = np.zeros((len(rows), 1))
    naps = tuple(nap_ns(group, leaf) for leaf in kept.leaf.tolist())
    if not sleeps:
        idle_ns = (none,) * len(compute_ns)
        return Durations(compute_ns, idle_ns, tail_ns, head_ns, none[:, 0], naps)
    idle_ns, tail_idle_ns = kept.share_out(
        group.idle_ns, group.tail_idle_ns, set(), np.zeros(0, np.int64)
    )
    return Durations(compute_ns, idle_ns, tail_ns, head_ns, tail_idle_ns, naps)


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
