"""Expand nests with the weight that iteration selection gives every position.

Of a loop execution with n trips and a fraction f, the whole number below n f of
iterations is kept whole, and one more with the remaining fraction, recursively. Each
kept iteration stands in the middle of one of equally long strata of the execution, so
the choice depends on n and f alone, never on the rank. The one in part is the last:
the whole ones stay neighbours and fold into one loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._select import ffi, lib
from skelgen.columns import empty_column, joined_columns
from skelgen.errors import InputError
from skelgen.loops import Nest, trip_rows
from skelgen.signature import RankGroup, Signature

#: Says of the trips of a loop execution and the part that is kept of it which
#: iterations are kept, and what part of each.
Shares = Callable[[int, float], dict[int, float]]

_BROKEN = "a loop nest is broken: its trip counts do not fit its loops; build it again"


@dataclass(frozen=True, slots=True)
class Expansion:
    """The positions of all rank groups, group after group, in program order.

    Attributes
    ----------
    first : (groups + 1,) int64 array
        Positions of group g are rows ``first[g]`` to ``first[g + 1]``.
    leaf : (p,) int32 array
        Leaf of each position, numbered within its group.
    weight : (p,) float32 array
        1 in a whole iteration, the remaining fraction in the iteration that is
        kept in part, the whole fraction outside loops, else 0.
    group : (ranks,) int64 array
        Group of each rank.
    """

    first: NDArray[np.int64]
    leaf: NDArray[np.int32]
    weight: NDArray[np.float32]
    group: NDArray[np.int64]

    def offsets(self, calls_first: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what turns a call of each rank into a position when added."""
        return self.first[self.group] - calls_first[:-1]


def expand(
    signature: Signature, fraction: float, shares: Shares | None = None
) -> Expansion:
    """Expand the nests of all groups.

    Parameters
    ----------
    signature : Signature
    fraction : float
        Part of the application that is to be kept, 0 to 1 [1].
    shares : callable, optional
        Other rules than `iteration_shares`, followed in plain Python.

    Raises
    ------
    InputError
        When the counts of a group's leaves contradict its nest.
    """
    parts = [_expand_group(group, fraction, shares) for group in signature.groups]
    lengths = [len(leaf) for leaf, _ in parts]
    group = np.zeros(signature.ranks, np.int64)
    for number, members in enumerate(signature.groups):
        group[list(members.ranks)] = number
    return Expansion(
        first=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        leaf=joined_columns([leaf for leaf, _ in parts]),
        weight=joined_columns([weight for _, weight in parts]),
        group=group,
    )


def _expand_group(
    group: RankGroup, fraction: float, shares: Shares | None
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    length = int(group.count.sum())
    leaf, weight = weigh(group.nest, fraction, length)
    counted = np.bincount(leaf, minlength=len(group.count))
    if not np.array_equal(counted, group.count):
        raise InputError(_BROKEN)
    if shares is not None:
        _, weight = weigh_plain(group.nest, fraction, shares)
    return leaf, weight


def weigh(
    nest: Nest, fraction: float, length: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return leaf and weight of every position of a nest (C kernel).

    Parameters
    ----------
    nest : Nest
    fraction : float
        Part that is to be kept, 0 to 1 [1].
    length : int
        Length of the string, an upper bound.

    Raises
    ------
    InputError
        When the nest is longer than that or its trip counts do not fit.
    """
    leaf = empty_column(length, np.int32)
    weight = empty_column(length, np.float32)
    columns = [
        np.ascontiguousarray(column, dtype)
        for column, dtype in (
            (nest.body_items, np.int32),
            (nest.trips_first, np.int64),
            (nest.trips, np.int64),
        )
    ]
    found = lib.skelgen_select(
        len(nest),
        ffi.from_buffer("int32_t[]", columns[0]),
        ffi.from_buffer("int64_t[]", columns[1]),
        ffi.from_buffer("int64_t[]", columns[2]),
        fraction,
        length,
        ffi.from_buffer("int32_t[]", leaf, require_writable=True),
        ffi.from_buffer("float[]", weight, require_writable=True),
    )
    if found < 0:
        raise InputError(_BROKEN)
    return leaf[:found], weight[:found]


def weigh_plain(
    nest: Nest, fraction: float, shares: Shares | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return leaf and weight of every position of a nest (plain Python twin)."""
    walk = _Walk(nest, shares or iteration_shares)
    walk.body(0, len(nest), fraction)
    return np.array(walk.leaf, np.int32), np.array(walk.weight, np.float32)


class _Walk:
    """One walk over the expansion of a nest."""

    def __init__(self, nest: Nest, shares: Shares) -> None:
        self.shares = shares
        self.body_items = nest.body_items.tolist()
        leaves = iter(range(len(nest)))
        self.number = [-1 if items else next(leaves) for items in self.body_items]
        self.trips = [_repeated(nest, item) for item in range(len(nest))]
        self.leaf: list[int] = []
        self.weight: list[float] = []

    def body(self, start: int, end: int, fraction: float) -> None:
        item = start
        while item < end:
            if self.number[item] < 0:
                self.loop(item, fraction)
            else:
                self.leaf.append(self.number[item])
                self.weight.append(fraction)
            item += 1 + self.body_items[item]

    def loop(self, item: int, fraction: float) -> None:
        trips = next(self.trips[item])
        shares = self.shares(trips, fraction)
        for trip in range(trips):
            share = shares.get(trip, 0.0)
            self.body(item + 1, item + 1 + self.body_items[item], share)


def iteration_shares(trips: int, fraction: float) -> dict[int, float]:
    """Say which iterations of a loop execution are kept, and what part of each.

    Parameters
    ----------
    trips : int
    fraction : float
        Part of the execution that is to be kept, 0 to 1 [1].

    Examples
    --------
    >>> iteration_shares(12, 0.25)
    {2: 1.0, 6: 1.0, 10: 1.0}
    >>> iteration_shares(5, 0.125)
    {2: 0.625}
    """
    kept = trips * fraction
    whole = math.floor(kept + 1e-9)
    part = kept - whole if kept - whole >= 1e-9 else 0.0
    chosen = whole + (part > 0)
    return {
        (2 * order + 1) * trips // (2 * chosen): part
        if part and order == chosen - 1
        else 1.0
        for order in range(chosen)
    }


def _repeated(nest: Nest, item: int) -> Iterator[int]:
    for trips, repeats in trip_rows(nest, item).tolist():
        for _ in range(repeats):
            yield trips
