"""Collectives that ranks called in different orders come into one."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.matching import match
from skelgen.pipeline.execution_order import matched
from skelgen.ticks import place
from skelgen.ticks.early_returns import meet_in_several, stuck_in_collectives
from tests.builders import events
from tests.random_programs import random_program
from tests.timed_calls import names, timed

TWO = "comm one members=0,1\ncomm two members=0,1\n"


def test_a_root_that_left_early_stands_behind_what_the_others_came_to_first():
    # Rank 0 is the root of the Bcast and goes on; rank 1 comes to it last.
    found = timed(
        TWO
        + """
        rank 0
          Bcast comm=one root=0 bytes=8
          Reduce comm=two root=0 bytes=8
          Barrier
        rank 1
          Reduce comm=two root=0 bytes=8
          Bcast comm=one root=0 bytes=8
          Barrier
        """,
        "0 10; 20 60; 90 100",
        "50 60; 70 80; 95 100",
    )
    matching = match(found.calls)
    assert stuck_in_collectives(found.calls).tolist() == [0, 3]
    with pytest.raises(InputError, match="wait for each other"):
        place(found.calls, matching)
    ordered, matching = matched(found)
    assert names(ordered) == [["Reduce", "Bcast", "Barrier"]] * 2
    assert place(ordered.calls, matching).tolist() == [1, 2, 3] * 2
    assert ordered.enter_ns is found.enter_ns
    assert ordered.leave_ns is found.leave_ns


def test_each_rank_may_be_the_root_that_left_early():
    found = timed(
        TWO
        + """
        rank 0
          Bcast comm=one root=0 bytes=8
          Bcast comm=two root=1 bytes=8
        rank 1
          Bcast comm=two root=1 bytes=8
          Bcast comm=one root=0 bytes=8
        """,
        "0 10; 20 30",
        "2 12; 15 25",
    )
    ordered, matching = matched(found)
    assert place(ordered.calls, matching).tolist() == [1, 2] * 2


def test_only_calls_of_a_kind_that_ranks_would_wait_in_move():
    # Rank 2 comes late to what all others left, which makes nobody wait for ever.
    found = timed(
        TWO
        + """
        rank 0
          Bcast root=0 bytes=8 site=1
          Bcast comm=one root=0 bytes=8
          Recv from=1 tag=1 bytes=8
          Reduce comm=two root=0 bytes=8
        rank 1
          Bcast root=0 bytes=8 site=1
          Send to=0 tag=1 bytes=8
          Reduce comm=two root=0 bytes=8
          Bcast comm=one root=0 bytes=8
        rank 2
          Bcast root=0 bytes=8 site=1
        """,
        "0 10; 12 15; 20 40; 50 60",
        "5 25; 30 35; 45 50; 75 90",
        "500 510",
    )
    ordered, matching = matched(found)
    assert names(ordered)[0] == ["Bcast", "Recv", "Reduce", "Bcast"]
    assert place(ordered.calls, matching)[:4].tolist() == [1, 3, 4, 5]


def test_a_circle_that_times_do_not_explain_stays():
    found = timed(
        TWO
        + """
        rank 0
          Barrier comm=one
          Barrier comm=two
        rank 1
          Barrier comm=two
          Barrier comm=one
        """,
        "0 300; 310 400",
        "0 400; 250 420",
    )
    ordered, matching = matched(found)
    assert names(ordered) == names(found)
    with pytest.raises(InputError, match="wait for each other"):
        place(ordered.calls, matching)


def test_an_order_that_all_ranks_keep_stays_as_it_is():
    found = timed(
        TWO
        + """
        rank 0
          Bcast comm=one root=0 bytes=8
          Barrier comm=two
        rank 1
          Bcast comm=one root=0 bytes=8
          Barrier comm=two
        """,
        "0 10; 20 60",
        "30 40; 50 60",
    )
    assert meet_in_several(found.calls)
    assert matched(found)[0] is found


def test_one_communicator_has_one_order():
    found = events("ranks 2\nrank *\n Bcast root=0 bytes=8\n Barrier comm=self")
    assert not meet_in_several(found.calls)


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_collectives_agree_where_the_clock_finds_no_circle(seed):
    calls = random_program(random.Random(seed)).calls
    matching = match(calls)
    place(calls, matching)
    assert not len(stuck_in_collectives(calls))
