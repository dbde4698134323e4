"""The fold in plain Python: what the C kernel does, step by step.

Slow; the tests compare the kernel with it. `skelgen/_kernels/fold.c` explains the
algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from skelgen.loops.types import Nest

_CHAIN, _DUE, _GRAM = 8, 8, 4
_WORD = (1 << 64) - 1
_BASE = 0x2545F4914F6CDD1D


def _mix(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & _WORD
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _WORD
    return value ^ (value >> 31)


@dataclass(slots=True, eq=False)
class _Loop:
    """A loop; leaves of its body are None in `children`."""

    body: tuple[int, ...]
    children: list[_Loop | None]
    runs: list[list[int]] = field(default_factory=list)

    def add(self, trips: int, executions: int) -> None:
        if self.runs and self.runs[-1][0] == trips:
            self.runs[-1][1] += executions
        else:
            self.runs.append([trips, executions])

    def lengthen(self, more: int) -> None:
        trips = self.runs[-1][0]
        self.runs[-1][1] -= 1
        if self.runs[-1][1] == 0:
            self.runs.pop()
        self.add(trips + more, 1)

    def absorb(self, other: _Loop, *, own_runs: bool = True) -> None:
        for child, more in zip(self.children, other.children, strict=True):
            if child is not None and more is not None:
                child.absorb(more)
        for trips, executions in other.runs if own_runs else ():
            self.add(trips, executions)

    def chain(self) -> Iterable[_Loop]:
        """Yield the loop, the loop its body ends in, and so on."""
        loop: _Loop | None = self
        while loop is not None:
            yield loop
            loop = loop.children[-1]


class _Stack:
    """The stack of the reducer."""

    def __init__(self, symbols: list[int]) -> None:
        slots = 1024
        while slots < len(symbols) // 2 and slots < 1 << 22:
            slots *= 2
        self.mask = slots - 1
        self.symbols = max(symbols, default=-1) + 1
        self.items: list[tuple[int, _Loop | None]] = []
        self.prefix = [0]
        self.grams: dict[int, int] = {}
        self.previous: list[int] = []
        self.due: dict[int, list[tuple[int, _Loop]]] = {}
        self.classes: dict[tuple[int, ...], int] = {}
        self.by_last: dict[int, list[tuple[int, ...]]] = {}

    def push(self, identity: int, loop: _Loop | None) -> None:
        at = len(self.items)
        self.items.append((identity, loop))
        self.prefix.append((self.prefix[-1] * _BASE + _mix(identity)) & _WORD)
        self.previous.append(-1)
        if len(self.items) >= _GRAM:
            slot = self._slot()
            self.previous[at] = self.grams.get(slot, -1)
            self.grams[slot] = at
        for watched in loop.chain() if loop else ():
            self.due.setdefault(at + len(watched.body), []).append((at, watched))

    def pop(self, count: int) -> list[_Loop | None]:
        taken = []
        for _ in range(count):
            if len(self.items) >= _GRAM:
                self.grams[self._slot()] = self.previous[-1]
            self.previous.pop()
            self.prefix.pop()
            _, loop = self.items.pop()
            for watched in loop.chain() if loop else ():
                self.due[len(self.items) + len(watched.body)].pop()
            taken.append(loop)
        return taken[::-1]

    def _slot(self) -> int:
        power = pow(_BASE, _GRAM, 1 << 64)
        size = len(self.items)
        value = (self.prefix[size] - self.prefix[size - _GRAM] * power) & _WORD
        return value & self.mask

    def top(self, length: int) -> tuple[int, ...]:
        return tuple(identity for identity, _ in self.items[-length:])

    def reduce(self) -> None:
        while self.items:
            if self._extend() or self._join():
                return
            if not self._known() and not self._repeat():
                return

    def _extend(self) -> bool:
        due = self.due.get(len(self.items) - 1, [])
        for _, loop in due[: -_DUE - 1 : -1]:
            length = len(loop.body)
            if self.top(length) == loop.body:
                for child, more in zip(loop.children, self.pop(length), strict=True):
                    if child is not None and more is not None:
                        child.absorb(more)
                loop.lengthen(1)
                return True
        return False

    def _join(self) -> bool:
        upper = self.items[-1][1]
        if upper is None or len(self.items) < 2 or self.items[-2][1] is None:
            return False
        for loop in self.items[-2][1].chain():
            if loop.body == upper.body:
                self.pop(1)
                loop.absorb(upper, own_runs=False)
                loop.lengthen(upper.runs[0][0])
                return True
        return False

    def _known(self) -> bool:
        for body in self.by_last.get(self.items[-1][0], [])[: -_CHAIN - 1 : -1]:
            if len(body) <= len(self.items) and self.top(len(body)) == body:
                self._wrap(body, 1)
                return True
        return False

    def _repeats(self, length: int) -> bool:
        if 2 * length > len(self.items):
            return False
        if length == 1 and self.items[-1][1] is not None:
            return False
        return self.top(2 * length)[:length] == self.top(length)

    def _candidates(self) -> Iterable[int]:
        yield from range(1, _GRAM)
        top = len(self.items) - 1
        at = self.previous[top]
        for _ in range(_CHAIN):
            if at < 0:
                return
            yield top - at
            at = self.previous[at]

    def _repeat(self) -> bool:
        for length in self._candidates():
            if self._repeats(length):
                body = self.top(length)
                if body not in self.classes:
                    self.classes[body] = self.symbols + len(self.classes)
                    self.by_last.setdefault(body[-1], []).append(body)
                self._wrap(body, 2)
                return True
        return False

    def _wrap(self, body: tuple[int, ...], trips: int) -> None:
        taken = self.pop(trips * len(body))
        loop = _Loop(body, taken[: len(body)])
        loop.add(trips, 1)
        for child, more in zip(loop.children, taken[len(body) :], strict=False):
            if child is not None and more is not None:
                child.absorb(more)
        self.push(self.classes[body], loop)


@dataclass(slots=True)
class _Output:
    body_items: list[int] = field(default_factory=list)
    symbol: list[int] = field(default_factory=list)
    trips_first: list[int] = field(default_factory=list)
    trips: list[list[int]] = field(default_factory=list)

    def emit(self, identity: int, loop: _Loop | None) -> None:
        own = len(self.symbol)
        plain = loop is not None and len(loop.runs) == 1 and loop.runs[0][0] == 1
        if not plain:
            self.body_items.append(0)
            self.symbol.append(identity if loop is None else -1)
            self.trips_first.append(len(self.trips))
        if loop is None:
            return
        if not plain:
            self.trips += loop.runs
        for inner, child in zip(loop.body, loop.children, strict=True):
            self.emit(inner, child)
        if not plain:
            self.body_items[own] = len(self.symbol) - own - 1


def fold_plain(symbols: ArrayLike) -> Nest:
    """Fold a string of symbols; the twin of `skelgen.loops.fold`.

    Parameters
    ----------
    symbols : (n,) array of int
        Symbols, all >= 0.

    Returns
    -------
    Nest

    Examples
    --------
    >>> fold_plain([0, 1, 0, 1, 0, 1]).trips.tolist()
    [[3, 1]]
    """
    string = [int(symbol) for symbol in np.asarray(symbols)]
    stack = _Stack(string)
    for symbol in string:
        stack.push(symbol, None)
        stack.reduce()
    out = _Output()
    for identity, loop in stack.items:
        out.emit(identity, loop)
    return Nest(
        body_items=np.array(out.body_items, np.int32),
        symbol=np.array(out.symbol, np.int32),
        trips_first=np.array([*out.trips_first, len(out.trips)], np.int64),
        trips=np.array(out.trips, np.int64).reshape(-1, 2),
    )
