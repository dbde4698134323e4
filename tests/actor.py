"""Acts out MPI programs call by call, for the random programs of tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.events.types import WILDCARD_SOURCE, WILDCARD_TAG
from tests.builders import WORLD, EventsBuilder

SIZES = (0, 1, 8, 8, 64, 800, 4096, 10_000, 70_000, 1_000_000)
#: Tags from here on are given out once.
_FIRST_TAG = 10_000


@dataclass(frozen=True)
class Message:
    """A message between two ranks of a communicator, by world rank."""

    comm: int
    source: int
    target: int
    tag: int
    size: int
    wild_source: bool = False
    wild_tag: bool = False


class Actor:
    """Appends calls to ranks, with work that differs between them.

    A receive that blocks returns after its send began.
    """

    def __init__(self, rng: random.Random, ranks: int) -> None:
        self.rng, self.ranks = rng, ranks
        self.builder = EventsBuilder(ranks)
        self.comms = [WORLD]
        #: (communicator, target) of messages that were sent and not received yet:
        #: a receive of any tag could take them.
        self.loose: set[tuple[int, int]] = set()
        self.speed = [rng.choice((0.5, 1.0, 1.0, 1.0, 2.0)) for _ in range(ranks)]
        self._sites = 0
        self._tags = _FIRST_TAG

    def site(self) -> int:
        self._sites += 1
        return self._sites

    def call(self, rank: int, function: str, work_ns: int = 200, **given: Any) -> int:
        compute = int(work_ns * self.speed[rank] * (0.8 + 0.4 * self.rng.random()))
        after = given.pop("after", 0) - self.builder.clock_ns[rank] - compute
        mpi = max(100 + int(400 * self.rng.random()), after)
        return self.builder.call(
            rank, function, compute_ns=compute, mpi_ns=mpi, **given
        )

    def work_ns(self) -> int:
        return int(10 ** self.rng.uniform(2, 6))

    def members(self, comm: int) -> tuple[int, ...]:
        return self.builder.communicators[comm].members

    def send(self, function: str, message: Message, site: int, work: int = 200) -> int:
        members = self.members(message.comm)
        return self.call(
            message.source,
            function,
            work,
            comm=message.comm,
            peer=members.index(message.target),
            tag=message.tag,
            size_bytes=message.size,
            site=site,
        )

    def receive(self, function: str, message: Message, site: int, room: int = 0) -> int:
        """Post a receive of a message, with room for more bytes than it has."""
        members = self.members(message.comm)
        wild_tag = message.wild_tag
        if (message.comm, message.target) in self.loose:
            wild_tag = False
        flags = message.wild_source * WILDCARD_SOURCE | wild_tag * WILDCARD_TAG
        arrived = self.builder.clock_ns[message.source] + 500
        blocks = function in ("Recv", "Probe", "Mrecv")
        return self.call(
            message.target,
            function,
            comm=message.comm,
            peer=members.index(message.source),
            tag=message.tag,
            size_bytes=max(message.size, room),
            site=site,
            flags=flags,
            after=arrived if blocks else 0,
        )

    def complete(self, rank: int, requests: Sequence[int], how: str, site: int) -> None:
        """Complete requests of a rank in one of the ways that MPI has."""
        requests = list(requests)
        if not requests:
            return
        if how in ("Waitall", "Testall"):
            self.call(rank, how, requests=requests, site=site)
            return
        if how != "Wait":
            self.rng.shuffle(requests)
        while requests:
            count = self.rng.randint(1, 3) if how in ("Waitsome", "Testsome") else 1
            if how.startswith("Test") and self.rng.random() < 0.3:
                self.call(rank, how, site=site)
            self.call(rank, how, requests=requests[:count], site=site)
            requests = requests[count:]

    def how(self) -> str:
        return self.rng.choice(
            "Waitall Waitall Wait Wait Waitany Waitsome Test Testall Testany".split()
        )

    def message(
        self, *, varying_tag: bool = False, tag: int | None = None
    ) -> Message | None:
        """Draw a message between two ranks of a communicator."""
        comm = self.rng.choice(self.comms)
        members = self.members(comm)
        if len(members) < 2:
            return None
        source, target = self.rng.sample(members, 2)
        wild = self.rng.random() < 0.2
        return Message(
            comm,
            source,
            target,
            self.rng.randrange(4) if tag is None else tag,
            self.rng.choice(SIZES),
            wild,
            wild and not varying_tag and self.rng.random() < 0.5,
        )

    def tag(self) -> int:
        """Return a tag that nothing else uses."""
        self._tags += 1
        return self._tags
