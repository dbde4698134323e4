"""How unevenly ranks compute in each loop: a strip of bars and the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import trip_rows
from skelgen.signature import RankGroup, Signature
from skelgen.units import format_seconds
from skelgen.web.loop_tree import LEAST_COMPUTED, leaf_numbers
from skelgen.web.rank_blocks import ranks_in_block

#: Loops that are shown, and how deep they may be inside others.
_MOST_LOOPS, _DEEPEST = 8, 2
#: Height of a strip, in steps of its picture.
STRIP_HEIGHT = 40

_Times = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BalanceRow:
    """The computation of the ranks in a loop, ready to show.

    Attributes
    ----------
    name : str
        Place of the loop, such as ``2.1``: the first inside of the second.
    trips : str
        Its iterations on a rank; empty of the whole run.
    ranks : int
        That are in it.
    share : str
        Of the computation of all ranks.
    least, mean, most : str
        Computation of a rank, with the rank that has it.
    ratio : str
        Most / mean.
    bars : int
        Of the strip.
    mean_path, most_path : str
        Bars for the mean and the largest of the ranks that share a bar.
    mean_line : float
        Where the mean of all ranks is.
    """

    name: str
    trips: str
    ranks: int
    share: str
    least: str
    mean: str
    most: str
    ratio: str
    bars: int
    mean_path: str
    most_path: str
    mean_line: float


@dataclass(frozen=True, slots=True)
class BalanceView:
    """What a page shows of load imbalance.

    Attributes
    ----------
    each : int
        Ranks of a bar.
    joined : bool
        Whether loops of ranks with different calls count as one.
    rows : tuple of BalanceRow
        The whole run, then loops with most computation first.
    hidden : int
        Loops that are not shown.
    """

    each: int
    joined: bool
    rows: tuple[BalanceRow, ...]
    hidden: int = 0


@dataclass(slots=True)
class _Loop:
    """A loop in the making: computation of each rank [s], NaN where it has none."""

    computed_s: _Times
    groups: int = 0


#: The place of a loop in those around it, and its iterations.
_Key = tuple[tuple[int, ...], int]


def balance_view(
    computed_s: _Times, signature: Signature | None = None
) -> BalanceView | None:
    """Decide what a page shows of load imbalance; nothing of a single rank.

    Parameters
    ----------
    computed_s : (ranks,) array
        Computation of each rank in the whole run [s].
    signature : Signature, optional
        What has the loops.
    """
    whole_s = float(computed_s.sum())
    if len(computed_s) < 2 or whole_s <= 0:
        return None
    found = {} if signature is None else _loops(signature)
    shown = [
        (key, one)
        for key, one in found.items()
        if np.isfinite(one.computed_s).sum() > 1
        and np.nansum(one.computed_s) >= LEAST_COMPUTED * whole_s
    ]
    shown.sort(key=lambda entry: (-np.nansum(entry[1].computed_s), entry[0]))
    rows = [_row("whole run", "", computed_s, whole_s)]
    for (place, trips), one in shown[:_MOST_LOOPS]:
        name = f"loop {'.'.join(str(number) for number in place)}"
        rows.append(_row(name, f"{trips:,}", one.computed_s, whole_s))
    return BalanceView(
        ranks_in_block(len(computed_s)),
        any(one.groups > 1 for _, one in shown[:_MOST_LOOPS]),
        tuple(rows),
        max(len(shown) - _MOST_LOOPS, 0),
    )


def _loops(signature: Signature) -> dict[_Key, _Loop]:
    """Collect the outer loops of all ranks, and those right inside."""
    found: dict[_Key, _Loop] = {}
    for group in signature.groups:
        ranks, leaf_of = list(group.ranks), leaf_numbers(group)
        none = np.zeros((1, len(ranks)))
        before = np.concatenate((none, np.cumsum(group.compute_ns.total, axis=0)))
        for key, item, end in _loops_of(group, 0, len(group.nest), ()):
            one = found.get(key)
            if one is None:
                one = found[key] = _Loop(np.full(signature.ranks, np.nan))
            one.computed_s[ranks] = (before[leaf_of[end]] - before[leaf_of[item]]) / 1e9
            one.groups += 1
    return found


def _loops_of(
    group: RankGroup, item: int, end: int, around: tuple[int, ...]
) -> Iterator[tuple[_Key, int, int]]:
    """Yield loops with their first item and their end."""
    nest, number = group.nest, 0
    while item < end:
        after = item + 1 + int(nest.body_items[item])
        if after > item + 1:
            number += 1
            rows = trip_rows(nest, item)
            place = (*around, number)
            yield (place, int((rows[:, 0] * rows[:, 1]).sum())), item, after
            if len(place) < _DEEPEST:
                yield from _loops_of(group, item + 1, after, place)
        item = after


def _row(name: str, trips: str, computed_s: _Times, whole_s: float) -> BalanceRow:
    there = np.flatnonzero(np.isfinite(computed_s))
    times_s = computed_s[there]
    mean_s, most_s = float(times_s.mean()), float(times_s.max())
    least, most = there[np.argmin(times_s)], there[np.argmax(times_s)]
    means, tops = _bars(computed_s)
    return BalanceRow(
        name=name,
        trips=trips,
        ranks=len(there),
        share=f"{100 * times_s.sum() / whole_s:.1f} %",
        least=f"{format_seconds(float(times_s.min()))} (rank {least})",
        mean=format_seconds(mean_s),
        most=f"{format_seconds(most_s)} (rank {most})",
        ratio=f"{most_s / mean_s:.2f}",
        bars=len(means),
        mean_path=_path(np.zeros(len(means), np.int64), _heights(means, most_s)),
        most_path=_path(_heights(means, most_s), _heights(tops, most_s)),
        mean_line=round(STRIP_HEIGHT * (1 - mean_s / most_s), 1),
    )


def _bars(computed_s: _Times) -> tuple[_Times, _Times]:
    """Return mean and largest of the ranks that share a bar; 0 where none has any."""
    starts = np.arange(0, len(computed_s), ranks_in_block(len(computed_s)))
    there = np.isfinite(computed_s)
    times_s = np.where(there, computed_s, 0.0)
    count = np.add.reduceat(there.astype(np.int64), starts)
    means: _Times = np.add.reduceat(times_s, starts) / np.maximum(count, 1)
    tops: _Times = np.maximum.reduceat(times_s, starts)
    return means, tops


def _heights(values: _Times, most: float) -> NDArray[np.int64]:
    return np.rint(STRIP_HEIGHT * values / most).astype(np.int64)


def _path(below: NDArray[np.int64], above: NDArray[np.int64]) -> str:
    """Draw a bar for each pair of heights."""
    return "".join(
        f"M{place} {STRIP_HEIGHT - high}h1v{high - low}h-1z"
        for place, (low, high) in enumerate(zip(below, above, strict=True))
        if high > low
    )
