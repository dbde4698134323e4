"""Find out which helper functions the text of a skeleton needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.routines import Routine


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


def _rings(text: str, steps: Sequence[CallStep]) -> Iterator[Ring]:
    ages = [age for step in steps for age in step.ages]
    if "created_persistent(" in text:
        yield Ring(True, max(-age for age in ages))
    if "created(" in text:
        yield Ring(False, max(ages))


def _parts(step: CallStep, families: Sequence[CommunicatorFamily]) -> int:
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


@dataclass(frozen=True, slots=True)
class Uses:
    """Which helpers the text needs; an unused one would be a warning.

    Attributes
    ----------
    compute, peer, peer_in, nobody, wait_all, start_all : bool
    left, persistent : bool
        Whether requests remain outstanding, or persistent, when the routine ends.
    most : int
        Longest list of requests that a helper takes.
    rings : tuple of Ring
        For requests that are looked up by age.
    holes : tuple of int
        Sizes of the blocks of messages with holes between them [bytes].
    each : tuple of str
        Types of which a call takes one for each rank or neighbour: ``MPI_BYTE``.
    parts : int
        The most ranks or neighbours that such a call has.
    """

    compute: bool
    peer: bool
    peer_in: bool
    nobody: bool
    status: bool
    wait_all: bool
    start_all: bool
    aged: bool
    aged_list: bool
    series: bool
    next: bool
    now: bool
    answer: bool
    count: bool
    one: bool
    runs: bool
    row: bool
    left: bool
    persistent: bool
    most: int
    rings: tuple[Ring, ...]
    holes: tuple[int, ...]
    each: tuple[str, ...]
    parts: int

    @classmethod
    def of(
        cls,
        text: str,
        joined: Sequence[Routine],
        tables: ProgramTables,
        families: Sequence[CommunicatorFamily],
    ) -> Uses:
        """Find the helpers that a text calls."""
        steps = [step for routine in joined for step in routine.steps]
        left = any(routine.lifetimes.left for routine in joined)
        return cls(
            compute="compute(" in text,
            peer="peer(" in text,
            peer_in="peer_in(" in text or "peer_or_nobody(" in text,
            nobody="peer_or_nobody(" in text,
            status=left or re.search(r"wait_all\(|, status\)", text) is not None,
            wait_all="wait_all(" in text,
            start_all="start_all(" in text,
            aged=re.search(r"aged\(-?\d+\)", text) is not None,
            aged_list=re.search(r"aged_all\(", text) is not None,
            series=re.search(r"\b(next|count|now)\(&", text) is not None,
            next=re.search(r"\b(next|count)\(&", text) is not None,
            now="now(&" in text,
            answer="answer(&" in text,
            count="count(&" in text,
            one=any("ONE(" in line for line in tables.lines),
            runs="next_run(&" in text,
            row=tables.by_row,
            left=left,
            persistent=any(step.info.persistent for step in steps),
            most=max((len(step.ages) for step in steps), default=0),
            rings=tuple(_rings(text, steps)),
            holes=tuple(sorted({step.block_bytes for step in steps if step.holes})),
            each=tuple(sorted(set(re.findall(r"\beach_(\w+)", text)))),
            parts=max(_parts(step, families) for step in steps) if steps else 0,
        )
