"""Random MPI programs whose threads communicate at the same time.

Each thread is a random program of all ranks, in communicators of its own. All of them
are acted out beside each other: at each moment a thread that may go on does. The calls
of a rank are then merged by the times at which they were entered, as those of a
recorded run are.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from skelgen.events import Calls, Events
from skelgen.events.reorder import reorder
from skelgen.matching import Matching, match
from skelgen.matching.thread_order import Depend, depend
from tests.random_programs import random_program


def random_threads(
    rng: random.Random, *, buffered: float = 0.0, calls: int = 60
) -> Events:
    """Make a run of several threads for each rank.

    Parameters
    ----------
    rng : random.Random
    buffered : float
        How often a message is buffered, so that its send returns at once [0 to 1].
    calls : int
        About how many calls of all ranks of one thread.
    """
    ranks = rng.randint(2, 4)
    programs = [
        random_program(rng, ranks=ranks, calls=calls) for _ in range(rng.randint(2, 3))
    ]
    return side_by_side(programs, rng, buffered=buffered)


def side_by_side(
    programs: list[Events], rng: random.Random, *, buffered: float = 0.0
) -> Events:
    """Act programs out beside each other, each in a thread of the same ranks."""
    first, *others = programs
    joint = first.calls
    lengths = [np.diff(joint.first)]
    for other in others:
        lengths.append(np.diff(other.calls.first))
        joint = _beside(joint, other.calls)
    threads = np.concatenate(
        [np.repeat(range(len(programs)), of_rank) for of_rank in np.array(lengths).T]
    ).astype(np.uint16)
    nothing = np.zeros(len(joint), np.int64)
    events = replace(
        first,
        calls=joint,
        enter_ns=nothing,
        leave_ns=nothing,
        compute_ns=nothing,
        threads=threads,
        end_ns=np.full(joint.ranks, 10 * len(joint)),
        sites=max((one.sites for one in programs), key=len),
    )
    given = depend(joint, match(joint), threads, nothing, nothing)
    enter_ns, leave_ns = _act_out(given, rng, buffered)
    events = replace(events, enter_ns=enter_ns, leave_ns=leave_ns)
    rank = np.repeat(np.arange(joint.ranks), np.diff(joint.first))
    return reorder(events, np.lexsort((enter_ns, rank)))


def _beside(one: Calls, other: Calls) -> Calls:
    """Return the calls of two programs, for each rank those of the first before."""
    shapes = other.shapes.copy()
    shapes["function"] += len(one.functions)
    known = shapes["communicator"] >= 0
    shapes["communicator"][known] += len(one.communicators)
    families = 1 + max(made.family for made in one.communicators)
    communicators = [
        replace(
            made,
            family=made.family + families,
            parent=made.parent + len(one.communicators) * (made.parent >= 0),
        )
        for made in other.communicators
    ]
    rows = len(one.age_first) - 1
    both = [
        np.concatenate([one.shape, other.shape + np.uint32(len(one.shapes))]),
        np.concatenate([one.size_bytes, other.size_bytes]),
        np.concatenate([one.ages, other.ages + np.uint32(rows)]),
    ]
    rank = np.concatenate(
        [np.repeat(np.arange(c.ranks), np.diff(c.first)) for c in (one, other)]
    )
    order = np.argsort(rank, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    vector_call = place[np.concatenate([one.vector_call, other.vector_call + len(one)])]
    by_call = np.argsort(vector_call)
    return Calls(
        first=one.first + other.first,
        shape=both[0][order],
        size_bytes=both[1][order],
        ages=both[2][order],
        age_first=np.concatenate(
            [one.age_first, other.age_first[1:] + one.age_first[-1]]
        ),
        age_values=np.concatenate([one.age_values, other.age_values]),
        vector_call=vector_call[by_call],
        vectors=np.concatenate([one.vectors, other.vectors])[by_call],
        shapes=np.concatenate([one.shapes, shapes]),
        communicators=(*one.communicators, *communicators),
        functions=(*one.functions, *other.functions),
    )


def _act_out(
    given: Depend, rng: random.Random, buffered: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return when each call was entered and left."""
    lanes: list[list[int]] = [[] for _ in range(int(given.lane_first[-1]))]
    for call in reversed(range(len(given.lane))):
        lanes[given.lane[call]].append(call)
    soft = {
        (int(call), end)
        for end in range(given.ends)
        for call, one in zip(
            given.waiters.row(end),
            given.soft[slice(*given.waiters.first[end : end + 2])],
            strict=True,
        )
        if one and rng.random() < buffered
    }
    missing = np.bincount(given.begins.values, minlength=given.ends).tolist()
    enter, leave = (np.zeros(len(given.lane), np.int64) for _ in range(2))
    now = 0
    active = [lane for lane in lanes if lane]
    while active:
        waiting = []
        for lane in rng.sample(active, len(active)):
            call = lane[-1]
            if not enter[call] or not any(
                missing[end] and (call, end) not in soft
                for end in given.waits.row(call)
            ):
                break
            waiting.append(call)
        else:
            raise AssertionError(f"calls {waiting} wait for each other")
        now += rng.choice((1, 1, 2, 5))
        if not enter[call]:
            enter[call] = now
            for end in given.begins.row(call):
                missing[end] -= 1
        else:
            leave[call] = now
            lane.pop()
            active = [lane for lane in lanes if lane]
    return enter, leave


def finishes(calls: Calls, matching: Matching) -> bool:
    """Say whether ranks of one thread finish when sends wait for their receives."""
    threads = np.zeros(len(calls), np.uint16)
    nothing = np.zeros(len(calls), np.int64)
    given = depend(calls, matching, threads, nothing, nothing)
    missing = np.bincount(given.begins.values, minlength=given.ends).tolist()
    place, last = calls.first[:-1].tolist(), calls.first[1:].tolist()
    begun = [False] * len(calls)
    moved = True
    while moved:
        moved = False
        for rank in range(calls.ranks):
            while place[rank] < last[rank]:
                call = place[rank]
                if not begun[call]:
                    begun[call] = moved = True
                    for end in given.begins.row(call):
                        missing[end] -= 1
                if any(missing[end] for end in given.waits.row(call)):
                    break
                place[rank] += 1
                moved = True
    return place == last
