"""Rank files for tests of the reader: small runs that use every part of the format."""

from __future__ import annotations

import random
from pathlib import Path

from tests.trace_writer import RankWriter


def ring(rank: int, ranks: int, rounds: int = 20, **options: object) -> RankWriter:
    """A rank that passes messages around and reduces."""
    writer = RankWriter(rank, ranks, **options)  # type: ignore[arg-type]
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    writer.event("MPI_Init", 0, 5000)
    for _ in range(rounds):
        writer.event(
            "MPI_Irecv",
            3000,
            60,
            flags="CREATES",
            peer=left,
            tag=1,
            count_b=200,
            type_b=8,
            site=0x10,
        )
        writer.event(
            "MPI_Send", 40, 900, peer=right, tag=1, count_a=100, type_a=8, site=0x20
        )
        writer.event(
            "MPI_Wait", 20, 400, flags="COMPLETES", count_a=1, requests=1, site=0x30
        )
        writer.event(
            "MPI_Allreduce", 70_000, 2000, count_a=2, type_a=8, op=3, site=0x40
        )
    writer.finish()
    return writer


def save_ring(folder: Path, ranks: int = 2, rounds: int = 20) -> Path:
    """A clean run of `ring`."""
    for rank in range(ranks):
        ring(rank, ranks, rounds).save(folder)
    return folder


def anything(
    rng: random.Random,
    rank: int,
    ranks: int,
    calls: int,
    thread: int = 0,
    *,
    checked: bool = False,
    ended: bool | None = None,
) -> RankWriter:
    """A rank file with every kind of record and extra, in random order.

    With `ended` it ends cleanly, or not; without it that is left to chance.
    """
    shift = rng.choice((0, 0, 3))
    writer = RankWriter(
        rank, ranks, thread, unit_shift=shift, cost_ps=17_000, request_ps=7_300
    )
    writer.checked = checked
    writer.event("MPI_Init", 0, 5000)
    row = [r for r in range(ranks) if r % 2 == rank % 2]
    writer.comm(2, row, dims=(len(row),), periods=(1,))
    persistent = 0
    if rng.random() < 0.7:
        for tag in (5, 6):
            writer.event(
                "MPI_Recv_init",
                10,
                5,
                flags="PERSISTENT WILD_SOURCE",
                peer=-3,
                tag=tag,
                count_b=9,
                type_b=4,
            )
        persistent = 2
    state = _State(writer, rng, persistent)
    steps = (
        state.isend,
        state.isend,
        state.irecv,
        state.wait,
        state.collective,
        state.vector,
        state.poll,
        state.sendrecv,
        state.start,
        state.definition,
        state.failure,
    )
    for call in range(calls):
        rng.choice(steps)()
        if checked and call % 40 == 39:
            writer.window()
    if (rng.random() < 0.8) if ended is None else ended:
        writer.passed(0, 700, Comm_rank=3, Put=2)
        writer.usage(300, range(16))
        writer.unseen(1000, 10, 0, 0, 20, 5, gpu=("libcuda.so.1",))
        writer.finish()
    return writer


