"""Damaged copies of calls, as a run that was cut short or a bad disk leaves them."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.types import FAILED_POLL


def cut(calls: Calls, kept: list[int]) -> Calls:
    """Keep only the first calls of each rank."""
    rows = np.concatenate(
        [np.arange(calls.first[r], calls.first[r] + kept[r]) for r in range(len(kept))]
    ).astype(np.int64)
    vectors = np.isin(calls.vector_call, rows)
    return dataclasses.replace(
        calls,
        first=np.cumsum([0, *kept]).astype(np.int64),
        shape=calls.shape[rows],
        size_bytes=calls.size_bytes[rows],
        ages=calls.ages[rows],
        vector_call=np.searchsorted(rows, calls.vector_call[vectors]).astype(np.int64),
        vectors=calls.vectors[vectors],
    )


def cut_somewhere(calls: Calls, rng: random.Random) -> Calls:
    """Cut every rank at a random place, most of them not at all."""
    counts = np.diff(calls.first).tolist()
    return cut(calls, [rng.choice((n, n, rng.randint(0, n))) for n in counts])


def with_polls(calls: Calls, rng: random.Random) -> tuple[Calls, NDArray[np.int64]]:
    """Put failed polls anywhere; return the calls and where those of before are."""
    before = np.array([rng.random() < 0.2 for _ in range(len(calls))], np.int64)
    own = np.arange(len(calls)) + np.cumsum(before)
    polls = own[before > 0] - 1
    rows = np.zeros(len(calls) + len(polls), np.int64)
    rows[own] = np.arange(len(calls))
    shapes = np.append(calls.shapes, np.zeros(1, calls.shapes.dtype))
    shapes[-1]["function"] = len(calls.functions)
    shapes[-1]["flags"] = FAILED_POLL
    shape, ages = calls.shape[rows], calls.ages[rows]
    shape[polls], ages[polls] = len(shapes) - 1, 0
    return dataclasses.replace(
        calls,
        first=calls.first + np.concatenate([[0], np.cumsum(before)])[calls.first],
        shape=shape,
        size_bytes=calls.size_bytes[rows],
        ages=ages,
        vector_call=own[calls.vector_call],
        shapes=shapes,
        functions=(*calls.functions, "MPI_Iprobe"),
    ), own


def scramble(calls: Calls, rng: random.Random) -> Calls:
    """Change some arguments and ages to others that can be written in a trace."""
    shapes = calls.shapes.copy()
    for _ in range(rng.randint(0, 3) if len(shapes) else 0):
        row = rng.randrange(len(shapes))
        column = rng.choice(
            ("peer", "peer2", "tag", "tag2", "communicator", "function")
        )
        limit = {
            "communicator": len(calls.communicators),
            "function": len(calls.functions),
        }.get(column, 9)
        low = {"function": 0, "communicator": -1}.get(column, -3)
        shapes[column][row] = rng.randrange(low, limit)
    ages = calls.age_values.copy()
    for _ in range(rng.randint(0, 3) if len(ages) else 0):
        ages[rng.randrange(len(ages))] = rng.randint(-2, 12)
    return dataclasses.replace(calls, shapes=shapes, age_values=ages)
