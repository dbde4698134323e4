"""A program whose ranks exchange now more, now fewer messages with their neighbour."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.builders import EventsBuilder


def changing_neighbours(
    counts: Sequence[int],
    *,
    rng: random.Random | None = None,
    ranks: int = 3,
    late: bool = False,
    in_turn: bool = False,
    builder: EventsBuilder | None = None,
) -> EventsBuilder:
    """Act the program out: each rank sends to the next one.

    Parameters
    ----------
    counts : sequence of int
        Messages of each exchange.
    rng : random.Random, optional
        Draws requests that are completed on their own, before all others are; none
        without it.
    ranks : int
    late : bool
        Whether the last send of an exchange is completed in the next one only.
    in_turn : bool
        Whether each request is waited for by itself, in place of all at once.
    builder : EventsBuilder, optional
        Has what the program did before.
    """
    builder = builder or EventsBuilder(ranks)
    left = [0] * ranks
    for count in counts:
        alone = [rng is not None and rng.random() < 0.2 for _ in range(2 * count)]
        for rank in range(ranks):
            rest = _exchange(builder, rank, count, alone, left, late)
            for names in [[one] for one in rest] if in_turn else [rest][: len(rest)]:
                function = "Wait" if in_turn else "Waitall"
                builder.call(rank, function, requests=names, site=5, compute_ns=30)
    for rank in range(ranks):
        if left[rank]:
            builder.call(rank, "Wait", requests=[left[rank]], site=6)
        builder.call(rank, "Barrier", site=7)
    return builder


def _exchange(
    builder: EventsBuilder,
    rank: int,
    count: int,
    alone: Sequence[bool],
    left: list[int],
    late: bool,
) -> list[int]:
    """Post an exchange; return the requests that are left to complete."""
    before, behind = (rank - 1) % builder.ranks, (rank + 1) % builder.ranks
    received = [
        builder.call(rank, "Irecv", peer=before, tag=1, size_bytes=8, site=1)
        for _ in range(count)
    ]
    sent = [
        builder.call(rank, "Isend", peer=behind, tag=1, size_bytes=8, site=2)
        for _ in range(count)
    ]
    if left[rank]:
        builder.call(rank, "Wait", requests=[left[rank]], site=3)
        left[rank] = 0
    if late:
        left[rank] = sent.pop()
    every = received + sent
    early = [one for one, own in zip(every, alone, strict=False) if own]
    for one in early:
        builder.call(rank, "Wait", requests=[one], site=4)
    return [one for one in every if one not in early]
