"""Mend skeletons of applications that rely on buffered sends.

When sends that wait for their receives stall, the application finished only because
its library buffered them. The sends that stall become nonblocking: first with their
completion behind the next call that can wait for others, as a programmer would write
an exchange; if that stalls too, with their request freed at once, which is what
buffering means. The simulator judges every attempt.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events import CallKind, FunctionInfo
from skelgen.events.types import NO_PEER, NO_TAG
from skelgen.signature.labels import symbol_label
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.passes.draft import Draft, Pass
from skelgen.skeleton.passes.finishing import Proof
from skelgen.skeleton.quantities.strings import INSERTED, RankStrings
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.thresholds import (
    MENDING_ROUNDS_ONE_BY_ONE,
    MOST_MENDING_ROUNDS,
)

_NONBLOCKING = {"Send": "Isend", "Rsend": "Irsend", "Isend": "Isend"}

_WAITING = (
    CallKind.RECEIVE,
    CallKind.SENDRECV,
    CallKind.COMPLETE,
    CallKind.COLLECTIVE,
    CallKind.AWAIT,
    CallKind.COLLECTIVE_INIT,
)


@dataclass(frozen=True, slots=True)
class BufferedSends:
    """Make sends nonblocking until the programs finish, or cannot be mended.

    Attributes
    ----------
    quantities : Pass
        Gives strings of calls their quantities again.
    who : str
        Who relies on buffered sends, for people.
    """

    quantities: Pass
    who: str = "application"

    def applies(self, draft: Draft) -> bool:
        """Say whether ranks stall in sends that wait for their receives."""
        flaw = draft.flaw
        return flaw is not None and flaw.stalled and flaw.rendezvous

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with other sends, proved again."""
        mended, current = Mended(), draft
        for turn in range(MOST_MENDING_ROUNDS):
            more = _mend_more(current, mended)
            if turn >= MENDING_ROUNDS_ONE_BY_ONE:
                more = _with_equal_sends(draft, more)
            if more == mended:
                return current
            mended = more
            group = draft.expansion.group
            strings, symbols = mend(draft.strings, group, draft.symbols, mended)
            other = replace(draft, strings=strings, symbols=symbols)
            current = Proof().rewrite(self.quantities.rewrite(other))
        raise InputError("mending stalled sends did not come to an end: record again")

    def doubts(self, draft: Draft) -> list[str]:
        """Name the sends that were made nonblocking."""
        signature, strings = draft.signature, draft.strings
        added = strings.symbol >= len(signature.symbols)
        steps = np.flatnonzero(added & (strings.leaf != INSERTED))
        if not len(steps):
            return []
        rank = np.searchsorted(strings.first, steps, side="right") - 1
        places = {
            *zip(
                draft.expansion.group[rank].tolist(),
                strings.leaf[steps].tolist(),
                strict=True,
            )
        }
        names = sorted(
            symbol_label(signature, _leaf_symbol(draft, *place)) for place in places
        )
        who = self.who
        if signature.concurrent_ranks:
            who = "order in which one thread makes the calls of several"
        return [
            f"the {who} relies on buffered sends, which became nonblocking in "
            f"the skeleton: {', '.join(dict.fromkeys(names))}"
        ]


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


class _Additions:
    """The symbols of a plan while those are added that do not wait."""

    def __init__(self, symbols: PlanSymbols) -> None:
        self.symbols = symbols
        self._nonblocking: dict[int, int] = {}
        self._plain: dict[str, int] = {}

    def nonblocking(self, symbol: int) -> int:
        """Return the symbol that does the same without waiting."""
        if symbol not in self._nonblocking:
            name = f"MPI_{_NONBLOCKING[_short(self.symbols.name(symbol))]}"
            row = self.symbols.table[symbol : symbol + 1].copy()
            self._nonblocking[symbol] = self._add(row, name)
        return self._nonblocking[symbol]

    def plain(self, name: str) -> int:
        """Return the symbol of a function that only names requests."""
        if name not in self._plain:
            row = np.zeros(1, self.symbols.table.dtype)
            row["family"], row["site"] = -1, 0
            row["peer"] = row["peer2"] = NO_PEER
            row["tag"] = row["tag2"] = NO_TAG
            row["size_class"] = -1
            self._plain[name] = self._add(row, name)
        return self._plain[name]

    def _add(self, row: NDArray[np.void], name: str) -> int:
        functions, table = self.symbols.functions, self.symbols.table
        if name not in functions:
            functions = (*functions, name)
        row["function"] = functions.index(name)
        self.symbols = PlanSymbols(functions, np.concatenate([table, row]))
        return len(table)


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


