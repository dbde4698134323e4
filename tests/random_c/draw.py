"""Draw random C programs: steps in loops and branches, the same for all ranks."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tests.random_c.parts import Kind

#: Functions that make a family of communicators, and how many it has.
FAMILIES = {
    **{"split_parity": 2, "split_halves": 2, "grouped": 2},
    **{"duplicate": 1, "reversed": 1},
}
#: How many steps of a program are drawn in turn, so that each kind comes soon.
IN_TURN = 8
_COUNTS = (1, 2, 3, 7, 16, 50, 200, 1000, 3000)
#: Trips of inner loops.
_TRIPS = ("2", "3", "4", "1 + @ % 3", "(5 * @ + 2) % 4", "@ % 2")
#: About how often steps are executed, all loops counted.
_EXECUTIONS = 120


@dataclass(frozen=True)
class Step:
    """A step: its kind, and the numbers that its object in C begins with."""

    number: int
    kind: Kind
    group: int
    fields: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Loop:
    """A loop; in its trips ``@`` is the counter of the loop around it, if any."""

    trips: str
    body: tuple[Item, ...]


@dataclass(frozen=True)
class Branch:
    """What the two communicators of a family do at the same time."""

    group: int
    sides: tuple[tuple[Item, ...], tuple[Item, ...]]


Item = Step | Loop | Branch


@dataclass(frozen=True)
class Drawn:
    """A random program.

    Attributes
    ----------
    seed, ranks : int
    begin : str
        How MPI is opened: ``world``, ``threads`` or ``session``.
    families : tuple of str
        Functions that make its communicators, beside the one of all ranks.
    body : tuple of Item
    first : tuple of str
        Functions that are called as soon as MPI is open.
    """

    seed: int
    ranks: int
    begin: str
    families: tuple[str, ...]
    body: tuple[Item, ...]
    first: tuple[str, ...] = ()

    @property
    def steps(self) -> list[Step]:
        """Return all steps in order."""
        return sorted(steps_in(self.body), key=lambda step: step.number)

    @property
    def kinds(self) -> list[str]:
        """Return the names of the kinds of its steps."""
        return sorted({step.kind.name for step in self.steps})


def steps_in(items: Sequence[Item]) -> Iterator[Step]:
    """Yield the steps in items, in loops and branches as well."""
    for item in items:
        if isinstance(item, Step):
            yield item
        elif isinstance(item, Loop):
            yield from steps_in(item.body)
        else:
            for side in item.sides:
                yield from steps_in(side)


def draw(
    seed: int, kinds: Sequence[Kind], *, in_sessions: Collection[str] = ()
) -> Drawn:
    """Draw a program.

    Parameters
    ----------
    seed : int
        Programs of successive seeds take kinds in turn: all are there in
        ``len(kinds) / IN_TURN`` programs.
    kinds : sequence of Kind
        Those that the MPI has.
    in_sessions : collection of str
        Kinds that work where MPI was opened by sessions only.
    """
    return _Drawing(seed, kinds, in_sessions).program()


class _Drawing:
    """Draws one program."""

    def __init__(
        self, seed: int, kinds: Sequence[Kind], in_sessions: Collection[str]
    ) -> None:
        self.seed, self.rng, self.numbers = seed, random.Random(f"c{seed}"), 0
        self.session = self.rng.random() < 0.08
        order = list(kinds)
        random.Random("order").shuffle(order)
        turn = [order[(seed * IN_TURN + i) % len(order)] for i in range(IN_TURN)]
        others = self.rng.choices(order, k=self.rng.randint(0, 6))
        self.kinds = [*dict.fromkeys(turn), *others]
        self.rng.shuffle(self.kinds)
        if any(kind.needs or kind.name not in in_sessions for kind in self.kinds):
            self.session = False

    def program(self) -> Drawn:
        rng = self.rng
        ranks = rng.choice((2, 2, 3, 3, 4))
        self.families = tuple(rng.sample(sorted(FAMILIES), rng.randint(1, 3)))
        cuts = sorted(rng.sample(range(1, len(self.kinds)), 2))
        pieces = [self.kinds[a:b] for a, b in zip([0, *cuts], [*cuts, None])]  # noqa: B905
        body: list[Item] = []
        for piece in pieces:
            trips = rng.choice((1, 3, 8, 20))
            trips = min(trips, max(1, _EXECUTIONS // len(self.kinds)))
            inner = self._items(piece, depth=1, branches=True)
            body += [Loop(str(trips), inner)] if trips > 1 else inner
        begin = "session" if self.session else "world"
        if any(kind.needs == "threads" for kind in self.kinds):
            begin = "threads"
        return Drawn(self.seed, ranks, begin, self.families, tuple(body))

    def _items(
        self, kinds: Sequence[Kind], *, depth: int, branches: bool, group: int = -1
    ) -> tuple[Item, ...]:
        """Draw steps of some kinds, a few of them in inner loops or branches."""
        rng, found = self.rng, list[Item]()
        rest = list(kinds)
        while rest:
            chance, taken = rng.random(), rest[: rng.randint(1, 3)]
            if chance < 0.25 and depth < 3:
                rest = rest[len(taken) :]
                inner = self._items(
                    taken, depth=depth + 1, branches=branches, group=group
                )
                found.append(Loop(rng.choice(_TRIPS), inner))
            elif chance < 0.45 and branches and self._can_branch(taken):
                rest = rest[len(taken) :]
                found.append(self._branch(taken, depth))
            else:
                found.append(self._step(rest.pop(0), group))
        return tuple(found)

    def _can_branch(self, kinds: Sequence[Kind]) -> bool:
        return not any(kind.needs for kind in kinds) and any(
            FAMILIES[name] > 1 for name in self.families
        )

    def _branch(self, kinds: Sequence[Kind], depth: int) -> Branch:
        wide = [i for i, name in enumerate(self.families) if FAMILIES[name] > 1]
        group, middle = 1 + self.rng.choice(wide), len(kinds) // 2
        first, second = (
            self._items(part, depth=depth, branches=False, group=group)
            for part in (kinds[:middle], kinds[middle:])
        )
        return Branch(group, (first, second))

    def _step(self, kind: Kind, group: int) -> Step:
        rng = self.rng
        if group < 0:
            group = rng.choice((0, rng.randint(0, len(self.families))))
        if kind.needs == "world":
            group = 0
        self.numbers += 1
        fields = {
            "id": self.numbers,
            "tag": 10 * self.numbers,
            "group": group,
            "count": rng.choice(_COUNTS),
            "root": rng.randrange(8),
            "shift": rng.randint(1, 7),
            "variant": rng.randrange(64),
            "work": rng.choice((0, 10, 1000, 20_000)),
        }
        return Step(self.numbers, kind, group, tuple(fields.items()))
