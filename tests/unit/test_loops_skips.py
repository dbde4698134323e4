"""Iterations that skip calls are iterations of one loop, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import expand, fold, fold_alike, fold_with_skips, same
from skelgen.loops.thresholds import FEW_ITEMS
from tests.loop_programs import execute, loop_program
from tests.skipping_steps import anything, events, sparse_exchange, steps, strings


@pytest.mark.parametrize(
    ("kind", "items"), [(events, 7), (sparse_exchange, 30), (anything, 17)]
)
def test_steps_that_skip_calls_are_one_loop(
    kind: Callable[[random.Random], list[int]], items: int
) -> None:
    string = np.array(steps(kind, 400, seed=1), np.int32)
    found = fold_with_skips(string)
    assert np.array_equal(expand(found), string)
    assert len(found) <= items < len(fold(string)) / 10


def test_ranks_whose_steps_skip_other_calls_have_the_same_loops() -> None:
    nests = [
        fold_with_skips(np.array(steps(events, 400, seed), np.int32))
        for seed in range(4)
    ]
    assert [nest.body_items.tolist() for nest in nests] == [[6, 0, 1, 0, 1, 0, 0]] * 4
    assert [nest.trips[0].tolist() for nest in nests] == [[400, 1]] * 4


def test_short_nests_have_no_skips() -> None:
    """Their items know what comes before them."""
    short = {rank: np.array(steps(events, 20, rank), np.int32) for rank in (3, 5)}
    nests = fold_alike(short)
    assert sorted(nests) == [3, 5]
    for rank, string in short.items():
        assert same(nests[rank], fold(string))
        assert not same(nests[rank], fold_with_skips(string))


def test_where_one_nest_is_long_all_ranks_may_skip() -> None:
    strings = {
        rank: np.array(steps(events, number, rank), np.int32)
        for rank, number in enumerate((20, 1000))
    }
    assert len(fold(strings[1])) > FEW_ITEMS
    for nests in (fold_alike(strings), fold_alike({0: strings[0]}, lambda own: 1001)):
        for rank, nest in nests.items():
            assert same(nest, fold_with_skips(strings[rank]))


def test_what_comes_before_and_behind_stays_outside() -> None:
    middle = steps(events, 300, seed=2)
    string = np.array([20, 21, 22, *middle, 23, *[24, 25] * 9], np.int32)
    found = fold_with_skips(string)
    assert np.array_equal(expand(found), string)
    assert len(found) < 30
    assert found.symbol[:3].tolist() == [20, 21, 22]
    assert found.symbol[-2:].tolist() == [24, 25]


@settings(max_examples=150, deadline=None)
@given(strings)
def test_nothing_is_lost(symbols: list[int]) -> None:
    string = np.array(symbols, np.int32)
    found = fold_with_skips(string)
    assert np.array_equal(expand(found), string)
    assert len(found) <= len(fold(string))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 4, 20]))
def test_what_folds_exactly_is_left_alone(seed: int, symbols: int) -> None:
    program = execute(loop_program(random.Random(seed), symbols))[:20_000]
    string = np.array(program, np.int32)
    exact, found = fold(string), fold_with_skips(string)
    assert np.array_equal(expand(found), string)
    assert same(exact, found) or 2 * len(found) <= len(exact)


def test_output_now_and_then_keeps_its_period() -> None:
    string = np.array(([0, 1, 2] * 9 + [0, 1, 3, 2]) * 30, np.int32)
    assert same(fold_with_skips(string), fold(string))


def test_strings_of_many_symbols_in_no_order_are_left_alone() -> None:
    string = np.random.default_rng(1).integers(0, 1000, 20_000).astype(np.int32)
    assert same(fold_with_skips(string), fold(string))
