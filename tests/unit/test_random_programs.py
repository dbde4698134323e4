"""Random programs finish, however their library sends."""

import random
from collections import Counter, defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events import CallKind, function_info
from skelgen.matching import match
from tests.random_programs import random_program


def finishes(calls, matching):
    """Run calls where every send waits until its receive was posted."""
    needs = defaultdict(list)  # of each call the calls that must have been reached
    tells = [function_info(name).kind is CallKind.SIGNAL for name in calls.functions]
    tells = np.array(tells)[calls.shapes["function"]][calls.shape]
    for end, done, other in (
        (matching.send_call, matching.send_done, matching.receive_call),
        (matching.receive_call, matching.receive_done, matching.send_call),
    ):
        for begin, completion, partner in zip(end, done, other, strict=True):
            assert completion == -1 or completion >= begin
            if tells[begin]:
                continue  # Win_post and Win_complete wait for nobody
            needs[int(completion)].append(int(partner))
    members = defaultdict(list)
    for call in np.flatnonzero(matching.collective_done >= 0):
        members[int(matching.whole_event[call])].append(int(call))
    for group in members.values():
        for call in group:
            needs[int(matching.collective_done[call])] += group
    rank_of = np.repeat(np.arange(calls.ranks), np.diff(calls.first))
    cursor = calls.first[:-1].copy()
    moved = True
    while moved:
        moved = False
        for rank in range(calls.ranks):
            while cursor[rank] < calls.first[rank + 1] and all(
                cursor[rank_of[other]] >= other for other in needs[int(cursor[rank])]
            ):
                cursor[rank] += 1
                moved = True
    return bool((cursor == calls.first[1:]).all())


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_random_programs_finish_when_every_send_is_synchronous(seed):
    calls = random_program(random.Random(seed)).calls
    assert finishes(calls, match(calls))


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_receives_have_room_for_what_arrives(seed):
    calls = random_program(random.Random(seed)).calls
    matching = match(calls)
    row = calls.shapes[calls.shape]
    for receive, size in zip(
        matching.receive_call, matching.message_bytes, strict=True
    ):
        if row["peer2"][receive] == -1 and row["tag"][receive] >= 0:
            assert calls.size_bytes[receive] >= size


def test_random_programs_hold_what_real_ones_hold():
    seen = Counter()
    ranks = set()
    for seed in range(200):
        calls = random_program(random.Random(seed)).calls
        ranks.add(calls.ranks)
        seen.update(name.removeprefix("MPI_") for name in calls.functions)
        flags = np.bitwise_or.reduce(calls.shapes["flags"])
        seen.update(f"flag_{bit}" for bit in (1, 2, 4) if flags & bit)
    assert ranks == set(range(2, 9))
    for name in (
        "Send Isend Issend Bsend Rsend Recv Irecv Sendrecv Probe Start Startall Wait "
        "Waitall Waitany Waitsome Test Testall Testany Request_free Cancel Comm_split "
        "Comm_dup Barrier Bcast Allreduce Alltoallv Gatherv Scatterv Ibarrier Ibcast "
        "Put Get Accumulate Fetch_and_op Rput Win_fence Win_post Win_start "
        "Win_complete Win_wait Win_lock Win_unlock Win_flush_all "
        "flag_1 flag_2 flag_4"
    ).split():
        assert seen[name] > 0, name


def test_a_seed_makes_the_same_program_again():
    one, other = (random_program(random.Random(7), ranks=4) for _ in range(2))
    assert np.array_equal(one.enter_ns, other.enter_ns)
    assert np.array_equal(one.calls.shapes, other.calls.shapes)
    assert one.calls.ranks == 4