def mendable(name: str) -> bool:
    """Return whether a function sends, and may rely on buffering.

    Parameters
    ----------
    name : str
        MPI name.

    Examples
    --------
    >>> mendable("MPI_Send"), mendable("MPI_Ssend")
    (True, False)
    """
    return _short(name) in _NONBLOCKING


def mend(
    strings: RankStrings,
    group: NDArray[np.int64],
    symbols: PlanSymbols,
    mended: Mended,
) -> tuple[RankStrings, PlanSymbols]:
    """Make sends nonblocking.

    Parameters
    ----------
    strings : RankStrings
        Of the plan without mending.
    group : (ranks,) int64 array
        Rank group of each rank.
    symbols : PlanSymbols
        Of the plan without mending.
    mended : Mended

    Returns
    -------
    strings : RankStrings
    symbols : PlanSymbols
        With those that are needed.
    """
    if not (mended.waited or mended.freed):
        return strings, symbols
    added = _Additions(symbols)
    every = {*mended.waited, *mended.freed}
    ranks = []
    for rank in range(len(group)):
        own = _steps(strings, rank, symbols)
        leaves = {leaf for number, leaf in every if number == group[rank]}
        freed = {leaf for number, leaf in mended.freed if number == group[rank]}
        ranks.append(_rewrite(own, leaves, freed, added) if leaves else own)
    return _packed(ranks, added.symbols), added.symbols


def _short(name: str) -> str:
    return name.removeprefix("MPI_").removesuffix("_c")


def _steps(strings: RankStrings, rank: int, symbols: PlanSymbols) -> list[_Step]:
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
    added: _Additions,
) -> list[_Step]:
    """Return the steps of one rank with some sends made nonblocking."""
    symbols = added.symbols
    kinds = [symbols.kind(symbol) for symbol in range(len(symbols.table))]
    detached = {step.number for step in steps if step.leaf in leaves}
    pending: list[int] = []
    result: list[_Step] = []
    for step in steps:
        kind = kinds[step.symbol]
        names = [name for name in step.names if name not in detached]
        if step.names and not names:
            continue
        symbol = added.nonblocking(step.symbol) if step.leaf in leaves else step.symbol
        result.append(_Step(step.call, step.leaf, symbol, names, step.number))
        if step.leaf in freed:
            free = added.plain("MPI_Request_free")
            result.append(_Step(INSERTED, INSERTED, free, [step.number]))
        elif step.leaf in leaves:
            pending.append(step.number)
        elif kind in _WAITING:
            result += _completion(pending, added)
    return result + _completion(pending, added)


def _completion(pending: list[int], added: _Additions) -> list[_Step]:
    """Return the completion of pending sends, and forget them."""
    if not pending:
        return []
    name = "MPI_Wait" if len(pending) == 1 else "MPI_Waitall"
    names, pending[:] = pending.copy(), []
    return [_Step(INSERTED, INSERTED, added.plain(name), names)]


def _packed(ranks: list[list[_Step]], symbols: PlanSymbols) -> RankStrings:
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


def _mend_more(draft: Draft, mended: Mended) -> Mended:
    """Choose further sends to mend; none when that does not help."""
    flaw, nodes = draft.flaw, draft.nodes
    if flaw is None or nodes is None or not (flaw.stalled and flaw.rendezvous):
        return mended
    waited, freed = set(mended.waited), set(mended.freed)
    for row in flaw.sends:
        place = nodes.place(row)
        if not mendable(nodes.function(row)) or place in mended.freed:
            continue
        # A send that waits for a completion of its own is completed too early.
        late = place in mended.waited or not nodes.blocks(row)
        (freed if late else waited).add(place)
    waited -= freed
    return Mended(frozenset(waited), frozenset(freed))


def _with_equal_sends(draft: Draft, mended: Mended) -> Mended:
    """Mend all sends of a group from the call sites of those that are mended.

    In a program with hundreds of leaves one after the other would take as many rounds.
    """
    columns = draft.signature.symbols[["function", "site"]]
    sites = {
        (number, leaf): (number, *own[leaf % len(own)])
        for number, group in enumerate(draft.leaves.groups)
        for own in [columns[leaf_symbols(draft.signature.groups[number].nest)].tolist()]
        for leaf in range(len(group.count))
    }
    waiting, freeing = (
        {sites[place] for place in chosen} for chosen in (mended.waited, mended.freed)
    )
    freed = frozenset(place for place, site in sites.items() if site in freeing)
    waited = frozenset(place for place, site in sites.items() if site in waiting)
    return Mended(waited - freed, freed)


def _leaf_symbol(draft: Draft, number: int, leaf: int) -> int:
    symbols = leaf_symbols(draft.signature.groups[number].nest)
    return int(symbols[leaf % len(symbols)])
