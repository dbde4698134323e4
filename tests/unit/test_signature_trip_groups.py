"""Loops whose trips compute differently are written out, and only those."""

from __future__ import annotations

import numpy as np

from skelgen.loops import expand, fold, positions
from skelgen.signature.trip_groups import told_apart

EXCHANGE = [1, 2, 3]


def apart(string: list[int], work: list[int]) -> tuple[int, int]:
    """Return the items before and after, having checked that nothing was lost."""
    symbols = np.array(string, np.int32)
    nest = fold(symbols)
    compute = [np.array(work, np.int64), np.array(work, np.int64) + 1]
    result = told_apart(nest, positions(nest), compute)
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


def test_a_loop_that_ran_once_is_left_alone() -> None:
    string = [0] + EXCHANGE * 60
    work = [10] + [900_000, 5, 5] + [20, 5, 5] * 59
    before, after = apart(string, work)
    assert before == after


def test_an_empty_string_has_nothing_to_tell_apart() -> None:
    assert apart([], []) == (0, 0)
