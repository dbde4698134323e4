"""The loop structure as a tree of labelled rows with shares of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.loops import trip_rows
from skelgen.signature import RankGroup, Signature
from skelgen.signature.labels import symbol_label
from skelgen.units import format_bytes, format_seconds

#: Rows of one tree; a page must stay readable and small.
MOST_ROWS = 1500

#: Computation that takes less of the time has no row of its own [1].
LEAST_SHARE = 5e-4
_COMPUTATION = "computation"

#: A loop in which ranks compute less of the time has no load imbalance to tell of [1].
LEAST_COMPUTED = 0.01

#: A load imbalance below it is none [1].
LEAST_IMBALANCE = 0.01


@dataclass(frozen=True, slots=True)
class NestRow:
    """One item of a loop nest.

    Attributes
    ----------
    label : str
    count : str
        Occurrences or trips, for people.
    share : float
        Share of the time of all ranks of the group [0 to 1].
    detail : str
        Sizes and times of a leaf.
    children : tuple of NestRow
        Items of a loop's body; empty for a leaf.
    kind : str
        ``mpi`` for a call, ``compute`` for computation, ``loop`` for both.
    """

    label: str
    count: str
    share: float
    detail: str
    children: tuple[NestRow, ...]
    kind: str = "loop"

    @property
    def width(self) -> str:
        """Return the share as a CSS length."""
        return f"{100 * self.share:.1f}%"


def leaf_times_ns(group: RankGroup) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Sum computation and MPI time of each leaf over the ranks of a group [ns]."""
    times = (group.compute_ns.total + group.mpi_ns).sum(axis=1)
    return np.asarray(times, dtype=np.float64)


def leaf_numbers(group: RankGroup) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return for each item the number of leaves before it, (items + 1,)."""
    leaves = (group.nest.body_items == 0).astype(np.int64)
    return np.concatenate(([0], np.cumsum(leaves)))


def _trips(group: RankGroup, item: int) -> tuple[str, str]:
    """Write a loop's trip counts and how often it was entered."""
    rows = trip_rows(group.nest, item)
    least, most = int(rows[:, 0].min()), int(rows[:, 0].max())
    executions = int(rows[:, 1].sum())
    text = f"{least} ×" if least == most else f"{least} to {most} ×"
    return text, "" if executions == 1 else f"entered {executions} times"


def _sizes(group: RankGroup, leaf: int) -> str:
    spread = group.size_bytes
    least, most = float(spread.least[leaf].min()), float(spread.most[leaf].max())
    if not most > 0:
        return ""
    if least == most:
        return format_bytes(most)
    return f"{format_bytes(least)} to {format_bytes(most)}"


class _Builder:
    """Walks a nest once; holds the sums that every row needs."""

    def __init__(self, signature: Signature, group: RankGroup, most: int) -> None:
        self.signature, self.group = signature, group
        self.leaf_of = leaf_numbers(group)
        self.before = np.concatenate(([0.0], np.cumsum(leaf_times_ns(group))))
        whole = signature.application_s * 1e9 * len(group.ranks)
        self.whole = whole if whole > 0 else 1.0
        self.rows, self.most = 0, most
        computed = group.compute_ns.total
        none = np.zeros((1, len(group.ranks)))
        self.computed = np.concatenate((none, np.cumsum(computed, axis=0)))

    def share(self, item: int, end: int) -> float:
        time = self.before[self.leaf_of[end]] - self.before[self.leaf_of[item]]
        return min(1.0, float(time) / self.whole)

    def leaf(self, item: int) -> list[NestRow]:
        """Return a call, and before it the computation, where that takes time."""
        group, leaf = self.group, int(self.leaf_of[item])
        count = int(group.count[leaf])
        label = symbol_label(self.signature, int(group.nest.symbol[item]))
        inside_ns = float(group.mpi_ns[leaf].sum())
        sizes, each = _sizes(group, leaf), self.each(inside_ns, count)
        detail = " · ".join(part for part in (sizes, each) if part)
        call = NestRow(label, f"{count}", inside_ns / self.whole, detail, (), "mpi")
        compute_ns = float(group.compute_ns.total[leaf].sum())
        return [*self.computation(compute_ns, count), call]

    def computation(self, total_ns: float, count: int) -> list[NestRow]:
        """Return the row of computation, none where it takes next to nothing."""
        share = total_ns / self.whole
        if share < LEAST_SHARE:
            return []
        return [
            NestRow(
                _COMPUTATION,
                f"{count}",
                share,
                self.each(total_ns, count),
                (),
                "compute",
            )
        ]

    def each(self, total_ns: float, count: int) -> str:
        """Write the mean of an occurrence on a rank."""
        times = max(1, count * len(self.group.ranks))
        return f"{format_seconds(total_ns / times / 1e9)} each"

    def loop(self, item: int) -> NestRow:
        end = item + 1 + int(self.group.nest.body_items[item])
        body = self.items(item + 1, end)
        trips, entered = _trips(self.group, item)
        detail = " · ".join(part for part in (entered, self.balance(item, end)) if part)
        return NestRow("loop", trips, self.share(item, end), detail, body)

    def balance(self, item: int, end: int) -> str:
        """Say how unevenly the ranks compute in a loop, where that is worth saying."""
        first, last = self.leaf_of[item], self.leaf_of[end]
        each_ns = self.computed[last] - self.computed[first]
        if len(each_ns) < 2 or each_ns.sum() < LEAST_COMPUTED * self.whole:
            return ""
        imbalance = float(each_ns.max() / each_ns.mean()) - 1
        return f"load imbalance {imbalance:.0%}" if imbalance >= LEAST_IMBALANCE else ""

    def items(self, item: int, end: int) -> tuple[NestRow, ...]:
        found: list[NestRow] = []
        while item < end:
            if self.rows >= self.most:
                share = self.share(item, end)
                found.append(NestRow("…", f"{end - item} more items", share, "", ()))
                break
            self.rows += 1
            body = int(self.group.nest.body_items[item])
            found += [self.loop(item)] if body else self.leaf(item)
            item += 1 + body
        return tuple(found)


def rows_of(
    signature: Signature, group: RankGroup, most: int = MOST_ROWS
) -> tuple[NestRow, ...]:
    """List the items of a group's nest as a tree.

    Parameters
    ----------
    signature : Signature
    group : RankGroup
    most : int
        Items that are shown.

    Returns
    -------
    tuple of NestRow
        The outermost items, at most so many of them and of those inside.
    """
    builder = _Builder(signature, group, most)
    tail = builder.computation(float(group.tail_ns.sum()), 1)
    return (*builder.items(0, len(group.nest)), *tail)
