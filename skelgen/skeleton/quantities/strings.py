"""The kept calls of every rank as strings of operations, and the ranks that share one.

An operation is a leaf of the signature with the requests that it names. Ranks of one
group whose strings are equal become one program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.keys import label, mixed
from skelgen.signature import Signature
from skelgen.skeleton.keep.closure import KeptCalls
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.selection import places

#: `Strings.leaf` and `Strings.call` of a completion that the plan inserted.
INSERTED = -1


@dataclass(frozen=True, slots=True)
class RankStrings:
    """What every rank of a skeleton executes, rank after rank.

    Attributes
    ----------
    first : (ranks + 1,) int64 array
        Steps of rank r are rows ``first[r]`` to ``first[r + 1]``.
    call : (k,) int64 array
        Call of the application that the step repeats, or INSERTED.
    leaf : (k,) int64 array
        Its leaf in the rank's group, or INSERTED.
    symbol : (k,) int64 array
        Row of the plan's symbols.
    age_first : (k + 1,) int64 array
    ages : (m,) int64 array
        Requests that the step names, as in `KeptCalls`.
    """

    first: NDArray[np.int64]
    call: NDArray[np.int64]
    leaf: NDArray[np.int64]
    symbol: NDArray[np.int64]
    age_first: NDArray[np.int64]
    ages: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SharedStrings:
    """What ranks execute, by the ranks that share it: programs without quantities.

    Attributes
    ----------
    strings : RankStrings
    ranks : tuple of tuple of int
        Ranks of each program.
    group : tuple of int
        Rank group of each program.
    local : tuple of (n,) int32 array
        String of each program over its operations, numbered by first occurrence.
    step : tuple of (operations,) int64 array
        Of each program and operation the first step of the program's first rank
        that executes it, counted from that rank's first step.
    program : (ranks,) int64 array
        Program of each rank.
    """

    strings: RankStrings
    ranks: tuple[tuple[int, ...], ...]
    group: tuple[int, ...]
    local: tuple[NDArray[np.int32], ...]
    step: tuple[NDArray[np.int64], ...]
    program: NDArray[np.int64]

    def operation_ages(self, program: int, operation: int) -> tuple[int, ...]:
        """Return the requests that an operation names."""
        strings = self.strings
        row = strings.first[self.ranks[program][0]] + self.step[program][operation]
        return tuple(
            strings.ages[strings.age_first[row] : strings.age_first[row + 1]].tolist()
        )

    def column(self, name: str, program: int) -> NDArray[np.int64]:
        """Return ``leaf`` or ``symbol`` of all operations of a program."""
        first = self.strings.first[self.ranks[program][0]]
        values: NDArray[np.int64] = getattr(self.strings, name)
        found: NDArray[np.int64] = values[first + self.step[program]]
        return found


def strings_of(
    signature: Signature, expansion: Expansion, calls: Calls, kept: KeptCalls
) -> RankStrings:
    """Name leaf and symbol of all kept calls."""
    _, symbol, leaf = places(signature, expansion, calls, kept.call)
    return RankStrings(kept.first, kept.call, leaf, symbol, kept.age_first, kept.ages)


def shared_strings(strings: RankStrings, group: NDArray[np.int64]) -> SharedStrings:
    """Find the operations of every rank and the ranks that share a program.

    Parameters
    ----------
    strings : RankStrings
    group : (ranks,) int64 array
        Rank group of each rank.
    """
    operation, _ = label(_operation_keys(strings))
    owners: dict[tuple[int, bytes], list[int]] = {}
    for rank in range(len(group)):
        own = operation[strings.first[rank] : strings.first[rank + 1]]
        owners.setdefault((int(group[rank]), own.tobytes()), []).append(rank)
    ranks = tuple(tuple(found) for found in owners.values())
    local, step = [], []
    program = np.zeros(len(group), np.int64)
    for number, found in enumerate(ranks):
        own = operation[strings.first[found[0]] : strings.first[found[0] + 1]]
        numbers, first = label(own.astype(np.uint64))
        local.append(numbers)
        step.append(first)
        program[list(found)] = number
    groups = tuple(int(group[found[0]]) for found in ranks)
    return SharedStrings(strings, ranks, groups, tuple(local), tuple(step), program)


def _operation_keys(strings: RankStrings) -> NDArray[np.uint64]:
    """Return a key of each step that depends on its leaf, symbol and requests."""
    keys = mixed(strings.leaf + 2) + mixed(strings.symbol + (1 << 40))
    count = np.diff(strings.age_first)
    owner = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(strings.ages)) - np.repeat(strings.age_first[:-1], count)
    with np.errstate(over="ignore"):
        terms = mixed(strings.ages + (within << 32)) + np.uint64(1)
        np.add.at(keys, owner, terms)
    return keys
