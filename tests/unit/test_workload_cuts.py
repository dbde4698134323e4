"""Runs cut alike: which of the ways to cut each run have most time in common."""

from __future__ import annotations

import pytest

from skelgen.workload.cuts import aligned, likeness
from skelgen.workload.types import Point, PointPhase


def phase(key, total_s, events=2, calls=("MPI_Send",)):
    return PointPhase(key, key, calls, events, 1, total_s)


def point(run, *cuts, ranks=2, total_s=10.0):
    phases, *others = cuts
    return Point((("n", 1.0),), run, ranks, total_s, phases, others=tuple(others))


WHOLE = (phase("step", 9.0),)
DIVIDED = (phase("half", 5.0), phase("other half", 4.0))


def test_a_run_is_like_itself_and_unlike_one_without_its_phases():
    one, other = point("a", WHOLE), point("b", DIVIDED)
    assert likeness(one, one) == 1.0
    assert likeness(one, other) == 0.0


def test_likeness_is_the_part_of_both_runs_that_both_have():
    one = point("a", (phase("x", 8.0), phase("y", 2.0)))
    other = point("b", (phase("x", 5.0), phase("z", 5.0)))
    assert likeness(one, other) == likeness(other, one) == pytest.approx(0.8 * 0.5)


def test_phases_of_another_number_of_events_count_a_little_less():
    one, other = point("a", WHOLE), point("b", (phase("step", 9.0, events=3),))
    assert likeness(one, other) == pytest.approx((0.9 * 0.9) ** 2)


def test_with_other_ranks_the_functions_tell_which_phases_are_the_same():
    one = point("a", (phase("x", 10.0),))
    other = point("b", (phase("y", 10.0),), ranks=4)
    assert likeness(one, other) == 1.0
    assert likeness(one, point("c", (phase("y", 10.0),))) == 0.0


def test_all_runs_are_cut_as_most_of_their_time_is_alike():
    found = aligned([
        point("a", WHOLE, DIVIDED), point("b", DIVIDED), point("c", WHOLE, DIVIDED),
    ])  # fmt: skip
    assert [one.phases for one in found] == [DIVIDED] * 3
    assert [one.run for one in found] == ["a", "b", "c"]
    assert [one.others for one in found] == [(WHOLE,), (), (WHOLE,)]


def test_runs_that_are_alike_stay_cut_as_usual():
    points = [point("a", WHOLE, DIVIDED), point("b", WHOLE, DIVIDED)]
    assert aligned(points) == tuple(points)
