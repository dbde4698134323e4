"""Traces whose costs could grow faster than their events: what `pipeline.py` compiles.

Each is written by a function with a writer of one rank and the number of its events.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.trace_writer import RankWriter

#: Requests that are outstanding at a time.
PENDING = 10_000
#: Communicators, each of all ranks, and calls of a call site that uses them at random.
COMMUNICATORS = 1_000


#: Steps after which the bytes of the next one stay the same.
_WARM_UP = 30


def repeat(writer: RankWriter, step: Callable[[], None], times: int) -> None:
    """Take a step so many times; write its bytes again once they stay the same."""
    last, chunk, done = None, b"", 0
    before = (0, 0, 0)
    while done < times and (done < _WARM_UP or chunk != last):
        last, begin = chunk, len(writer.out)
        before = (writer.events, writer.now, writer.requests)
        step()
        chunk = bytes(writer.out[begin:])
        done += 1
    left = times - done
    writer.out += chunk * left
    writer.events += left * (writer.events - before[0])
    writer.now += left * (writer.now - before[1])
    writer.requests += left * (writer.requests - before[2])


def post(writer: RankWriter) -> None:
    """Begin to receive from the rank before."""
    writer.event(
        "MPI_Irecv",
        40,
        60,
        flags="CREATES",
        site=16,
        peer=(writer.rank - 1) % writer.ranks,
        tag=0,
        count_b=10,
        type_b=8,
    )


def send(writer: RankWriter) -> None:
    """Send to the next rank."""
    writer.event(
        "MPI_Send",
        40,
        300,
        site=32,
        peer=(writer.rank + 1) % writer.ranks,
        tag=0,
        count_a=10,
        type_a=8,
    )


def wait(writer: RankWriter, ages: list[int]) -> None:
    """Complete requests."""
    name = "MPI_Wait" if len(ages) == 1 else "MPI_Waitall"
    count = len(ages)
    writer.event(
        name, 30, 400, flags="COMPLETES", site=48, count_a=count, requests=ages
    )


def window(writer: RankWriter, events: int) -> None:
    """Keep 10,000 receives posted: complete the oldest, post another."""

    def step() -> None:
        post(writer)
        send(writer)
        wait(writer, [PENDING + 1])

    repeat(writer, lambda: post(writer), PENDING)
    repeat(writer, step, (events - 2 * PENDING) // 3)
    repeat(writer, lambda: send(writer), PENDING)
    wait(writer, list(range(PENDING, 0, -1)))


def burst(writer: RankWriter, events: int) -> None:
    """Post 10,000 receives, send as much, and complete all at once."""
    everything = list(range(PENDING, 0, -1))

    def step() -> None:
        repeat(writer, lambda: post(writer), PENDING)
        repeat(writer, lambda: send(writer), PENDING)
        wait(writer, everything)

    repeat(writer, step, events // (2 * PENDING + 1))


def communicators(writer: RankWriter, events: int) -> None:
    """Reduce over one of 1,000 communicators, drawn at random by all ranks alike."""
    for number in range(COMMUNICATORS):
        ranks = range(writer.ranks)
        writer.comm(2 + number, ranks, sequence=number, twin=number)
        writer.event("MPI_Comm_split", 100, 900, site=8, extras={"object": 2 + number})
    drawn = np.random.default_rng(1).integers(0, COMMUNICATORS, events - COMMUNICATORS)
    for number in drawn.tolist():
        writer.event(
            "MPI_Allreduce",
            900,
            700,
            comm=2 + number,
            site=64,
            count_a=1,
            type_a=8,
            op=3,
        )


TRACES: dict[str, Callable[[RankWriter, int], None]] = {
    "window": window,
    "burst": burst,
    "communicators": communicators,
}
