"""Runs of one configuration: median, mean without outliers, spread."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.store import Run
from skelgen.store.repeats import repeats, without_outliers

RUN = Run("wrf", 100.0, ranks=16, nodes=8, ranks_per_node=2, hosts=("n1", "n2"))


def runs(*times_s: float, **fields) -> list[Run]:
    return [replace(RUN, time_s=time_s, **fields) for time_s in times_s]


def test_the_time_is_the_median_and_the_mean_leaves_the_outlier_out():
    (found,) = repeats(runs(100.0, 102.0, 101.0, 125.0))
    assert found.time_s == 101.5
    assert found.mean_s == pytest.approx(101.0)
    assert found.spread == pytest.approx(0.25)
    assert found.wide


def test_without_an_outlier_the_mean_is_of_all():
    (found,) = repeats(runs(100.0, 102.0, 101.0, 103.0))
    assert found.mean_s == pytest.approx(101.5)
    assert not found.wide


def test_two_modes_are_no_outliers():
    (found,) = repeats(runs(100.0, 120.0, 101.0, 121.0))
    assert found.mean_s == pytest.approx(110.5)


def test_equal_times_leave_out_nothing_for_a_tiny_difference():
    assert without_outliers([10.0, 10.0, 10.0, 10.01]) == [10.0, 10.0, 10.0, 10.01]
    assert without_outliers([10.0, 10.0, 10.0, 10.5]) == [10.0, 10.0, 10.0]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9))
def test_at_least_half_of_the_runs_stay(times_s: list[float]):
    assert 2 * len(without_outliers(times_s)) >= len(times_s)


@pytest.mark.parametrize(
    "other",
    [
        {"application": "other"},
        {"executable": "f" * 64},
        {"inputs": (("n", 1.0),)},
        {"ranks": 8},
        {"nodes": 4},
        {"ranks_per_node": 4},
        {"system": "abe"},
    ],
)
def test_another_configuration_is_no_repeat(other: dict):
    found = repeats([RUN, *runs(100.0, **other), RUN])
    assert [len(one.runs) for one in found] == [2, 1]
    assert found[1].spread == 0.0


def test_runs_that_failed_do_not_count():
    (found,) = repeats([RUN, *runs(1.0, status="signal 9"), *runs(float("nan"))])
    assert len(found.runs) == 1
    assert repeats(runs(1.0, status="exit 3")) == []


def test_it_says_whether_repeats_ran_on_the_same_nodes_and_in_one_allocation():
    here = runs(100.0, allocation="7")
    again = runs(101.0, allocation="7", hosts=("n2", "n1"))
    later = runs(102.0, allocation="8", hosts=("n3", "n4"))
    unknown = runs(103.0, hosts=())
    told = [
        (one.same_nodes, one.same_allocation)
        for group in (here + again, here + later, here + unknown)
        for one in repeats(group)
    ]
    assert told == [(True, True), (False, False), (None, None)]
