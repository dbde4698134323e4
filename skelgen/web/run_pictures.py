"""Numbers behind the picture of one iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.loops import trip_rows
from skelgen.signature import RankGroup, Signature
from skelgen.signature.labels import symbol_label
from skelgen.skeleton.thresholds import DOMINANT_TIME_SHARE
from skelgen.units import format_seconds
from skelgen.web.loop_tree import leaf_numbers, leaf_times_ns

#: Bars of one timeline, ranks of one timeline.
_MOST_BARS, _MOST_LANES = 4000, 32


@dataclass(frozen=True, slots=True)
class TimelinePiece:
    """One piece of a timeline; positions and widths in per cent of its length."""

    left: float
    width: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The timeline of one rank."""

    rank: int
    bars: tuple[TimelinePiece, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """One average iteration of the loop that takes most time.

    Attributes
    ----------
    length_s : float
        Time of the iteration on the slowest rank [s].
    trips : int
        Iterations of the loop in the run, of the group with most time.
    lanes : tuple of Lane
    """

    length_s: float
    trips: int
    lanes: tuple[Lane, ...]


def dominant_loop(group: RankGroup) -> int | None:
    """Find the loop whose iterations matter most.

    From the loop with most time inward, as long as one loop of the body still holds
    the share of it that makes a sequence of calls dominant.

    Returns
    -------
    int or None
        Item of the nest, None without loops.
    """
    nest, leaf_of = group.nest, leaf_numbers(group)
    before = np.concatenate(([0.0], np.cumsum(leaf_times_ns(group))))
    loops = np.flatnonzero(nest.body_items)
    if not loops.size:
        return None
    ends = loops + 1 + nest.body_items[loops]
    times = before[leaf_of[ends]] - before[leaf_of[loops]]
    best = int(np.argmax(times))
    while True:
        inside = (loops > loops[best]) & (ends <= ends[best])
        inner = np.flatnonzero(inside)
        if not inner.size or times[inner].max() < DOMINANT_TIME_SHARE * times[best]:
            return int(loops[best])
        best = int(inner[np.argmax(times[inner])])


def _lane(
    signature: Signature,
    group: RankGroup,
    rank: int,
    item: int,
    length: float,
    most: int,
) -> tuple[Lane, float]:
    """Draw one rank with `length` [ns] as the whole width; also return its length."""
    nest, leaf_of = group.nest, leaf_numbers(group)
    rows = trip_rows(nest, item)
    iterations = float((rows[:, 0] * rows[:, 1]).sum())
    bars: list[TimelinePiece] = []
    place, column = 0.0, group.ranks.index(rank)
    for inner in range(item + 1, item + 1 + int(nest.body_items[item])):
        if nest.body_items[inner]:
            continue
        leaf = int(leaf_of[inner])
        name = symbol_label(signature, int(nest.symbol[inner]))
        for kind, total in (
            ("compute", group.compute_ns.total[leaf, column]),
            ("mpi", group.mpi_ns[leaf, column]),
        ):
            width = float(total) / iterations
            if width > 0 and len(bars) < most:
                what = f"computation before {name}" if kind == "compute" else name
                title = f"{what}: {format_seconds(width / 1e9)}"
                bars.append(
                    TimelinePiece(
                        100 * place / length, 100 * width / length, kind, title
                    )
                )
            place += width
    return Lane(rank, tuple(bars)), place


def timeline_of(signature: Signature) -> Timeline | None:
    """Draw one average iteration of every rank's dominant loop side by side."""
    chosen: list[tuple[RankGroup, int, int]] = []
    for group in signature.groups:
        item = dominant_loop(group)
        if item is not None:
            chosen += [(group, rank, item) for rank in group.ranks]
    if not chosen:
        return None
    chosen = sorted(chosen, key=lambda entry: entry[1])[:_MOST_LANES]
    most = _MOST_BARS // len(chosen)
    length = max(_lane(signature, g, r, i, 1.0, 0)[1] for g, r, i in chosen) or 1.0
    lanes = tuple(_lane(signature, g, r, i, length, most)[0] for g, r, i in chosen)
    group, _, item = chosen[0]
    rows = trip_rows(group.nest, item)
    return Timeline(length / 1e9, int((rows[:, 0] * rows[:, 1]).sum()), lanes)
