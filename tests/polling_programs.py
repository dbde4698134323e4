"""Random programs that poll: what they find when is chance, what they do is not.

Ranks form a line. In a sweep each posts receives from the rank before it, works on a
task for each message, and sends one on to the rank behind it. Who goes on, and which
messages a poll finds, is drawn anew each time, as far as messages allow: so the same
program has calls in another order in every sweep.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from skelgen.events import Events
from tests.builders import EventsBuilder

POST, SEND, POLL, END, MEET = range(1, 6)


@dataclass(frozen=True)
class Sweep:
    """What a sweep consists of.

    Attributes
    ----------
    tasks : int
    poll : str
        ``Testsome``, ``Testany``, ``Waitany`` or ``Waitsome``.
    in_order : bool
        Whether tasks wait for the message of the same number.
    rest : bool
        Whether the last messages are left to a Waitall.
    backwards : bool
    meets : bool
    work_ns : int
    """

    tasks: int
    poll: str
    in_order: bool
    rest: bool
    backwards: bool
    meets: bool
    work_ns: int


@dataclass
class _Rank:
    """Where a rank is in a sweep."""

    number: int
    source: int
    target: int
    received: list[int]
    sent: list[int] = field(default_factory=list)
    found: set[int] = field(default_factory=set)
    worked: int = 0
    ended: bool = False


def sweep_of(rng: random.Random) -> Sweep:
    """Draw a sweep."""
    return Sweep(
        rng.randint(1, 6),
        rng.choice(("Testsome", "Testany", "Waitany", "Waitsome")),
        rng.random() < 0.5,
        rng.random() < 0.3,
        rng.random() < 0.3,
        rng.random() < 0.3,
        rng.choice((1_000, 200_000)),
    )


def polling_program(
    rng: random.Random, *, ranks: int | None = None, kinds: int = 2, rounds: int = 12
) -> Events:
    """Act out a program that repeats some sweeps.

    Parameters
    ----------
    rng : random.Random
    ranks : int, optional
        2 to 4 when not given.
    kinds, rounds : int
        Sweeps that are different, and how often all of them are done.
    """
    builder = EventsBuilder(ranks or rng.randint(2, 4))
    sweeps = [sweep_of(rng) for _ in range(rng.randint(1, kinds))]
    for _ in range(rounds):
        for sweep in sweeps:
            _act(rng, builder, sweep)
    return builder.events()


def _act(rng: random.Random, builder: EventsBuilder, sweep: Sweep) -> None:
    step = -1 if sweep.backwards else 1
    line = list(range(builder.ranks))[::step]
    ranks = []
    for place, number in enumerate(line):
        source = line[place - 1] if place else -1
        target = line[place + 1] if place + 1 < len(line) else -1
        posted = [
            builder.call(number, "Irecv", peer=source, tag=i, size_bytes=8, site=POST)
            for i in range(sweep.tasks if place else 0)
        ]
        ranks.append(_Rank(number, source, target, posted))
    while busy := [one for one in ranks if not one.ended]:
        one = rng.choice(busy)
        before = ranks[ranks.index(one) - 1] if one.received else None
        _go_on(rng, builder, sweep, one, before)
    for number in line if sweep.meets else ():
        builder.call(number, "Allreduce", size_bytes=8, op=1, site=MEET)


def _go_on(
    rng: random.Random,
    builder: EventsBuilder,
    sweep: Sweep,
    one: _Rank,
    before: _Rank | None,
) -> None:
    """Let a rank poll, work on a task or end its sweep, whichever it can."""
    there = set(range(len(before.sent))) - one.found if before else set()
    needs = one.worked if sweep.in_order else len(one.found) - 1 - one.worked
    ready = needs in one.found if sweep.in_order else needs >= 0
    if one.worked == sweep.tasks:
        _end(builder, one, before, sweep.tasks)
    elif there and (rng.random() < 0.5 or not (ready or before is None)):
        _poll(rng, builder, sweep, one, sorted(there))
    elif ready or before is None:
        work_ns = sweep.work_ns + rng.randrange(100)
        if one.target >= 0:
            sent = builder.call(
                one.number, "Isend", peer=one.target, tag=one.worked,
                size_bytes=8, site=SEND, compute_ns=work_ns,
            )  # fmt: skip
            one.sent.append(sent)
        else:
            builder.clock_ns[one.number] += 1
            builder.call(one.number, "Comm_rank", compute_ns=work_ns)
        one.worked += 1
    elif sweep.poll.startswith("Test") and rng.random() < 0.2:
        builder.call(
            one.number, sweep.poll, flags=8, size_bytes=3, site=POLL, compute_ns=50
        )


def _poll(
    rng: random.Random,
    builder: EventsBuilder,
    sweep: Sweep,
    one: _Rank,
    there: list[int],
) -> None:
    most = len(there) if sweep.poll.endswith("some") else 1
    found = sorted(rng.sample(there, rng.randint(1, most)))
    one.found.update(found)
    builder.call(
        one.number,
        sweep.poll,
        requests=[one.received[i] for i in found],
        site=POLL,
        compute_ns=rng.randrange(500),
        mpi_ns=rng.choice((100, 90_000)),
    )


def _end(builder: EventsBuilder, one: _Rank, before: _Rank | None, tasks: int) -> None:
    """Wait for what is left, once it can come."""
    if before is not None and len(before.sent) < tasks:
        return
    left = [one.received[i] for i in range(len(one.received)) if i not in one.found]
    if left or one.sent:
        builder.call(one.number, "Waitall", requests=[*left, *one.sent], site=END)
    one.ended = True
