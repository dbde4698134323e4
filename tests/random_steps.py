"""The steps that random MPI programs are made of.

Each is a whole matched event or a few that overlap; what posts comes before what
completes, so that a step can finish once it was begun.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from skelgen.events.types import (
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
)
from tests.actor import SIZES, Message
from tests.builders import WORLD
from tests.random_windows import Windows

_BLOCKING = ("Send", "Send", "Send", "Ssend", "Bsend")
_NONBLOCKING = ("Isend", "Isend", "Isend", "Issend", "Ibsend")


@dataclass
class Step:
    """Part of a program; a loop calls `before` and `after` once around its trips."""

    run: Callable[[], object]
    before: Callable[[], None] = field(default=lambda: None)
    after: Callable[[], None] = field(default=lambda: None)


class Steps(Windows):
    """Draws steps; each method returns those that it drew."""

    def makers(self) -> list[Callable[[], list[Step]]]:
        """Return the methods that draw steps, the usual ones several times."""
        often = [self._pair, self._exchange, self._shift, self._collective]
        return [
            *often,
            *often,
            self._spread,
            self._pipeline,
            self._master_worker,
            self._persistent,
            *([self._persistent_collectives, self._both_ways] * (self.standard > 3)),
            self._prefetch,
            self._nonblocking_collective,
            self._irregular,
            self._ready_send,
            self._oddities,
            self._epoch,
        ]

    def _epoch(self) -> list[Step]:
        """An epoch of a window, by operations and what is around them."""
        return [Step(self.drawn_epoch())]

    def _pair(self) -> list[Step]:
        """One message, by blocking or nonblocking calls."""
        message = self.message()
        if message is None:
            return []
        blocking_send = self.rng.random() < 0.6
        sends = self.rng.choice(_BLOCKING if blocking_send else _NONBLOCKING)
        receives = self.rng.choice(("Recv", "Recv", "Irecv"))
        how, work, site = self.how(), self.work_ns(), self.site()
        probes = receives == "Recv" and self.rng.random() < 0.15
        freed = not blocking_send and self.rng.random() < 0.1
        tag_counts = self.rng.random() < 0.15
        count = [0]
        room = self.rng.choice((0, 100_000))

        def run() -> None:
            count[0] += 1
            one = message
            if tag_counts:
                one = Message(
                    message.comm,
                    message.source,
                    message.target,
                    10 + count[0] % 1000,
                    message.size,
                )
            sent = self.send(sends, one, site, work)
            if freed:
                self.call(one.source, "Request_free", requests=[sent], site=site)
            if probes:
                self.receive("Probe", one, site)
            received = self.receive(receives, one, site, room)
            if receives == "Irecv":
                self.complete(one.target, [received], how, site)
            if not blocking_send and not freed:
                self.complete(one.source, [sent], how, site)

        return [Step(run)]

    def _exchange(self) -> list[Step]:
        """Several messages that are all posted before any is completed."""
        messages = [self.message() for _ in range(self.rng.randint(1, 6))]
        posts = [
            (side, message)
            for message in messages
            if message is not None
            for side in ("send", "receive")
        ]
        self.rng.shuffle(posts)
        # Receives of one rank with one tag are wildcards together or not at all.
        wild = {(m.comm, m.target, m.tag) for _, m in posts if m.wild_source}
        room = max((m.size for _, m in posts), default=0)
        functions = [self.rng.choice(_NONBLOCKING) for _ in posts]
        ways = [self.how() for _ in range(self.ranks)]
        works, site = [self.work_ns() for _ in range(self.ranks)], self.site()

        def run() -> None:
            requests: list[list[int]] = [[] for _ in range(self.ranks)]
            for function, (side, message) in zip(functions, posts, strict=True):
                key = (message.comm, message.target, message.tag)
                one = Message(
                    message.comm,
                    message.source,
                    message.target,
                    message.tag,
                    message.size,
                    key in wild,
                )
                if side == "send":
                    work = works[one.source] if not requests[one.source] else 200
                    sent = self.send(function, one, site, work)
                    requests[one.source].append(sent)
                else:
                    received = self.receive("Irecv", one, site, room)
                    requests[one.target].append(received)
            for rank in range(self.ranks):
                self.complete(rank, requests[rank], ways[rank], site)

        return [Step(run)]

    def _shift(self) -> list[Step]:
        """Every rank of a communicator sends to a neighbour, around or to a border."""
        comm = self.rng.choice(self.comms)
        members, distance = self.members(comm), self.rng.choice((1, 1, 2, -1))
        around, joined = self.rng.random() < 0.5, self.rng.random() < 0.5
        size, how = self.rng.choice(SIZES), self.how()
        work, site = self.work_ns(), self.site()

        def neighbour(own: int, by: int) -> int:
            peer = own + by
            if around:
                return peer % len(members)
            return peer if 0 <= peer < len(members) else PROC_NULL

        def run() -> None:
            given = {"comm": comm, "size_bytes": size, "site": site}
            requests = []
            for own, rank in enumerate(members):
                to, source = neighbour(own, distance), neighbour(own, -distance)
                if joined:
                    partners = {"peer": to, "tag": 7, "peer2": source, "tag2": 7}
                    self.call(rank, "Sendrecv", work, **partners, **given)
                    continue
                first = self.call(rank, "Irecv", work, peer=source, tag=7, **given)
                second = self.call(rank, "Isend", peer=to, tag=7, **given)
                requests.append((rank, [first, second]))
            for rank, both in requests:
                self.complete(rank, both, how, site)

        return [Step(run)]

    def _collective(self) -> list[Step]:
        return [Step(self.drawn_collective(self.function()))]

    def _nonblocking_collective(self) -> list[Step]:
        """A collective that is completed after other steps."""
        begin = self.drawn_collective(self.function(), "I")
        between = [] if self.rng.random() < 0.5 else self._pair()
        how, site = self.how(), self.site()

        def run() -> None:
            requests = begin()
            for step in between:
                step.run()
            for rank, request in requests:
                self.complete(rank, [request], how, site)

        return [Step(run)]

    def _spread(self) -> list[Step]:
        """A message whose ends lie on both sides of other steps."""
        message = self.message(varying_tag=True, tag=self.tag())
        if message is None:
            return []
        first_receives = self.rng.random() < 0.5
        late_blocks = self.rng.random() < 0.5
        site, how, open_requests = self.site(), self.how(), [0]
        key = (message.comm, message.target)

        def begin() -> None:
            if first_receives:
                open_requests[0] = self.receive("Irecv", message, site)
            else:
                self.loose.add(key)
                open_requests[0] = self.send("Isend", message, site)

        def end() -> None:
            opened, late = (message.target, message.source)
            if first_receives:
                function = "Send" if late_blocks else "Isend"
                request = self.send(function, message, site)
            else:
                opened, late = late, opened
                function = "Recv" if late_blocks else "Irecv"
                request = self.receive(function, message, site)
                self.loose.discard(key)
            self.complete(opened, [open_requests[0]], how, site)
            if not late_blocks:
                self.complete(late, [request], how, site)

        between = [step for _ in range(2) for step in self._pair()]
        return [Step(begin), *between, Step(end)]

    def _pipeline(self) -> list[Step]:
        """A wavefront: each rank receives from the one before and sends on."""
        comm = self.rng.choice(self.comms)
        members, tag = self.members(comm), self.tag()
        size, work, site = self.rng.choice(SIZES), self.work_ns(), self.site()

        def run() -> None:
            for source, target in itertools.pairwise(members):
                message = Message(comm, source, target, tag, size)
                self.send("Send", message, site, work)
                self.receive("Recv", message, site + 1)

        self.site()
        return [Step(run)]

    def _master_worker(self) -> list[Step]:
        """Rank 0 takes results from any source and answers each."""
        comm, tag = self.rng.choice(self.comms), self.tag()
        master, *workers = self.members(comm)
        work, site = self.work_ns(), self.site()

        def run() -> None:
            order = list(workers)
            self.rng.shuffle(order)
            for worker in order:
                result = Message(comm, worker, master, tag, 8, wild_source=True)
                self.send("Send", result, site, work)
                self.receive("Recv", result, site)
                answer = Message(comm, master, worker, tag, 64)
                self.send("Send", answer, site)
                self.receive("Recv", answer, site)

        return [Step(run)]

    def _persistent(self) -> list[Step]:
        """Messages by persistent requests that are made before a loop."""
        found = [self.message(tag=self.tag()) for _ in range(self.rng.randint(1, 3))]
        messages = [message for message in found if message is not None]
        together, how, site = self.rng.random() < 0.5, self.how(), self.site()
        requests: list[list[int]] = [[] for _ in range(self.ranks)]
        freed = self.rng.random() < 0.8

        def before() -> None:
            for rank in range(self.ranks):
                requests[rank] = []
            for message in messages:
                one = self.receive("Recv_init", message, site)
                requests[message.target].append(one)
                one = self.send("Send_init", message, site)
                requests[message.source].append(one)

        def run() -> None:
            self._started(requests, together, how, site)

        def after() -> None:
            for rank in range(self.ranks):
                for request in requests[rank] if freed else ():
                    self.call(rank, "Request_free", requests=[request], site=site)

        return [Step(run, before, after)]

    def _started(
        self, requests: list[list[int]], together: bool, how: str, site: int
    ) -> None:
        """Start the persistent requests of all ranks and complete them."""
        for rank in range(self.ranks):
            if together and requests[rank]:
                self.call(rank, "Startall", requests=requests[rank], site=site)
            for request in [] if together else requests[rank]:
                self.call(rank, "Start", requests=[request], site=site)
        for rank in range(self.ranks):
            self.complete(rank, requests[rank], how, site)

    def _persistent_collectives(self) -> list[Step]:
        """Collectives that are made before a loop; not all of them start each time."""
        calls = [
            self.drawn_collective(self.function(), "_init")
            for _ in range(self.rng.randint(1, 3))
        ]
        together, how, site = self.rng.random() < 0.5, self.how(), self.site()
        made: list[list[tuple[int, int]]] = []

        def before() -> None:
            made[:] = [call() for call in calls]

        def run() -> None:
            chosen = [one for one in made if self.rng.random() < 0.8]
            requests: list[list[int]] = [[] for _ in range(self.ranks)]
            for rank, request in (pair for one in chosen for pair in one):
                requests[rank].append(request)
            self._started(requests, together, how, site)

        def after() -> None:
            for rank, request in (pair for one in made for pair in one):
                self.call(rank, "Request_free", requests=[request], site=site)

        return [Step(run, before, after)]

    def _both_ways(self) -> list[Step]:
        """Every rank of a communicator begins to send and to receive in one call."""
        comm = self.rng.choice(self.comms)
        members, distance = self.members(comm), self.rng.choice((1, 1, 2, -1))
        size, how, tag = self.rng.choice(SIZES), self.how(), self.tag()
        work, site = self.work_ns(), self.site()

        def run() -> None:
            requests = []
            for own, rank in enumerate(members):
                to, source = (own + distance) % len(members), own - distance
                partners = {"peer": to, "peer2": source % len(members)}
                words = {"comm": comm, "size_bytes": size, "site": site, "tag": tag}
                request = self.call(
                    rank, "Isendrecv", work, tag2=tag, **partners, **words
                )
                requests.append((rank, request))
            for rank, request in requests:
                self.complete(rank, [request], how, site)

        return [Step(run)]

    def _prefetch(self) -> list[Step]:
        """A message of the next trip is posted before this trip's is used."""
        message = self.message(varying_tag=True, tag=self.tag())
        if message is None:
            return []
        open_requests, site = [0, 0], self.site()

        def post() -> None:
            open_requests[0] = self.receive("Irecv", message, site)
            open_requests[1] = self.send("Isend", message, site)

        def finish() -> None:
            self.complete(message.target, [open_requests[0]], "Wait", site)
            self.complete(message.source, [open_requests[1]], "Wait", site)

        def run() -> None:
            finish()
            post()

        return [Step(run, post, finish)]

    def _irregular(self) -> list[Step]:
        """A message between other ranks each time."""
        comm, site = self.rng.choice(self.comms), self.site()
        members = self.members(comm)

        def run() -> None:
            if len(members) > 1:
                source, target = self.rng.sample(members, 2)
                message = Message(comm, source, target, 2, self.rng.choice(SIZES))
                self.send("Send", message, site)
                self.receive("Recv", message, site)

        return [Step(run)]

    def _ready_send(self) -> list[Step]:
        """A ready send to a receive of which the sender was told."""
        message = self.message(varying_tag=True, tag=self.tag())
        if message is None:
            return []
        told = Message(
            message.comm, message.target, message.source, message.tag, size=0
        )
        site = self.site()

        def run() -> None:
            request = self.receive("Irecv", message, site)
            self.send("Send", told, site)
            self.receive("Recv", told, site)
            self.send("Rsend", message, site)
            self.complete(message.target, [request], "Wait", site)

        return [Step(run)]

    def _oddities(self) -> list[Step]:
        """Calls of one rank: to itself, to nobody, cancelled, without requests."""
        rank, site = self.rng.randrange(self.ranks), self.site()
        kind = self.rng.choice(("self", "null", "cancel", "local", "alone"))
        own = Message(WORLD, rank, rank, self.tag(), self.rng.choice(SIZES))

        def run() -> None:
            if kind == "self":
                request = self.receive("Irecv", own, site)
                self.send("Send", own, site)
                self.complete(rank, [request], "Wait", site)
            elif kind == "null":
                nobody = {"comm": WORLD, "peer": PROC_NULL, "tag": 1, "site": site}
                self.call(rank, "Send", size_bytes=8, **nobody)
                request = self.call(rank, "Irecv", size_bytes=8, **nobody)
                self.complete(rank, [request], "Wait", site)
            elif kind == "cancel":
                pattern = {"peer": NO_PEER, "tag": NO_TAG, "flags": WILDCARD_SOURCE}
                request = self.call(rank, "Irecv", comm=WORLD, **pattern, site=site)
                self.call(rank, "Cancel", requests=[request], site=site)
                self.complete(rank, [request], "Wait", site)
            elif kind == "alone":
                alone = {"comm": 1 + rank, "size_bytes": 8, "op": 1, "site": site}
                self.call(rank, "Allreduce", **alone)
            else:
                self.call(rank, "Comm_rank", site=site)
                self.call(rank, "Waitall", site=site)

        return [Step(run)]
