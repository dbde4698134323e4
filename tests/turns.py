"""Act out programs whose ranks serve whoever comes first, in a random order.

The twin in Python of what skeletons do in C, and no part of how they are made: each
rank is a generator that says what it waits for. Only sends, receives and barriers.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skelgen.events import CallKind, function_info
from skelgen.skeleton.types import TOLD, Operation, Plan, Program, Serving, Turn

#: What a rank waits for: a word, and whom or what.
_Wish = tuple[str, Any]
_Rank = Generator[_Wish, Any, None]


@dataclass
class Acted:
    """How a run ended.

    Attributes
    ----------
    finished : bool
        Whether all ranks came to their end, and all messages were received.
    messages : int
    """

    finished: bool
    messages: int


@dataclass
class _Served:
    """What a rank knows of whom it serves."""

    stretches: list[list[int]]
    due: list[int] = field(default_factory=list)
    left: int = 0
    open: int = 0
    place: int = -1

    @classmethod
    def of(cls, serving: Serving) -> _Served:
        rows = serving.due.tolist()
        return cls([row[1:] for row in rows for _ in range(row[0])])

    def begin(self) -> None:
        if not self.left:
            self.due = list(self.stretches.pop(0))
            self.left = sum(self.due)
            self.open = sum(1 for often in self.due if often)

    def chose(self, place: int, *, shared: bool) -> None:
        self.place = place
        self.left -= 1
        if not shared:
            self.due[place] -= 1
        elif self.left < self.open:
            self.due[place] = 0
        self.open -= not self.due[place]


def act(
    made: Plan,
    programs: Sequence[Program],
    rng: random.Random,
    *,
    rendezvous: bool,
) -> Acted:
    """Run programs to their end, or until nobody can go on."""
    stage = _Stage(
        {
            rank: _Actor(made, program, rank).body(0, len(program.nest))
            for program in programs
            for rank in program.ranks
        },
        rng,
        rendezvous,
    )
    ranks = list(stage.running)
    while any(stage.goes_on(rank) for rank in rng.sample(ranks, len(ranks))):
        pass
    return Acted(stage.over, stage.messages)


class _Stage:
    """Ranks, what they wait for, and the messages between them."""

    def __init__(
        self, running: dict[int, _Rank], rng: random.Random, rendezvous: bool
    ) -> None:
        self.running, self.rng, self.rendezvous = running, rng, rendezvous
        self.wishes = {rank: next(one, None) for rank, one in running.items()}
        self.sent: dict[tuple[int, int], deque[Any]] = defaultdict(deque)
        self.messages = 0

    @property
    def over(self) -> bool:
        return not any(self.wishes.values()) and not any(self.sent.values())

    def goes_on(self, rank: int) -> bool:
        """Let a rank do what it waits for, if it can."""
        wish = self.wishes[rank]
        return wish is not None and getattr(self, f"_{wish[0]}")(rank, wish[1])

    def _answer(self, rank: int, answer: object = None) -> bool:
        try:
            self.wishes[rank] = self.running[rank].send(answer)
        except StopIteration:
            self.wishes[rank] = None
        return True

    def _send(self, rank: int, what: tuple[int, Any]) -> bool:
        target, content = what
        self.sent[rank, target].append(content)
        self.messages += 1
        if not self.rendezvous:
            return self._answer(rank)
        self.wishes[rank] = ("sent", target)
        return True

    def _sent(self, rank: int, target: int) -> bool:
        return not self.sent[rank, target] and self._answer(rank)

    def _receive(self, rank: int, sources: list[int]) -> bool:
        come = [source for source in sources if self.sent[source, rank]]
        if not come:
            return False
        source = self.rng.choice(come)
        return self._answer(rank, (source, self.sent[source, rank].popleft()))

    def _barrier(self, rank: int, _: object) -> bool:
        if any(wish != self.wishes[rank] for wish in self.wishes.values()):
            return False
        return all(self._answer(other) for other in self.running)


class _Actor:
    """One rank: goes through its nest and says what each call waits for."""

    def __init__(self, made: Plan, program: Program, rank: int) -> None:
        self.made, self.program, self.rank = made, program, rank
        self.executions, self.turns = Counter[int](), Counter[int]()
        self.served: _Served | None = None
        self.partner, self.again = -1, False

    def body(self, begin: int, end: int) -> _Rank:
        nest, item = self.program.nest, begin
        while item < end:
            after = item + 1 + int(nest.body_items[item])
            if nest.symbol[item] >= 0:
                yield from self.call(int(nest.symbol[item]))
            elif self.is_told(item + 1, after):
                self.again = True
                while self.again:
                    yield from self.body(item + 1, after)
            else:
                for _ in range(self.trips(item)):
                    yield from self.body(item + 1, after)
            item = after

    def trips(self, item: int) -> int:
        nest = self.program.nest
        rows = nest.trips[slice(*nest.trips_first[item : item + 2])]
        trips = np.repeat(rows[:, 0], rows[:, 1])
        turn = self.executions[item] % len(trips)
        self.executions[item] += 1
        return int(trips[turn])

    def is_told(self, begin: int, end: int) -> bool:
        inside = self.program.nest.symbol[begin:end].tolist()
        operations = self.program.operations
        return all(one >= 0 and operations[one].turn in TOLD for one in inside)

    def call(self, number: int) -> _Rank:
        operation = self.program.operations[number]
        row = self.made.symbols[operation.symbol]
        kind = function_info(self.made.functions[row["function"]]).kind
        peers = operation.peers.tolist() or [int(row["peer"])]
        turn = self.turns[number] % len(peers)
        self.turns[number] += 1
        partner = self.at(peers[turn])
        if operation.serving is not None and operation.turn is not Turn.OPENS:
            partner = self.partner
        if kind is CallKind.COLLECTIVE:
            yield ("barrier", None)
        elif operation.turn is Turn.OPENS:
            yield from self.serve(operation)
        elif kind is CallKind.SEND:
            yield ("send", (partner, self.answer(operation)))
        else:
            _, content = yield ("receive", [partner])
            if operation.turn is Turn.HEARS:
                self.again = content

    def at(self, shift: int) -> int:
        return (self.rank + shift) % self.made.signature.ranks

    def serve(self, operation: Operation) -> _Rank:
        serving = operation.serving
        assert serving is not None
        self.served = known = self.served or _Served.of(serving)
        known.begin()
        shifts = serving.shifts.tolist()
        places = {self.at(x): i for i, x in enumerate(shifts) if known.due[i]}
        self.partner, _ = yield ("receive", list(places))
        known.chose(places[self.partner], shared=serving.shared)

    def answer(self, operation: Operation) -> bool | None:
        if operation.turn is not Turn.ANSWERS or self.served is None:
            return None
        return bool(self.served.due[self.served.place])
