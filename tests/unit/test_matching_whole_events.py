"""Calls of different ranks join by the rules of MPI."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.events.types import WINDOW_KINDS
from skelgen.matching import match
from tests import builders
from tests.damage import cut, cut_somewhere
from tests.random_programs import random_program

seeds = st.integers(0, 2**32)


def pairs(text):
    """Return the messages of a trace as (rank, call) pairs and its matching."""
    calls = builders.calls(text)
    matching = match(calls)

    def place(call):
        rank = int(np.searchsorted(calls.first, call, side="right")) - 1
        return rank, int(call - calls.first[rank])

    messages = [
        (place(send), place(receive))
        for send, receive in zip(matching.send_call, matching.receive_call, strict=True)
    ]
    return messages, matching


def test_messages_of_one_channel_match_in_order():
    messages, matching = pairs("""
        rank 0
          Send to=1 tag=1 bytes=1
          Send to=1 tag=2 bytes=2
          Send to=1 tag=1 bytes=3
        rank 1
          Recv from=0 tag=1 bytes=9
          Recv from=0 tag=1 bytes=9
          Recv from=0 tag=2 bytes=9
    """)
    assert messages == [((0, 0), (1, 0)), ((0, 1), (1, 2)), ((0, 2), (1, 1))]
    assert matching.message_bytes.tolist() == [1, 2, 3]
    assert matching.whole_event.tolist() == [0, 1, 2, 0, 2, 1]


def test_communicators_keep_messages_apart():
    messages, _ = pairs("""
        comm twin members=0,1 kind=dup
        rank 0
          Send to=1 tag=1
          Send to=1 tag=1 comm=twin
        rank 1
          Recv from=0 tag=1 comm=twin
          Recv from=0 tag=1
    """)
    assert messages == [((0, 0), (1, 1)), ((0, 1), (1, 0))]


def test_a_wildcard_takes_its_place_among_the_receives_of_its_source():
    messages, matching = pairs("""
        rank 0
          Send to=2 tag=1
          Send to=2 tag=1
        rank 1
          Send to=2 tag=1
        rank 2
          Irecv from=*1 tag=*1 as=a
          Irecv from=*0 tag=1 as=b
          Recv from=0 tag=1
          Waitall of=a,b
    """)
    assert messages == [((0, 0), (2, 1)), ((0, 1), (2, 2)), ((1, 0), (2, 0))]
    assert matching.problems == ()


def test_ranks_of_a_shuffled_communicator_are_its_own():
    messages, _ = pairs("""
        comm turned members=2,0,1
        rank 0
          Send to=0 tag=1 comm=turned
        rank 2
          Recv from=1 tag=1 comm=turned
        rank 1
    """)
    assert messages == [((0, 0), (2, 0))]


def test_a_rank_sends_to_itself():
    messages, matching = pairs("""
        rank 0
          Irecv from=0 tag=1 as=a
          Send to=0 tag=1
          Wait of=a
    """)
    assert messages == [((0, 1), (0, 0))]
    assert matching.receive_done.tolist() == [2]
    assert matching.whole_event.tolist() == [0, 0, -1]


def test_zero_bytes_are_a_message():
    messages, matching = pairs("""
        rank 0
          Ssend to=1 tag=0 bytes=0
        rank 1
          Recv from=0 tag=0 bytes=0
    """)
    assert messages == [((0, 0), (1, 0))]
    assert matching.message_bytes.tolist() == [0]


def test_calls_to_nobody_match_nothing_and_are_no_problem():
    messages, matching = pairs("""
        rank 0
          Send to=null tag=1 bytes=8
          Irecv from=null tag=1 bytes=8 as=a
          Wait of=a
          Sendrecv to=null from=null tag=1 tag2=1
        rank 1
          Probe from=0 tag=1
          Recv from=null tag=1
    """)
    assert messages == []
    assert set(matching.whole_event.tolist()) == {-1}
    assert matching.problems == () and len(matching.unmatched) == 0


def test_requests_join_begin_and_completion():
    _, matching = pairs("""
        rank 0
          Isend to=1 tag=1 as=a
          Isend to=1 tag=2 as=b
          Isend to=1 tag=3 as=c
          Waitany of=b
          Waitall of=a,c
        rank 1
          Irecv from=0 tag=3 as=c
          Recv from=0 tag=1
          Irecv from=0 tag=2 as=b
          Waitsome of=b,c
    """)
    assert matching.send_done.tolist() == [4, 3, 4]
    assert matching.receive_done.tolist() == [6, 8, 8]


def test_a_freed_request_still_sends():
    messages, matching = pairs("""
        rank 0
          Isend to=1 tag=1 as=a
          Request_free of=a
        rank 1
          Recv from=0 tag=1
    """)
    assert messages == [((0, 0), (1, 0))]
    assert matching.send_done.tolist() == [-1]


def test_a_cancelled_receive_leaves_its_place_to_the_next():
    messages, matching = pairs("""
        rank 0
          Irecv from=1 tag=1 as=a
          Cancel of=a
          Wait of=a
          Recv from=1 tag=1
          Irecv from=* tag=* as=b
          Cancel of=b
          Wait of=b
        rank 1
          Send to=0 tag=1
    """)
    assert messages == [((1, 0), (0, 3))]
    assert matching.problems == () and len(matching.unmatched) == 0


def test_each_start_of_a_persistent_request_is_a_message():
    messages, matching = pairs("""
        rank 0
          Send_init to=1 tag=1 bytes=70 as=s
          repeat 2 {
            Start of=s
            Wait of=s
          }
          Request_free of=s
        rank 1
          Recv_init from=0 tag=1 bytes=80 as=r
          Start of=r
          Wait of=r
          Recv from=0 tag=1
          Request_free of=r
    """)
    assert messages == [((0, 1), (1, 1)), ((0, 3), (1, 3))]
    assert matching.message_bytes.tolist() == [70, 70]
    assert matching.send_done.tolist() == [2, 4]
    assert matching.receive_done.tolist() == [8, 9]
    assert matching.whole_event[0] == matching.whole_event[6] == -1


def test_a_cancelled_start_is_no_message():
    messages, matching = pairs("""
        rank 0
          Recv_init from=* tag=* as=r
          Start of=r
          Cancel of=r
          Wait of=r
    """)
    assert messages == [] and matching.problems == ()


def test_one_startall_joins_the_messages_that_it_starts():
    messages, matching = pairs("""
        rank 0
          Send_init to=1 tag=1 bytes=8 as=s
          Recv_init from=1 tag=1 bytes=8 as=r
          Startall of=s,r
          Waitall of=s,r
        rank 1
          Recv from=0 tag=1
          Send to=0 tag=1
    """)
    assert messages == [((0, 2), (1, 0)), ((1, 1), (0, 2))]
    assert matching.whole_events == 1
    assert matching.whole_event.tolist() == [-1, -1, 0, -1, 0, 0]


def test_sendrecvs_around_a_ring_are_one_event():
    _, matching = pairs("""
        rank 0-3
          repeat 2 {
            Sendrecv to=+1 from=-1 tag=1 tag2=1 bytes=8
          }
    """)
    assert matching.whole_events == 2
    assert matching.whole_event.tolist() == [0, 1] * 4
    assert len(matching.send_call) == 8


def test_a_nonblocking_sendrecv_has_two_messages():
    builder = builders.EventsBuilder(2)
    builder.call(0, "Send", peer=1, tag=1, size_bytes=3)
    builder.call(0, "Recv", peer=1, tag=2, size_bytes=9)
    both = builder.call(1, "Isendrecv", peer=0, tag=2, peer2=0, tag2=1, size_bytes=5)
    builder.call(1, "Wait", requests=[both])
    matching = match(builder.calls())
    assert matching.whole_event.tolist() == [0, 0, 0, -1]
    assert matching.message_bytes.tolist() == [3, 5]
    assert matching.receive_done.tolist() == [3, 1]
    assert matching.send_done.tolist() == [0, 3]


def test_collectives_match_by_sequence_on_their_communicator():
    _, matching = pairs("""
        comm row members=0,1
        comm row members=2,3
        rank 0-3
          Barrier
          Allreduce bytes=8 op=1 comm=row
          Ibarrier as=b
          Bcast root=2 bytes=8
          Wait of=b
          Barrier comm=self
    """)
    rows = matching.whole_event.reshape(4, 6)
    assert rows[:, [0, 2, 3]].tolist() == [rows[0, [0, 2, 3]].tolist()] * 4
    assert rows[0, 1] == rows[1, 1] != rows[2, 1] == rows[3, 1]
    assert len(set(rows[:, 5].tolist())) == 4
    assert rows[:, 4].tolist() == [-1] * 4
    assert matching.collective_done.reshape(4, 6)[1].tolist() == [6, 7, 10, 9, -1, 11]


def test_communicators_are_made_by_all_members_of_the_parent():
    _, matching = pairs("""
        rank 0
          Comm_split
          Barrier
          Comm_idup as=d
          Wait of=d
        rank 1
          Comm_split
          Barrier
          Comm_idup as=d
          Wait of=d
    """)
    assert matching.whole_event.tolist() == [0, 1, 2, -1] * 2
    assert matching.collective_done.tolist() == [0, 1, 3, -1, 4, 5, 7, -1]


def test_a_setup_call_that_some_ranks_lack_disturbs_nothing_else():
    _, matching = pairs("""
        rank 0
          Comm_create_group
          Intercomm_create
          Comm_free
          Barrier
        rank 1
          Barrier
    """)
    assert matching.whole_event.tolist() == [-1, -1, -1, 0, 0]


@pytest.mark.parametrize("twice", [False, True])
def test_partners_on_an_intercommunicator_are_ranks_of_the_other_group(twice):
    # Some readers define it once, some once for each side.
    other = "comm bridge members=2 remote=0,1 kind=inter" if twice else ""
    calls = builders.calls(f"""
        comm bridge members=0,1 remote=2 kind=inter
        {other}
        rank 0
        rank 1
        rank 2
    """)
    builder = builders.EventsBuilder(3)
    for communicator in calls.communicators[4:]:
        builder.communicator("bridge", communicator.members, remote=communicator.remote)
    theirs = len(builder.communicators) - 1
    builder.call(1, "Send", comm=4, peer=0, tag=1)
    builder.call(2, "Recv", comm=theirs, peer=1, tag=1)
    for rank in range(3):
        builder.call(rank, "Barrier", comm=theirs if rank == 2 else 4)
    matching = match(builder.calls())
    assert matching.problems == ()
    # rank 0: barrier; rank 1: send, barrier; rank 2: receive, barrier
    assert matching.whole_event.tolist() == [0, 1, 0, 1, 0]


def test_sends_to_ranks_that_do_not_exist_are_listed():
    _, matching = pairs("""
        rank 0
          Send to=7 tag=1
        rank 1
          Recv from=5 tag=1
    """)
    assert matching.unmatched.tolist() == [0, 1]
    assert len(matching.problems) == 2


def test_a_half_matched_sendrecv_takes_its_partners_along():
    messages, matching = pairs("""
        rank 0
          Sendrecv to=1 tag=1 from=1 tag2=2
          Send to=1 tag=3
        rank 1
          Recv from=0 tag=1
          Recv from=0 tag=3
    """)
    assert messages == [((0, 1), (1, 1))]
    assert matching.unmatched.tolist() == [0, 2]
    assert matching.whole_event.tolist() == [-1, 0, -1, 0]


def test_collectives_of_different_functions_do_not_match():
    _, matching = pairs("""
        rank 0
          Barrier
          Bcast root=0 bytes=8
          Barrier
        rank 1
          Barrier
          Reduce root=0 bytes=8
          Barrier
    """)
    assert matching.whole_event.tolist() == [0, -1, 1] * 2
    assert "MPI_Bcast at rank 0 call 1 meets MPI_Reduce" in matching.problems[-1]


def test_a_nonblocking_collective_does_not_match_a_blocking_one():
    _, matching = pairs("""
        rank 0
          Ibarrier as=b
          Wait of=b
        rank 1
          Barrier
    """)
    assert matching.whole_events == 0
    assert matching.unmatched.tolist() == [0, 2]


def test_large_count_functions_match_the_others():
    _, matching = pairs("""
        rank 0
          Bcast_c root=0 bytes=8
          Send_c to=1 tag=1 bytes=8
        rank 1
          Bcast root=0 bytes=8
          Recv from=0 tag=1 bytes=8
    """)
    assert matching.whole_event.tolist() == [0, 1, 0, 1]


def test_unknown_communicators_are_an_input_error():
    builder = builders.EventsBuilder(1)
    builder.call(0, "Send", comm=9, peer=0, tag=1)
    with pytest.raises(InputError, match="communicator 9"):
        match(builder.calls())


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_random_programs_match_completely(seed):
    calls = random_program(random.Random(seed)).calls
    matching = match(calls)
    assert matching.problems == () and len(matching.unmatched) == 0
    assert_whole(calls, matching)


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_events_of_runs_that_were_cut_short_are_whole(seed):
    rng = random.Random(seed)
    calls = cut_somewhere(random_program(rng).calls, rng)
    matching = match(calls)
    assert bool(matching.problems) == bool(len(matching.unmatched))
    assert_whole(calls, matching)


def test_a_run_that_was_cut_short_keeps_its_first_events():
    calls = random_program(random.Random(5), ranks=3, calls=600).calls
    counts = np.diff(calls.first).tolist()
    early = match(cut(calls, [counts[0], counts[1] // 2, counts[2]]))
    assert 0 < early.whole_events < match(calls).whole_events


def assert_whole(calls, matching):
    """Check that messages, collectives and epochs have all parts in one event."""
    event = matching.whole_event
    assert np.array_equal(event[matching.send_call], event[matching.receive_call])
    assert (event[matching.send_call] >= 0).all()
    assert (event[matching.unmatched] == -1).all()
    firsts = np.unique(event[event >= 0], return_index=True)
    assert firsts[0].tolist() == list(range(matching.whole_events))
    assert (np.diff(firsts[1]) > 0).all()
    row = calls.shapes[calls.shape]
    rank = np.searchsorted(calls.first, np.arange(len(calls)), side="right") - 1
    for call in np.flatnonzero((event >= 0) & (row["tag"] < 0)):
        if not calls.functions[row["function"][call]].startswith("MPI_Start"):
            communicator = calls.communicators[row["communicator"][call]]
            met, members = rank[event == event[call]], communicator.members
            if communicator.kind == "fence_window":
                assert set(met) == set(members)
            elif communicator.kind in WINDOW_KINDS:
                assert set(met) <= set(members)
            else:
                assert sorted(met) == sorted(members)
