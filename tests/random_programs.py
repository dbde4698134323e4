"""Random MPI programs that are known to finish.

A program is made by acting it out: its steps, each a whole matched event or a few
that overlap, are appended to their ranks one after the other in one global order,
the posting parts of a step before the completing ones. Whatever starts in that order
can also finish in it, with synchronous sends too. Steps are drawn once and repeated
by loops, as in real programs.
"""

from __future__ import annotations

import random

from skelgen.events import Events
from tests.builders import WORLD
from tests.random_steps import Step, Steps


def random_program(
    rng: random.Random,
    *,
    ranks: int | None = None,
    calls: int = 300,
    standard: int = 4,
) -> Events:
    """Make a random program that finishes.

    Parameters
    ----------
    rng : random.Random
        Also one drawn by ``hypothesis.strategies.randoms``.
    ranks : int, optional
        Number of ranks; 2 to 8 when not given.
    calls : int
        About how many calls of all ranks at most.
    standard : int
        Version of the MPI standard whose functions may appear.

    Returns
    -------
    Events
    """
    return _Program(rng, ranks or rng.randint(2, 8), calls, standard).events()


class _Program(Steps):
    """Draws steps and acts them out until there are enough calls."""

    def __init__(
        self, rng: random.Random, ranks: int, calls: int, standard: int
    ) -> None:
        super().__init__(rng, ranks, standard)
        self.limit = calls

    def events(self) -> Events:
        self._communicators()
        while True:
            body = self._body(depth=0)
            self._run_body(body, self.rng.choice((1, 1, 2, 5)))
            if self._full() or self.rng.random() < 0.2:
                break
        for rank in range(self.ranks):
            self.builder.tail_ns[rank] = self.rng.randrange(100_000)
        return self.builder.events()

    def _full(self) -> bool:
        return self.builder.length() >= self.limit

    def _communicators(self) -> None:
        """Make some communicators, each by a call of all ranks of its parent."""
        world = list(range(self.ranks))
        for number in range(self.rng.choice((0, 0, 1, 2))):
            name = f"made{number}"
            colours = [self.rng.randrange(2) for _ in world]
            if self.rng.random() < 0.3:
                colours = [0] * self.ranks
            duplicate = len(set(colours)) == 1
            function = "Comm_dup" if duplicate else "Comm_split"
            for rank in world:
                self.call(rank, function, comm=WORLD)
            for colour in sorted(set(colours)):
                members = [r for r in world if colours[r] == colour]
                if not duplicate and self.rng.random() < 0.3:
                    self.rng.shuffle(members)
                kind = "dup" if duplicate else "split"
                made = self.builder.communicator(name, members, kind=kind)
                self.comms.append(made)
        for number in range(self.rng.choice((0, 1, 1, 2))):
            for rank in world:
                self.call(rank, "Dist_graph_create_adjacent", comm=WORLD)
            sources, destinations = self.topology()
            made = self.builder.communicator(
                f"graph{number}",
                world,
                kind="dist_graph",
                sources=sources,
                destinations=destinations,
            )
            self.comms.append(made)
            self.topologies.append(made)

    def _body(self, depth: int) -> list[Step]:
        body: list[Step] = []
        for _ in range(self.rng.randint(1, 4)):
            if depth < 3 and self.rng.random() < 0.3:
                body.append(self._loop(depth + 1))
            else:
                body += self.rng.choice(self.makers())()
        return body

    def _loop(self, depth: int) -> Step:
        body = self._body(depth)
        trips = [self.rng.choice((1, 2, 3, 4, 10, 30))]
        if self.rng.random() < 0.3:
            trips = [self.rng.randint(0, 6) for _ in range(3)]
        return Step(lambda: self._run_body(body, self.rng.choice(trips)))

    def _run_body(self, body: list[Step], trips: int) -> None:
        for step in body:
            step.before()
        for _ in range(trips):
            for step in body:
                step.run()
            if self._full():
                break
        for step in body:
            step.after()
