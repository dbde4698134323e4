"""Strings of programs whose steps skip calls, for tests of folding."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import strategies as st

ALLTOALL, RECEIVE, SEND, WAIT, PROBE, BARRIER, COMPLETE = range(7)


def events(chance: random.Random) -> list[int]:
    """Return a step of a simulation that sends what its events demand."""
    receives, sends = chance.choice([0, 1, 2, 3, 5]), chance.randrange(4)
    return [ALLTOALL, *[RECEIVE] * receives, *[SEND] * sends, WAIT]


def sparse_exchange(chance: random.Random) -> list[int]:
    """Return a step in which nobody knows how many messages will come."""
    sends = chance.randrange(4)

    def some() -> list[int]:
        return [PROBE, RECEIVE] * chance.randrange(3)

    complete = [COMPLETE] if sends else []
    sent = [*[SEND] * sends, *some(), *complete]
    return [*sent, *some(), BARRIER, *some(), WAIT]


def rare_output(chance: random.Random) -> list[int]:
    """Return a step of the simulation, behind output now and then."""
    output = [10, 11, 10, 12] if chance.random() < 0.02 else []
    return [*output, *events(chance)]


def anything(chance: random.Random) -> list[int]:
    return [chance.randrange(8)]


def steps(
    kind: Callable[[random.Random], list[int]], number: int, seed: int
) -> list[int]:
    chance = random.Random(seed)
    return [symbol for _ in range(number) for symbol in kind(chance)]


KINDS = (events, sparse_exchange, rare_output, anything)

#: Strings of some stretches, each of one kind of step.
strings = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(1, 300), st.integers(0, 99)),
    max_size=4,
).map(lambda parts: [symbol for part in parts for symbol in steps(*part)])
