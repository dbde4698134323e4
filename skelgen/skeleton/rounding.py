"""Decide how many units of each type are kept.

The target of a type is the kept fraction times its number. What iteration selection
already keeps whole is left alone when it lies within half a percent, else the target
is rounded. What rounding gives and takes is carried through the types of one coarse
class (kind of function, family, power of two of the size): a type keeps one more or
one less each time the carry reaches one event. Then every class of calls that makes
up more than 1 % of a rank's calls is brought within 1 % or one event of its target.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Relative deviation of a type's whole iterations that is left alone.
_LEFT_ALONE = 0.005
#: Classes with more than this share of a rank's calls are held to their target.
RELEVANT_SHARE = 0.01
#: Largest relative deviation of those classes from their target.
TOLERANCE = 0.01
_NEARLY_ONE = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Demand:
    """What rounding knows about the types of units.

    Attributes
    ----------
    number : (types,) int64 array
        Units of each type that can be kept.
    whole : (types,) int64 array
        Those in whole kept iterations.
    order : tuple of (int, hashable, int)
        Of each type the rank and coarse class of its anchor and the anchor's
        symbol, the order in which carries pass on.
    member_type, member_class, member_calls : (m,) int64 arrays
        Calls of a class that one unit of a type holds. A class is a symbol on a
        rank.
    class_calls : (classes,) int64 array
        Calls of each class in the application.
    relevant : (classes,) bool array
        Whether the class is held to its target.
    """

    number: NDArray[np.int64]
    whole: NDArray[np.int64]
    order: tuple[tuple[int, Hashable, int], ...]
    member_type: NDArray[np.int64]
    member_class: NDArray[np.int64]
    member_calls: NDArray[np.int64]
    class_calls: NDArray[np.int64]
    relevant: NDArray[np.bool_]


def kept_numbers(demand: Demand, fraction: float) -> NDArray[np.int64]:
    """Return how many units of each type are kept.

    Parameters
    ----------
    demand : Demand
    fraction : float
        Part of the application that is to be kept [1].
    """
    kept = _with_carry(demand, fraction)
    return _Repair(demand, fraction, kept).run()


def _with_carry(demand: Demand, fraction: float) -> NDArray[np.int64]:
    target = demand.number * fraction
    near = np.abs(demand.whole - target) <= np.maximum(0.5, _LEFT_ALONE * target)
    rounded = np.floor(target + 0.5).astype(np.int64)
    kept = np.where(near, demand.whole, rounded)
    rest = target - kept
    ranked = sorted(range(len(kept)), key=lambda t: (*_sortable(demand.order[t]), t))
    carry, previous, rare = 0.0, None, False
    passed: dict[Hashable, float] = {}
    for t in ranked:
        rank, coarse, _ = demand.order[t]
        if (rank, coarse) != previous:
            _pass_on(passed, previous, carry if rare else 0.0)
            carry, rare = passed.pop(coarse, 0.0), True
            previous = (rank, coarse)
        rare &= bool(target[t] < 1)
        carry += rest[t]
        step = 1 if carry >= _NEARLY_ONE else -1 if carry <= -_NEARLY_ONE else 0
        if step and 0 <= kept[t] + step <= demand.number[t]:
            kept[t] += step
            carry -= step
    return kept


def _sortable(order: tuple[int, Hashable, int]) -> tuple[int, str, int]:
    rank, coarse, symbol = order
    return rank, repr(coarse), symbol


def _pass_on(
    passed: dict[Hashable, float], previous: tuple[int, Hashable] | None, carry: float
) -> None:
    """Hand what is left of rare types to the next rank's same coarse class."""
    if previous is not None:
        passed[previous[1]] = carry


class _Repair:
    """Bring classes to their target, one unit at a time."""

    def __init__(
        self, demand: Demand, fraction: float, kept: NDArray[np.int64]
    ) -> None:
        self.demand, self.kept = demand, kept
        classes = len(demand.class_calls)
        self.target = demand.class_calls * fraction
        self.allowed = np.maximum(1.0, TOLERANCE * self.target) + 1e-6
        held = np.bincount(
            demand.member_class,
            weights=demand.member_calls * kept[demand.member_type],
            minlength=classes,
        )
        self.off = held - self.target
        self.of_type = _ragged(
            demand.member_type, demand.member_class, demand.member_calls, len(kept)
        )
        self.of_class = _ragged(
            demand.member_class, demand.member_type, demand.member_calls, classes
        )
        self.given_up = ~demand.relevant

    def run(self) -> NDArray[np.int64]:
        """Return the mended numbers."""
        for _ in range(4 * len(self.kept) + 100):
            excess = np.abs(self.off) - self.allowed
            excess[self.given_up] = 0
            worst = int(np.argmax(excess)) if len(excess) else 0
            if not len(excess) or excess[worst] <= 0:
                break
            if not self._improve(worst):
                self.given_up[worst] = True
        return self.kept

    def _improve(self, worst: int) -> bool:
        step = -1 if self.off[worst] > 0 else 1
        best, least = -1, -1e-9
        for t in self.of_class[worst][0].tolist():
            if 0 <= self.kept[t] + step <= self.demand.number[t]:
                change = self._change(t, step)
                if change < least:
                    best, least = t, change
        if best < 0:
            return False
        classes, calls = self.of_type[best]
        self.kept[best] += step
        self.off[classes] += step * calls
        return True

    def _change(self, t: int, step: int) -> float:
        """Return how much worse one more (or less) of a type makes its classes."""
        classes, calls = self.of_type[t]
        before, after = self.off[classes], self.off[classes] + step * calls
        allowed = self.allowed[classes]
        held = self.demand.relevant[classes]
        beyond = np.maximum(np.abs(after) - allowed, 0) ** 2
        beyond -= np.maximum(np.abs(before) - allowed, 0) ** 2
        scale = np.maximum(self.target[classes], 1.0)
        near = ((after**2 - before**2) / scale).sum() * 1e-6
        return float((beyond / scale)[held].sum() + near)


def _ragged(
    row: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    rows: int,
) -> Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    order = np.argsort(row, kind="stable")
    ends = np.cumsum(np.bincount(row, minlength=rows))[:-1]
    return list(
        zip(np.split(first[order], ends), np.split(second[order], ends), strict=True)
    )
