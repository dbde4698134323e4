"""Intervals for medians of a few runs."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.trust.intervals import interval, median_draws


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def half_width(values: list[float], draw: np.random.Generator) -> float:
    return interval(median_draws(values, draw), statistics.median(values)).half_width


@pytest.mark.parametrize("count", [3, 5, 12])
def test_the_interval_holds_the_true_median_nine_times_in_ten(count):
    """Measured, not assumed: runs with 3 % spread around a known median."""
    noise = generator(7)
    held = 0
    trials = 400
    for _ in range(trials):
        runs = list(10.0 * np.exp(0.03 * noise.standard_normal(count)))
        found = interval(median_draws(runs, noise), statistics.median(runs))
        held += found.p5 <= 10.0 <= found.p95
    assert 0.85 * trials <= held <= 0.985 * trials


def test_three_runs_give_a_wider_interval_than_their_range():
    runs = [0.99, 1.0, 1.01]
    assert half_width(runs, generator()) > 0.01


def test_more_runs_give_a_narrower_interval():
    few, many = [0.99, 1.0, 1.01], [0.99, 1.0, 1.01] * 6
    assert half_width(many, generator()) < 0.4 * half_width(few, generator())


def test_a_single_run_is_never_certain():
    draws = median_draws([5.0], generator())
    assert interval(draws, 5.0).half_width > 0.01


def test_the_same_seed_gives_the_same_draws():
    one, other = (median_draws([1.0, 1.1, 1.2], generator(3)) for _ in range(2))
    assert np.array_equal(one, other)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_the_median_lies_inside_its_interval(runs):
    middle = statistics.median(runs)
    found = interval(median_draws(runs, generator()), middle)
    assert found.p5 <= found.p50 == middle <= found.p95
