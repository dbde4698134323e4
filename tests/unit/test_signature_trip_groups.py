"""Loops whose trips compute differently are written out, and only those."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.loops import expand, fold
from skelgen.signature.trip_groups import told_apart

EXCHANGE = [1, 2, 3]


def apart(string: list[int], work: list[int]) -> tuple[int, int]:
    """Return the items before and after, having checked that nothing was lost."""
    symbols = np.array(string, np.int32)
    nest = fold(symbols)
    result = told_apart([nest], [np.array(work, np.int64)], np.arange(4))[0]
    assert expand(result).tolist() == string
    return len(nest), len(result)


def test_work_before_the_first_of_three_exchanges_writes_the_loop_out() -> None:
    string = ([0] + EXCHANGE * 3) * 50
    work = [10, 9000, 5, 5, 20, 5, 5, 20, 5, 5] * 50
    before, after = apart(string, work)
    assert (before, after) == (6, 11)


def test_trips_of_equal_work_stay_a_loop() -> None:
    string = ([0] + EXCHANGE * 3) * 50
    work = ([10] + [900, 5, 5] * 3) * 50
    before, after = apart(string, work)
    assert before == after


def test_only_the_first_of_a_varying_number_of_trips_is_written_out() -> None:
    string, work = [], []
    for trips in range(2, 40):
        string += [0] + EXCHANGE * trips
        work += [10, 9000, 5, 5] + [20, 5, 5] * (trips - 1)
    before, after = apart(string, work)
    assert after == before + len(EXCHANGE)


def test_the_first_trip_of_a_loop_that_may_have_one_is_written_out() -> None:
    string, work = [], []
    for trips in Random(1).choices(range(5), k=60):
        string += [0] + EXCHANGE * trips
        work += [10] + [9000, 5, 5] * min(trips, 1) + [20, 5, 5] * max(trips - 1, 0)
    before, after = apart(string, work)
    assert after == before + len(EXCHANGE)


def test_the_first_trip_of_a_loop_with_a_loop_inside_is_written_out() -> None:
    string, work = [], []
    for trips in [4, 2, 3, 5, 2] * 9:
        string += [0] + [1, 2, 2, 2] * trips
        work += [10, 9000, 5, 5, 5] + [20, 5, 5, 5] * (trips - 1)
    before, after = apart(string, work)
    assert after == before + 3


def test_ranks_with_the_same_loops_keep_the_same_loops() -> None:
    """Although the trips of one of them differ too little."""
    string = np.array(([0] + EXCHANGE * 3 + [0] + EXCHANGE * 4) * 50, np.int32)
    differs = np.array(([10] + [900, 5, 5] + [20, 5, 5] * 6 + [10]) * 50, np.int64)
    nests = [fold(string), fold(string + 4)]
    names = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    found = told_apart(nests, [differs, np.full(len(string), 100)], names)
    assert len(found[0]) > len(nests[0])
    assert np.array_equal(found[0].body_items, found[1].body_items)
    assert np.array_equal(expand(found[1]), string + 4)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=30),
    st.randoms(use_true_random=False),
)
def test_nothing_is_ever_lost(steps: list[tuple[int, int]], random: Random) -> None:
    string = [0]
    for trips, inner in steps:
        string += ([1] + [2, 3] * inner) * trips + [0]
    work = [random.choice([1, 1000]) for _ in string]
    apart(string, work)


def test_a_loop_that_ran_once_is_left_alone() -> None:
    string = [0] + EXCHANGE * 60
    work = [10] + [900_000, 5, 5] + [20, 5, 5] * 59
    before, after = apart(string, work)
    assert before == after


def test_an_empty_string_has_nothing_to_tell_apart() -> None:
    assert apart([], []) == (0, 0)
