"""The timeline has all of the time of all ranks, however many there are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.matching import match
from skelgen.matching.waits import waits_of_calls
from skelgen.timeline import (
    RankWork,
    RunTimeline,
    collect,
    joined,
    lanes_of,
    timeline_of,
)
from skelgen.timeline.encoding import decoded
from tests import builders
from tests.timelines import run_of, times_of

calls = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 3000), st.integers(0, 3)),
    max_size=40,
)


@st.composite
def runs(draw, most_ranks: int = 4):
    ranks = draw(st.lists(calls, min_size=1, max_size=most_ranks))
    numbers = st.lists(st.integers(0, 4000), min_size=len(ranks), max_size=len(ranks))
    return run_of(ranks, begins=draw(numbers), tails=draw(numbers))


def totals(timeline: RunTimeline) -> np.ndarray:
    return np.rint(1e9 * np.array([lane.times_s for lane in timeline.lanes]))


@given(runs(), st.data())
def test_each_rank_has_its_time_by_kind(events, data):
    waits_ns = None
    if data.draw(st.booleans()):
        each = st.lists(
            st.integers(0, 4000),
            min_size=len(events.calls),
            max_size=len(events.calls),
        )
        waits_ns = np.array(data.draw(each), np.int64)
    found = timeline_of(events, waits_ns)
    if events.application_ns == 0:
        assert found is None
        return
    assert found.knows_waiting == (waits_ns is not None)
    assert np.array_equal(totals(found), times_of(events, waits_ns))


@given(runs(), st.integers(10, 400))
def test_a_timeline_with_few_bytes_has_the_same_time(events, most_bytes):
    whole = timeline_of(events)
    small = timeline_of(events, most_bytes=most_bytes)
    if whole is None:
        return
    assert np.array_equal(totals(small), totals(whole))
    pieces = sum(lane.pieces for lane in small.lanes)
    assert len(small.data) <= most_bytes or pieces <= sum(
        int((one.whole & (one.length_ns > small.span_ns // 2)).sum()) + 2
        for one in decoded(small)
    )


@settings(max_examples=30, deadline=None)
@given(runs(most_ranks=7), st.integers(1, 6), st.integers(1, 3))
def test_rows_of_several_ranks_have_their_time(events, most, parts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skelgen.timeline.lanes.MOST_LANES", most)
        patch.setattr(collect, "_MOST_PIECES", 64)
        ranks = events.calls.ranks
        edges = np.linspace(0, ranks, parts + 1).astype(int)
        found = joined([lanes_of(events, range(*edge)) for edge in pairwise(edges)])
    if found is None:
        assert events.application_ns == 0
        return
    assert len(found.lanes) <= max(most, 1)
    each = found.lanes[0].last + 1
    expected = times_of(events)
    rows = [expected[i : i + each].sum(axis=0) for i in range(0, ranks, each)]
    assert np.array_equal(totals(found), rows)
    assert found.lanes[-1].last == ranks - 1


@given(runs())
def test_the_result_does_not_depend_on_blocks(events):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "_BLOCK", 3)
        in_blocks = timeline_of(events)
    assert in_blocks == timeline_of(events)


def test_pieces_are_joined_while_they_are_too_many():
    events = run_of([[(50, 50, i % 4) for i in range(4000)]] * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "_MOST_PIECES", 500)
        found = timeline_of(events)
    assert not found.is_complete
    assert sum(lane.pieces for lane in found.lanes) <= 500
    assert np.array_equal(totals(found), times_of(events))


def test_a_run_of_one_call_is_complete():
    found = timeline_of(run_of([[(1000, 500, 1)]], tails=[200]))
    assert found.is_complete
    assert found.lanes[0].pieces == 3
    assert found.lanes[0].times_s == (1.2e-6, 0, 5e-7, 0, 0, 0, 0)


def test_a_run_without_calls_computes():
    found = timeline_of(run_of([[], []], tails=[1000, 400]))
    (first, second) = found.lanes
    assert first.times_s[RankWork.COMPUTATION] == 1e-6
    assert second.times_s[RankWork.ABSENT] == pytest.approx(6e-7)


def test_a_run_that_takes_no_time_has_no_timeline():
    assert timeline_of(run_of([[], []])) is None


def test_waiting_is_the_first_part_of_a_call():
    events = builders.events("""
    ranks 2
    rank 0
      5000 Send to=1 bytes=8 mpi=100
    rank 1
      1000 Recv from=0 bytes=8 mpi=4300
    """)
    waits = waits_of_calls(events, match(events.calls)).time_ns
    found = timeline_of(events, waits)
    rows = decoded(found)
    named = [found.things[n & 0xFFF].name for n in rows[1].longest]
    assert named == ["", "MPI_Recv", "MPI_Recv"]
    assert rows[1].times_ns[1, RankWork.WAITING] == 4000
    assert rows[1].times_ns[2, RankWork.POINT_TO_POINT] == 300


def test_calls_of_threads_that_overlap_count_once():
    events = run_of([[(100, 500, 0), (0, 300, 1)]])
    together = replace(
        events,
        enter_ns=np.array([300, 100]),
        leave_ns=np.array([700, 600]),
        end_ns=np.array([900]),
        threads=np.array([1, 0], np.uint16),
    )
    (row,) = decoded(timeline_of(together))
    assert row.times_ns.sum(axis=0).tolist() == [300, 100, 500, 0, 0, 0, 0]
    assert row.length_ns.sum() == 900


def test_times_that_go_backwards_lose_nothing():
    events = run_of([[(100, 500, 0), (10, 300, 1)]], tails=[50])
    damaged = replace(
        events,
        enter_ns=np.array([700, -100]),
        leave_ns=np.array([100, 5000]),
    )
    (row,) = decoded(timeline_of(damaged))
    assert row.length_ns.sum() == 960
    assert (row.times_ns >= 0).all()


def test_a_rank_that_is_missing_is_not_running():
    events = run_of([[(100, 100, 0)], []])
    found = timeline_of(events)
    assert found.lanes[1].times_s[RankWork.ABSENT] == pytest.approx(2e-7)
