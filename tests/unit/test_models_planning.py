"""Which workload to record next, and how well six of them are enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.workload_models import FUNCTIONS, PURE, PURE_OF_TWO, STEPS, trial
from skelgen.errors import UsageError
from skelgen.models.planning import Range, bisection, disagreement


def sizes(*values):
    return [{"n": float(value)} for value in values]


@pytest.mark.parametrize("name", PURE)
def test_six_noisy_points_are_enough_for_five_percent(name):
    """2 % noise: of 9 in 10 models the largest error in the range is at most 5 %."""
    generator = np.random.default_rng(11)
    outcomes = [
        trial(FUNCTIONS[name], [Range("n", 1000, 1000 * times)], "ours", generator)
        for times in (3, 16)
        for _ in range(20)
    ]
    assert max(one.points for one in outcomes) <= 6
    assert np.quantile([one.largest_error for one in outcomes], 0.9) <= 0.05
    assert np.mean([one.held for one in outcomes]) >= 0.85


def test_six_noisy_points_are_enough_for_five_percent_in_two_dimensions():
    generator = np.random.default_rng(11)
    spans = [Range("n", 1000, 16000), STEPS]
    outcomes = [
        trial(FUNCTIONS[name], spans, "ours", generator)
        for name in PURE_OF_TWO
        for _ in range(4)
    ]
    assert max(one.points for one in outcomes) <= 6
    assert np.quantile([one.largest_error for one in outcomes], 0.9) <= 0.05
    assert np.mean([one.held for one in outcomes]) >= 0.85


def test_the_bisection_takes_the_ends_then_the_middle_then_halves():
    found: list[dict[str, float]] = []
    for _ in range(5):
        found.append(bisection(found, [Range("n", 1000, 3000)]).workload)
    assert [w["n"] for w in found] == [1000, 3000, 2000, 2500, 1500]


def test_the_bisection_varies_one_dimension_at_a_time():
    found: list[dict[str, float]] = []
    for _ in range(7):
        step = bisection(found, [Range("n", 1, 9), Range("steps", 10, 90)])
        found.append(step.workload)
    assert all(w["n"] == 1 or w["steps"] == 10 for w in found)
    assert {w["n"] for w in found} >= {1, 5, 9}
    assert {w["steps"] for w in found} >= {10, 50, 90}


def test_a_small_range_of_whole_numbers_is_used_up():
    every = sizes(1, 2, 3)
    assert bisection(every, [Range("n", 1, 3)]).workload is None
    assert disagreement(every, [[1], [2], [3]], [Range("n", 1, 3)]).workload is None


def test_the_plan_stays_in_the_range_and_repeats_nothing():
    span = [Range("n", 100, 1000), Range("steps", 5, 50)]
    found: list[dict[str, float]] = []
    for _ in range(8):
        times = [[w["n"] ** 2 * w["steps"] + 1.0, 7.0 * w["n"]] for w in found]
        step = disagreement(found, times, span)
        assert step.workload not in found
        assert all(one.low <= step.workload[one.name] <= one.high for one in span)
        found.append(step.workload)
    assert step.uncertainty is not None


def test_a_range_from_nothing_can_be_planned():
    found: list[dict[str, float]] = []
    for _ in range(5):
        step = disagreement(found, [[w["n"] + 1.0] for w in found], [Range("n", 0, 9)])
        assert 0.0 <= step.workload["n"] <= 9.0
        found.append(step.workload)
    assert {"n": 0.0} in found


def test_parts_of_the_same_slow_runs_are_as_uncertain_as_their_sum():
    found, span = sizes(100, 200, 500, 1000), [Range("n", 100, 1000)]
    draws = np.random.default_rng(1).standard_normal(len(found))
    total_s = [w["n"] * math.exp(0.1 * x) for w, x in zip(found, draws, strict=True)]
    whole = disagreement(found, [[one] for one in total_s], span)
    parts = disagreement(found, [[one / 4] * 4 for one in total_s], span)
    assert parts.uncertainty == pytest.approx(whole.uncertainty)


def test_points_where_functions_agree_are_not_recorded_again():
    """Known points tell about their neighbourhood; the next one lies between them."""
    found = sizes(100, 1000, 10_000)
    step = disagreement(found, [[1.0], [40.0], [900.0]], [Range("n", 100, 10_000)])
    assert all(abs(math.log(step.workload["n"] / w["n"])) > 0.25 for w in found)


def test_a_dimension_without_a_range_stays_as_it_was():
    found = [w | {"steps": 10.0} for w in sizes(100, 316, 1000)]
    for step in (
        disagreement(found, [[1.0], [4.0], [11.0]], [Range("n", 100, 1000)]),
        bisection(found, [Range("n", 100, 1000)]),
    ):
        assert step.workload["steps"] == 10.0
        assert step.workload["n"] not in {w["n"] for w in found}


def test_a_range_of_an_unknown_dimension_is_refused():
    with pytest.raises(UsageError, match="ranges are given for size"):
        bisection(sizes(1, 2), [Range("size", 1, 2)])


def test_a_range_upside_down_is_refused():
    with pytest.raises(UsageError, match="range of n"):
        Range("n", 10, 5)
