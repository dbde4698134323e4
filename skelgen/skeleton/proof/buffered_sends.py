"""Mend skeletons of applications that rely on buffered sends.

When sends that wait for their receives stall, the application finished only because
its library buffered them. The sends that stall become nonblocking: first with their
completion behind the next call that can wait for others, as a programmer would write
an exchange; if that stalls too, with their request freed at once, which is what
buffering means. The simulator judges every attempt.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, FunctionInfo
from skelgen.skeleton.quantities.strings import INSERTED, RankStrings
from skelgen.skeleton.quantities.symbols import GrowingSymbols

_WAITING = (
    CallKind.RECEIVE,
    CallKind.SENDRECV,
    CallKind.COMPLETE,
    CallKind.COLLECTIVE,
    CallKind.AWAIT,
    CallKind.COLLECTIVE_INIT,
)


@dataclass(frozen=True, slots=True)
class Mended:
    """Sends that no longer wait.

    Attributes
    ----------
    waited, freed : frozenset of (int, int)
        (Group, leaf) of sends that are completed later, and of those that are not.
    """

    waited: frozenset[tuple[int, int]] = frozenset()
    freed: frozenset[tuple[int, int]] = frozenset()


@dataclass(slots=True)
class _Step:
    """A step whose requests are named by the steps that created them."""

    call: int
    leaf: int
    symbol: int
    names: list[int] = field(default_factory=list)
    number: int = INSERTED


class _Created:
    """The requests that a rank has created so far, by the steps that did."""

    def __init__(self) -> None:
        self.plain: list[int] = []
        self.persistent: list[int] = []
        self.place: dict[int, int] = {}

    def add(self, step: int, info: FunctionInfo) -> None:
        if info.creates:
            sort = self.persistent if info.persistent else self.plain
            self.place[step] = len(sort)
            sort.append(step)

    def named(self, age: int) -> int:
        """Return the step that created the request of an age."""
        return self.plain[-age] if age > 0 else self.persistent[age]

    def age(self, step: int) -> int:
        """Return the age of the request that a step created."""
        place = self.place[step]
        if place < len(self.plain) and self.plain[place] == step:
            return len(self.plain) - place
        return place - len(self.persistent)


def mend(
    strings: RankStrings,
    group: NDArray[np.int64],
    symbols: GrowingSymbols,
    mended: Mended,
) -> RankStrings:
    """Make sends nonblocking.

    Parameters
    ----------
    strings : RankStrings
        Of the plan without mending.
    group : (ranks,) int64 array
        Rank group of each rank.
    symbols : GrowingSymbols
        Gets the symbols that are needed.
    mended : Mended
    """
    every = {*mended.waited, *mended.freed}
    ranks = []
    for rank in range(len(group)):
        own = _steps(strings, rank, symbols)
        leaves = {leaf for number, leaf in every if number == group[rank]}
        freed = {leaf for number, leaf in mended.freed if number == group[rank]}
        ranks.append(_rewrite(own, leaves, freed, symbols) if leaves else own)
    return _packed(ranks, symbols)


def _steps(strings: RankStrings, rank: int, symbols: GrowingSymbols) -> list[_Step]:
    first, last = strings.first[rank : rank + 2].tolist()
    infos = [symbols.info(symbol) for symbol in range(len(symbols.table))]
    created = _Created()
    steps = []
    for place in range(first, last):
        ages = strings.ages[strings.age_first[place] : strings.age_first[place + 1]]
        symbol = int(strings.symbol[place])
        steps.append(
            _Step(
                int(strings.call[place]),
                int(strings.leaf[place]),
                symbol,
                [created.named(age) for age in ages.tolist()],
                place - first,
            )
        )
        created.add(place - first, infos[symbol])
    return steps


def _rewrite(
    steps: list[_Step],
    leaves: Collection[int],
    freed: Collection[int],
    symbols: GrowingSymbols,
) -> list[_Step]:
    """Return the steps of one rank with some sends made nonblocking."""
    kinds = [symbols.kind(symbol) for symbol in range(len(symbols.table))]
    detached = {step.number for step in steps if step.leaf in leaves}
    pending: list[int] = []
    result: list[_Step] = []
    for step in steps:
        kind = kinds[step.symbol]
        names = [name for name in step.names if name not in detached]
        if step.names and not names:
            continue
        symbol = (
            symbols.nonblocking(step.symbol) if step.leaf in leaves else step.symbol
        )
        result.append(_Step(step.call, step.leaf, symbol, names, step.number))
        if step.leaf in freed:
            free = symbols.plain("MPI_Request_free")
            result.append(_Step(INSERTED, INSERTED, free, [step.number]))
        elif step.leaf in leaves:
            pending.append(step.number)
        elif kind in _WAITING:
            result += _completion(pending, symbols)
    return result + _completion(pending, symbols)


def _completion(pending: list[int], symbols: GrowingSymbols) -> list[_Step]:
    """Return the completion of pending sends, and forget them."""
    if not pending:
        return []
    name = "MPI_Wait" if len(pending) == 1 else "MPI_Waitall"
    names, pending[:] = pending.copy(), []
    return [_Step(INSERTED, INSERTED, symbols.plain(name), names)]


def _packed(ranks: list[list[_Step]], symbols: GrowingSymbols) -> RankStrings:
    ages: list[int] = []
    age_first = [0]
    for steps in ranks:
        created = _Created()
        for step in steps:
            ages += [created.age(name) for name in step.names]
            age_first.append(len(ages))
            created.add(step.number, symbols.info(step.symbol))
    every = [step for steps in ranks for step in steps]
    first = np.cumsum([0, *map(len, ranks)])
    return RankStrings(
        first=first.astype(np.int64),
        call=np.array([step.call for step in every], np.int64),
        leaf=np.array([step.leaf for step in every], np.int64),
        symbol=np.array([step.symbol for step in every], np.int64),
        age_first=np.array(age_first, np.int64),
        ages=np.array(ages, np.int64),
    )