class _State:
    """What a random rank has outstanding."""

    def __init__(self, writer: RankWriter, rng: random.Random, persistent: int) -> None:
        self.writer, self.rng = writer, rng
        self.open: list[int] = []  # numbers of requests
        self.wild: set[int] = set()
        self.idle = set(range(1, persistent + 1))
        self.started: dict[int, int] = {}

    def times(self) -> tuple[int, int]:
        return self.rng.choice((3, 90, 40_000, 1 << 34)), self.rng.randrange(90_000)

    def peer(self) -> int:
        return self.rng.choice((-2, *range(self.writer.ranks)))

    def created(self) -> int:
        self.open.append(self.writer.requests)
        return self.writer.requests

    def isend(self) -> None:
        self.writer.event(
            "MPI_Isend",
            *self.times(),
            flags="CREATES",
            varies=self.rng.choice(("", "PEER TAG")),
            peer=self.peer(),
            tag=self.rng.randrange(4),
            count_a=self.rng.randrange(5),
            type_a=8,
            site=0x10 * self.rng.randrange(1, 4),
            comm=0,
        )
        self.created()

    def irecv(self) -> None:
        wild = self.rng.random() < 0.5
        self.writer.event(
            "MPI_Irecv",
            *self.times(),
            flags="CREATES WILD_SOURCE WILD_TAG" if wild else "CREATES",
            peer=-3 if wild else self.peer(),
            tag=-2 if wild else 7,
            count_b=self.rng.randrange(90),
            type_b=8,
        )
        number = self.created()
        if wild:
            self.wild.add(number)

    def ages(self, numbers: list[int]) -> list[int]:
        return [self.writer.requests - number + 1 for number in numbers]

    def wait(self) -> None:
        count = self.rng.randint(0, min(len(self.open), 4))
        numbers = self.rng.sample(self.open, count)
        for number in numbers:
            self.open.remove(number)
            if number in self.started:
                self.idle.add(self.started.pop(number))
        statuses = [
            (i, self.rng.choice((0, 0, -5)), 3)
            for i, number in enumerate(numbers)
            if number in self.wild
        ]
        ages: object = self.ages(numbers)
        queued = {"queued_us": count % 3 * 60} if count % 2 else {}
        one = count == 1 and self.rng.random() < 0.5
        self.writer.event(
            "MPI_Waitall",
            *self.times(),
            flags="COMPLETES",
            varies="LIST" if self.rng.random() < 0.3 else "",
            count_a=count + 1,
            requests=self.ages(numbers)[0] if one else ages,
            extras={"statuses": statuses, "lost_us": 70, **queued} if statuses else {},
        )

    def start(self) -> None:
        chosen = sorted(self.idle)[: self.rng.randint(0, 2)]
        if not chosen:
            return
        first = self.writer.requests + 1
        self.writer.event(
            "MPI_Startall",
            *self.times(),
            flags="STARTS",
            count_a=len(chosen),
            requests=[-number for number in chosen],
        )
        for i, number in enumerate(chosen):
            self.idle.remove(number)
            self.started[first + i] = number
            self.open.append(first + i)

    def collective(self) -> None:
        name = self.rng.choice(("Bcast", "Scatter", "Gather", "Allreduce", "Barrier"))
        root = self.rng.randrange(self.writer.ranks)
        values = {"peer": root} if name in ("Bcast", "Scatter", "Gather") else {}
        counts = {} if name == "Barrier" else {"count_a": self.rng.randrange(9)}
        if name in ("Scatter", "Gather"):
            counts["count_b"] = self.rng.randrange(9)
        self.writer.event(
            f"MPI_{name}",
            *self.times(),
            type_a=8 if counts else 0,
            type_b=4 if "count_b" in counts else 0,
            **values,
            **counts,
        )

    def vector(self) -> None:
        counts = [
            [self.rng.randrange(3) for _ in range(self.writer.ranks)] for _ in range(2)
        ]
        self.writer.event(
            "MPI_Alltoallv",
            *self.times(),
            vector_a=counts[0],
            vector_b=counts[1],
            type_a=8,
            type_b=4,
        )

    def poll(self) -> None:
        """Polls in a row, with about 10 us (20,000 units) between two, or none."""
        polls, (gap, took) = self.rng.randrange(2, 99), self.times()
        took += self.rng.choice((0, 19_000, 20_000, 21_000, 25_000)) * polls
        extras = {"polls": polls, "inside": self.rng.choice((7, took // 10))}
        self.writer.event(
            "MPI_Test",
            gap,
            took,
            flags="NOT_READY",
            count_a=1,
            extras={**extras, "overhead": 2},
        )

    def sendrecv(self) -> None:
        self.writer.event(
            "MPI_Sendrecv",
            *self.times(),
            varies="PEER PEER2 TAG2",
            peer=self.peer(),
            tag=1,
            peer2=self.peer(),
            tag2=self.rng.randrange(3),
            count_a=4,
            type_a=8,
            count_b=6,
            type_b=8,
            comm=0,
        )

    def definition(self) -> None:
        self.rng.choice(
            (
                lambda: self.writer.clock("OTHER", cpu_ns=10**9),
                lambda: self.writer.note("something to say"),
                lambda: self.writer.offset(0, -500, 20),
                lambda: self.writer.out.extend(b"\x55\x03abc"),  # of a later version
            )
        )()

    def failure(self) -> None:
        self.writer.event(
            "MPI_Isend", 5, 5, flags="FAILED", peer=0, tag=1, extras={"error": 13}
        )
