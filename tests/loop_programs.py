"""Random programs of nested loops, for tests of folding.

A program is a list: a symbol, or a loop ``(trips, body)`` with the trip counts that its
executions take in turn.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

Program = list["int | tuple[tuple[int, ...], Program]"]

DEPTH = 3


def loop_program(chance: random.Random, symbols: int) -> Program:
    """Return one loop around a random body.

    Parameters
    ----------
    chance : random.Random
    symbols : int
        How many symbols there are; 0 gives every leaf one of its own.
    """
    numbers = itertools.count()

    def leaf() -> int:
        return chance.randrange(symbols) if symbols else next(numbers)

    return [((chance.randint(6, 12),), _body(chance, leaf, DEPTH))]


def _body(chance: random.Random, leaf: Callable[[], int], depth: int) -> Program:
    items: Program = []
    for _ in range(chance.randint(1, 4)):
        if depth and chance.random() < 0.5:
            items.append((_trips(chance), _body(chance, leaf, depth - 1)))
        else:
            items.append(leaf())
    return items


def _trips(chance: random.Random) -> tuple[int, ...]:
    least = chance.randint(1, 5)
    if chance.random() < 0.5:
        return (least + 1,)
    return tuple(least + chance.randint(0, 4) for _ in range(chance.choice([3, 40])))


def items_of(program: Program) -> int:
    """Count the loops and leaves of a program."""
    return sum(1 + items_of(i[1]) if isinstance(i, tuple) else 1 for i in program)


def execute(program: Program) -> list[int]:
    """Return the symbols that a program goes through."""
    string: list[int] = []
    _run(program, string, {})
    return string


def _run(program: Program, string: list[int], turns: dict[int, Iterator[int]]) -> None:
    for item in program:
        if isinstance(item, tuple):
            trips = turns.setdefault(id(item), itertools.cycle(item[0]))
            for _ in range(next(trips)):
                _run(item[1], string, turns)
        else:
            string.append(item)
