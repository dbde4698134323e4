"""The calls of threads come into an order that one thread can execute."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events.reorder import reorder
from skelgen.matching import match, replay
from skelgen.matching.thread_order import depend
from skelgen.matching.threads import order_of_threads, overlapping
from skelgen.pipeline.execution_order import matched
from skelgen.ticks import place
from tests.builders import events
from tests.damage import scramble
from tests.threaded import finishes, random_threads
from tests.timed_calls import names, timed
from tests.twins import matching_replay as twin

seeds = st.integers(0, 2**32)


def test_a_call_entered_early_and_left_late_stands_behind_what_it_depends_on():
    # Thread 0 of rank 0 waits for what rank 1 sends after it heard from thread 1.
    found = timed(
        """
        rank 0
          Recv from=1 tag=1 bytes=8
          Send to=1 tag=2 bytes=8
        rank 1
          Recv from=0 tag=2 bytes=8
          Send to=0 tag=1 bytes=8
        """,
        "0 10 90; 1 20 40",
        "0 15 45; 0 50 80",
    )
    assert not finishes(found.calls, match(found.calls))
    ordered, matching = matched(found)
    assert names(ordered) == [["Send", "Recv"], ["Recv", "Send"]]
    assert finishes(ordered.calls, matching)
    assert ordered.enter_ns.tolist() == [20, 10, 15, 50]
    assert ordered.threads is not None
    assert ordered.threads.tolist() == [1, 0, 0, 0]


def test_collectives_of_two_threads_come_into_one_order_on_all_ranks():
    # The threads enter the collectives of their communicators in opposite orders.
    found = timed(
        """
        comm one members=0,1
        comm two members=0,1
        rank 0
          Allreduce bytes=8 comm=one
          Barrier comm=two
        rank 1
          Barrier comm=two
          Allreduce bytes=8 comm=one
        """,
        "0 10 50; 1 20 60",
        "1 15 60; 0 25 50",
    )
    ordered, matching = matched(found)
    assert names(ordered) == [["Allreduce", "Barrier"]] * 2
    assert finishes(ordered.calls, matching)


def test_requests_keep_their_names_when_others_are_made_in_between():
    found = timed(
        """
        rank 0
          Recv from=1 tag=1 bytes=8
          Irecv from=1 tag=3 bytes=8 as=a
          Isend to=1 tag=2 bytes=8 as=b
          Wait of=b
          Wait of=a
        rank 1
          Recv from=0 tag=2 bytes=8
          Send to=0 tag=1 bytes=8
          Send to=0 tag=3 bytes=8
        """,
        "0 10 90; 1 12 13; 2 20 25; 2 30 45; 1 50 99",
        "0 15 45; 0 50 80; 0 92 99",
    )
    ordered, matching = matched(found)
    assert names(ordered)[0] == ["Irecv", "Isend", "Wait", "Recv", "Wait"]
    # Of each message the calls that complete its ends.
    assert sorted(matching.send_done.tolist()) == [2, 6, 7]
    assert sorted(matching.receive_done.tolist()) == [3, 4, 5]


def test_messages_of_one_channel_keep_their_order():
    # The second receive of the channel was left first: it got the first message late.
    found = timed(
        """
        rank 0
          Recv from=1 tag=1 bytes=8
          Recv from=1 tag=1 bytes=16
        rank 1
          Send to=0 tag=1 bytes=8
          Send to=0 tag=1 bytes=16
        """,
        "0 10 90; 1 20 80",
        "0 15 45; 0 50 80",
    )
    ordered, _ = matched(found)
    assert ordered.calls.size_bytes.tolist() == [8, 16, 8, 16]


def test_a_message_between_threads_of_a_rank_has_its_send_first():
    found = timed(
        """
        ranks 2
        rank 0
          Recv from=0 tag=1 bytes=8
          Send to=0 tag=1 bytes=8
        """,
        "0 10 90; 1 20 80",
    )
    ordered, _ = matched(found)
    assert names(ordered)[0] == ["Send", "Recv"]


def test_calls_that_did_not_overlap_stay_where_they_are():
    found = timed(
        """
        rank 0
          Send to=1 tag=1 bytes=8
          Send to=1 tag=2 bytes=8
        rank 1
          Recv from=0 tag=2 bytes=8
          Recv from=0 tag=1 bytes=8
        """,
        "0 10 20; 1 20 40",
        "0 15 45; 0 50 80",
    )
    assert overlapping(found) == 0
    ordered, _ = matched(found)
    assert ordered is found
    assert order_of_threads(found).tolist() == [0, 1, 2, 3]


def test_runs_with_one_thread_for_each_rank_are_not_looked_at():
    found = events("ranks 2\nrank *\n Barrier")
    assert found.threads is None
    assert matched(found)[0] is found


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_one_thread_can_execute_what_several_did(seed):
    found = random_threads(random.Random(seed))
    ordered, matching = matched(found)
    assert finishes(ordered.calls, matching)
    place(ordered.calls, matching)


@given(seeds, st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=100, deadline=None)
def test_threads_keep_their_order_and_calls_their_partners(seed, buffered):
    found = random_threads(random.Random(seed), buffered=buffered)
    order = order_of_threads(found)
    assert found.threads is not None
    rank = np.repeat(np.arange(found.calls.ranks), np.diff(found.calls.first))
    assert np.array_equal(rank[order], rank)
    for thread in range(3):
        calls = order[found.threads[order] == thread]
        assert np.array_equal(calls, np.sort(calls))
    before, behind = match(found.calls), match(reorder(found, order).calls)
    where = np.append(order, -1)
    for name in ("send_call", "receive_call", "send_done", "receive_done"):
        by_send = np.argsort(where[behind.send_call], kind="stable")
        assert np.array_equal(
            getattr(before, name), where[getattr(behind, name)][by_send]
        ), name
    joint = np.stack([before.whole_event[order], behind.whole_event])
    assert len(np.unique(joint, axis=1).T) == before.whole_events + (joint < 0).any()
    assert behind.problems == before.problems


@given(seeds, st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=100, deadline=None)
def test_kernel_and_twin_find_the_same_order(seed, buffered):
    found = random_threads(random.Random(seed), buffered=buffered)
    assert_twins_agree(found)


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_kernel_and_twin_find_the_same_order_of_damaged_calls(seed):
    rng = random.Random(seed)
    found = random_threads(rng, calls=30)
    assert_twins_agree(replace(found, calls=scramble(found.calls, rng)))


def assert_twins_agree(found):
    given = depend(
        found.calls,
        match(found.calls),
        found.threads,
        found.enter_ns,
        found.leave_ns,
    )
    one, other = replay.replay(given), twin.replay(given)
    assert np.array_equal(one, other)
    assert np.array_equal(np.sort(one), np.arange(len(found.calls)))


@pytest.mark.parametrize("ranks", [1, 3])
def test_kernel_takes_runs_without_calls(ranks):
    found = events(f"ranks {ranks}\nrank 0\n tail 1")
    found = replace(found, threads=np.zeros(0, np.uint16))
    assert order_of_threads(found).tolist() == []
