"""Follow what a program uses to the helpers that it has to define.

The C text of each helper is a file of ``templates/skeleton/helpers``. Its first line
says which other helpers and which headers that text needs, where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from skelgen.rendering.c_template import stated
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.emit.data.tables import ProgramTables, ServingTable
from skelgen.skeleton.emit.fragments import Use, UseKind, Uses, helpers
from skelgen.skeleton.share.call_steps import CallStep

#: What the set-up and the report of every skeleton include.
_HEADERS = ("stdio.h",)


@dataclass(frozen=True, slots=True)
class Ring:
    """The places of the latest requests, persistent ones or others.

    Attributes
    ----------
    persistent : bool
    length : int
        How far back they are looked up.
    """

    persistent: bool
    length: int

    @property
    def place(self) -> str:
        """Return the name of the array of places."""
        return "persistent_place" if self.persistent else "place"

    @property
    def count(self) -> str:
        """Return the name of the number of requests so far."""
        return "persistents" if self.persistent else "requests"

    @property
    def created(self) -> str:
        """Return the name of the function that notes a new request."""
        return "created_persistent" if self.persistent else "created"

    @property
    def aged(self) -> str:
        """Write the place of the request of an age."""
        sign = "+" if self.persistent else "-"
        return f"{self.place}[({self.count} {sign} age) % {self.length}]"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a program has to define: the union of what its pieces use.

    Attributes
    ----------
    helpers : frozenset of str
    headers : tuple of str
        Of the system, in the order of the alphabet.
    tables : list of str
        Lines of the definitions of tables.
    servings : list of ServingTable
    holes : tuple of int
        Sizes of the blocks of messages with holes between them [bytes].
    each : tuple of str
        Types of which a call takes one for each rank or neighbour: ``MPI_BYTE``.
    turns : tuple of str
        Counters of steps with several requests at a time.
    rings : dict of str to Ring
        By the helper that writes it: for requests that are looked up by age.
    most_requests : int
        Longest list of requests that a helper takes.
    most_neighbours : int
        The most ranks or neighbours that a call has types for.
    """

    helpers: frozenset[str]
    headers: tuple[str, ...]
    tables: list[str]
    servings: list[ServingTable]
    holes: tuple[int, ...]
    each: tuple[str, ...]
    turns: tuple[str, ...]
    rings: dict[str, Ring]
    most_requests: int
    most_neighbours: int

    @classmethod
    def of(
        cls,
        used: Uses,
        tables: ProgramTables,
        steps: Sequence[CallStep],
        families: Sequence[CommunicatorFamily],
        most_requests: int,
    ) -> Needs:
        """Return what a program needs for what it uses.

        Parameters
        ----------
        used : frozenset of Use
            By all pieces of the program.
        tables : ProgramTables
        steps : sequence of CallStep
        families : sequence of CommunicatorFamily
        most_requests : int
            Longest list of requests that a call takes.
        """
        every = followed(used, tables)
        names = {kind: _names(every, kind) for kind in UseKind}
        headers = {
            header for name in names[UseKind.HELPER] for header in _stated(name)[1]
        }
        return cls(
            helpers=frozenset(names[UseKind.HELPER]),
            headers=tuple(sorted({*_HEADERS, *headers})),
            tables=tables.lines(every),
            servings=[
                one
                for one in tables.servings.values()
                if Use(UseKind.TABLE, one.name) in every
            ],
            holes=tuple(sorted(int(size) for size in names[UseKind.HOLES])),
            each=names[UseKind.EACH],
            turns=names[UseKind.TURN],
            rings=_rings(names[UseKind.HELPER], steps),
            most_requests=most_requests,
            most_neighbours=max(
                (_neighbours(step, families) for step in steps), default=0
            ),
        )

    @property
    def served_bytes(self) -> int:
        """Return what the first messages of all partners of a rank need [bytes]."""
        return max(one.partners * one.room_bytes for one in self.servings)

    @property
    def answer_bytes(self) -> int:
        """Return what the longest answer needs [bytes]."""
        return max(one.answer_bytes for one in self.servings)


def followed(used: Uses, tables: ProgramTables) -> Uses:
    """Return what is used, with all that the definitions of these use in turn."""
    every, new = set(used), list(used)
    while new:
        use = new.pop()
        further = _uses_of(use, tables) - every
        every |= further
        new += further
    return frozenset(every)


def _uses_of(use: Use, tables: ProgramTables) -> Uses:
    """Return what the definition of one thing uses by itself."""
    if use.kind is UseKind.HELPER:
        return helpers(*_stated(use.name)[0])
    if use.kind is UseKind.TABLE:
        return tables.needs_of(use.name)
    return helpers("with_holes") if use.kind is UseKind.HOLES else frozenset()


@cache
def _stated(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the helpers and the headers that a helper's file says it needs."""
    said = stated(f"helpers/{name}.c.j2")
    return said.get("needs", ()), said.get("includes", ())


def _names(used: Uses, kind: UseKind) -> tuple[str, ...]:
    return tuple(sorted(use.name for use in used if use.kind is kind))


def _rings(names: Sequence[str], steps: Sequence[CallStep]) -> dict[str, Ring]:
    """Return what notes the places of requests, that of persistent ones first."""
    ages = [age for step in steps for age in step.ages]
    found = {}
    if "created_persistent" in names:
        found["created_persistent"] = Ring(True, max(-age for age in ages))
    if "created" in names:
        found["created"] = Ring(False, max(ages))
    return found


def _neighbours(step: CallStep, families: Sequence[CommunicatorFamily]) -> int:
    """Return how many types a call takes.

    Open MPI 4.1 looks at one for each neighbour in collectives of a topology that are
    not about its neighbours, too, and there may be more of them than ranks.
    """
    if not step.typed:
        return 0
    family = families[step.family]
    around = (*family.sources, *family.destinations)
    near = [len(of) for instance in around for of in instance]
    return max(1, int(step.to.shape[1]), int(step.of.shape[1]), *near)
