"""Runs for tests of the timeline."""

from __future__ import annotations

from typing import Any

import numpy as np

from skelgen.events import SHAPE_DTYPE, Calls, Communicator, Events
from skelgen.timeline.types import RankWork, work_of

FUNCTIONS = ("MPI_Send", "MPI_Allreduce", "MPI_File_write", "MPI_Comm_rank")


def run_of(
    ranks: list[list[tuple[int, int, int]]],
    *,
    functions: tuple[str, ...] = FUNCTIONS,
    begins: list[int] | None = None,
    tails: list[int] | None = None,
) -> Events:
    """Make a run: of each rank its calls as gap before, time inside [ns], function."""
    counts = [len(calls) for calls in ranks]
    begin = np.array(begins or [0] * len(ranks), np.int64)
    enter, leave, function = [], [], []
    ends = []
    for rank, calls in enumerate(ranks):
        now = int(begin[rank])
        for gap, inside, number in calls:
            enter.append(now + gap)
            now += gap + inside
            leave.append(now)
            function.append(number)
        ends.append(now + (tails[rank] if tails else 0))
    shapes = np.zeros(len(functions), SHAPE_DTYPE)
    shapes["function"] = np.arange(len(functions))
    total = sum(counts)
    nothing: dict[str, Any] = {
        "ages": np.zeros(total, np.uint32),
        "age_first": np.zeros(2, np.int64),
        "age_values": np.zeros(0, np.int64),
        "vector_call": np.zeros(0, np.int64),
        "vectors": np.empty((0, 2), object),
    }
    world = Communicator(0, -1, "world", tuple(range(len(ranks))))
    calls_of = Calls(
        first=np.append(0, np.cumsum(counts)),
        shape=np.array(function, np.uint32),
        size_bytes=np.zeros(total, np.int64),
        shapes=shapes,
        communicators=(world,),
        functions=functions,
        **nothing,
    )
    return Events(
        calls=calls_of,
        enter_ns=np.array(enter, np.int64),
        leave_ns=np.array(leave, np.int64),
        compute_ns=np.zeros(total, np.int64),
        begin_ns=begin,
        end_ns=np.array(ends, np.int64),
        tail_ns=np.array(tails or [0] * len(ranks), np.int64),
        tail_asleep_ns=np.zeros(len(ranks), np.int64),
        sites=(),
    )


def times_of(events: Events, waits_ns: np.ndarray | None = None) -> np.ndarray:
    """Sum what each rank does, call by call: (ranks, kinds of work) [ns]."""
    found = np.zeros((events.calls.ranks, len(RankWork)), np.int64)
    works = [work_of(name) for name in events.calls.functions]
    for rank, (first, last) in enumerate(
        zip(events.calls.first[:-1], events.calls.first[1:], strict=True)
    ):
        for call in range(first, last):
            inside = events.leave_ns[call] - events.enter_ns[call]
            wait = 0 if waits_ns is None else min(waits_ns[call], inside)
            found[rank, RankWork.WAITING] += wait
            number = events.calls.shapes["function"][events.calls.shape[call]]
            found[rank, works[number]] += inside - wait
        elapsed = events.end_ns[rank] - events.begin_ns[rank]
        found[rank, RankWork.COMPUTATION] = elapsed - found[rank].sum()
        found[rank, RankWork.ABSENT] = events.application_ns - elapsed
    return found
