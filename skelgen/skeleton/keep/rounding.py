"""Decide how many units of each type are kept.

The target of a type is the kept fraction times its number. Types that do the same on
other ranks (the halo exchanges of an SPMD program) are one kind and get one decision,
so that the ranks stay alike: what iteration selection keeps whole when it lies within
half a percent of the target, else the target rounded. Kinds too rare for one event
carry their fraction together, by coarse class (kind of function, family, power of
two of the size), and keep one each time the carry reaches one. Then every class of
calls that makes up more than 1 % of a rank's calls is brought within 1 % or one event
of its target.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.thresholds import (
    LARGEST_CLASS_DEVIATION,
    LARGEST_UNCORRECTED_ROUNDING,
)

_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Demand:
    """What rounding knows about the types of units.

    Attributes
    ----------
    number : (types,) int64 array
        Units of each type that can be kept.
    whole : (types,) int64 array
        Those in whole kept iterations.
    kind : (types,) int64 array
        Types of one kind hold the same symbols, on other ranks.
    coarse : tuple of hashable
        Coarse class of each kind.
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
    kind: NDArray[np.int64]
    coarse: tuple[Hashable, ...]
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
    return _Repair(demand, fraction, _rounded(demand, fraction)).run()


def _rounded(demand: Demand, fraction: float) -> NDArray[np.int64]:
    kept = np.zeros(len(demand.number), np.int64)
    carry = dict.fromkeys(demand.coarse, 0.5)
    apart = _apart(demand)
    order = np.argsort(demand.kind, kind="stable")
    cuts = np.cumsum(np.bincount(demand.kind, minlength=len(demand.coarse)))
    parts = np.split(order, cuts[:-1]) if len(order) else []
    for kind, types in enumerate(parts):
        coarse, number = demand.coarse[kind], demand.number[types]
        target = number * fraction
        if not apart[kind]:
            kept[types], carry[coarse] = _in_turn(target, carry[coarse])
        elif target.max() < 1 - _TINY:
            one = np.array([target.mean()])
            kept[types], carry[coarse] = _in_turn(one, carry[coarse])
        else:
            for equal in np.unique(number):
                alike = types[number == equal]
                kept[alike] = _nearest(demand.whole[alike], float(equal) * fraction)
    return np.minimum(kept, demand.number)


def _nearest(whole: NDArray[np.int64], target: float) -> int:
    allowed = max(0.5, LARGEST_UNCORRECTED_ROUNDING * target)
    if whole.min() == whole.max() and abs(int(whole[0]) - target) <= allowed:
        return int(whole[0])
    return math.floor(target + 0.5)


def _in_turn(
    target: NDArray[np.floating], carry: float
) -> tuple[NDArray[np.int64], float]:
    """Round targets so that their sum is right; hand on what is left.

    Examples
    --------
    >>> _in_turn(np.array([0.25, 0.25, 0.25, 1.5]), 0.5)[0].tolist()
    [0, 1, 0, 1]
    """
    steps = np.floor(carry + np.cumsum(target) + _TINY)
    kept = np.diff(steps, prepend=0.0).astype(np.int64)
    return kept, float(carry + target.sum() - steps[-1])


def _apart(demand: Demand) -> NDArray[np.bool_]:
    """Say of each kind whether no two of its types share a class.

    Those of an exchange between a master and its workers share the master's.
    """
    size = len(demand.class_calls) + 1
    pairs = demand.kind[demand.member_type] * size + demand.member_class
    names, count = np.unique(pairs, return_counts=True)
    apart = np.ones(len(demand.coarse), bool)
    apart[names[count > 1] // size] = False
    return apart


class _Members:
    """The classes of each type with their calls, or the types of each class."""

    def __init__(
        self, owner: NDArray[np.int64], member: NDArray[np.int64], calls: NDArray[Any]
    ) -> None:
        order = np.argsort(owner, kind="stable")
        self._owner = owner[order]
        self._member, self._calls = member[order], calls[order]

    def of(self, owner: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the members of one owner and their calls."""
        edges = np.searchsorted(self._owner, (owner, owner + 1))
        return self._member[slice(*edges)], self._calls[slice(*edges)]


class _Repair:
    """Bring classes to their target, one unit at a time."""

    def __init__(
        self, demand: Demand, fraction: float, kept: NDArray[np.int64]
    ) -> None:
        self.demand, self.kept = demand, kept
        classes = len(demand.class_calls)
        self.target = demand.class_calls * fraction
        self.allowed = np.maximum(1.0, LARGEST_CLASS_DEVIATION * self.target) + _TINY
        held = np.bincount(
            demand.member_class,
            weights=demand.member_calls * kept[demand.member_type],
            minlength=classes,
        )
        self.off = held - self.target
        calls = demand.member_calls
        self.of_type = _Members(demand.member_type, demand.member_class, calls)
        self.of_class = _Members(demand.member_class, demand.member_type, calls)
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
        for t in self.of_class.of(worst)[0].tolist():
            if 0 <= self.kept[t] + step <= self.demand.number[t]:
                change = self._change(t, step)
                if change < least:
                    best, least = t, change
        if best < 0:
            return False
        classes, calls = self.of_type.of(best)
        self.kept[best] += step
        self.off[classes] += step * calls
        return True

    def _change(self, t: int, step: int) -> float:
        """Return how much worse one more (or less) of a type makes its classes."""
        classes, calls = self.of_type.of(t)
        before, after = self.off[classes], self.off[classes] + step * calls
        allowed = self.allowed[classes]
        held = self.demand.relevant[classes]
        beyond = np.maximum(np.abs(after) - allowed, 0) ** 2
        beyond -= np.maximum(np.abs(before) - allowed, 0) ** 2
        scale = np.maximum(self.target[classes], 1.0)
        near = ((after**2 - before**2) / scale).sum() * 1e-6
        return float((beyond / scale)[held].sum() + near)
