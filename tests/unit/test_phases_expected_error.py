"""What measuring the phases of a level costs, and how well the time is then known."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.phases.expected_error import (
    ExpectedSample,
    best,
    neighbours,
    sample,
)
from skelgen.phases.strata import Divided
from skelgen.phases.thresholds import MEASURED_SHARE


def sampled(phase, times, *, strata=None, relevance=0.01) -> ExpectedSample:
    number = np.array(phase, np.int32)
    phases = int(number.max()) + 1
    share = np.array(times, float) / np.sum(times)
    words = tuple(strata or map(str, range(phases)))
    return sample(Divided(number, (0,) * phases, words), share, relevance)


def test_equal_occurrences_are_known_from_the_second_one() -> None:
    found = sampled([0] * 10, [1.0] * 10)
    assert (found.error, found.phases, found.occurrences) == (0, 1, 10)
    assert found.cost == pytest.approx(0.2)
    assert sampled([0] * 500, [1.0] * 500).cost == MEASURED_SHARE


def test_the_error_is_that_of_a_random_sample_of_as_many() -> None:
    """With n in 500 and m measured: s / sqrt(m) without what the sample is itself."""
    times = np.random.default_rng(5).normal(1, 0.3, 500)
    measured = round(MEASURED_SHARE * 500) - 1
    expected = 0.3 / np.sqrt(measured) * np.sqrt(1 - measured / 500)
    assert sampled([0] * 500, times).error == pytest.approx(expected, rel=0.35)


def test_only_the_first_occurrence_of_a_structure_is_cold() -> None:
    """Every tenth step is a phase: it is measured when it comes for the first time."""
    steps = [0] * 9 + [1]
    found = sampled(steps * 10, ([1.0] * 9 + [9.0]) * 10)
    assert found.cost == pytest.approx(0.10)
    assert found.error == 0


def test_slow_seconds_count_as_often_as_they_come_not_as_their_occurrences() -> None:
    slow = np.repeat(np.random.default_rng(5).normal(1, 0.3, 20), 25)
    mixed = np.random.default_rng(5).permutation(slow)
    assert sampled([0] * 500, slow).error > 2 * sampled([0] * 500, mixed).error


def test_strata_have_no_more_error_than_the_whole() -> None:
    phase = [0, 1] * 200
    times = np.array([1.0, 9.0] * 200) * np.random.default_rng(5).normal(1, 0.05, 400)
    assert sampled(phase, times).error < 0.2 * sampled([0] * 400, times).error


def test_what_comes_too_late_is_half_or_twice_as_much() -> None:
    late = sampled([0] * 95 + [1] * 5, [1.0] * 100)
    assert late.cost == MEASURED_SHARE
    assert late.error == pytest.approx(0.05 * np.log(2) / 1.645, rel=1e-3)


def test_one_of_a_group_is_enough_to_stop() -> None:
    phase = [0] * 50 + [1] * 50
    assert sampled(phase, [1.0] * 100, strata=("", "")).cost == MEASURED_SHARE
    assert sampled(phase, [1.0] * 100, strata=("a", "b")).cost == pytest.approx(0.51)


def test_a_finer_level_has_to_be_twice_as_good() -> None:
    outer, inner = ExpectedSample(0.05, 0.10, 1, 20), ExpectedSample(0.05, 0.06, 2, 400)
    assert best([outer, inner]) == 0
    assert best([ExpectedSample(0.05, 0.13, 1, 20), inner]) == 1
    assert best([ExpectedSample(0.2, 0.10, 1, 20), inner]) == 1


def test_the_levels_next_to_the_chosen_one_are_shown() -> None:
    samples = [ExpectedSample(0.1 * at, 0.1, at, 10 * at) for at in range(1, 6)]
    longest = [0.9, 0.5, 0.1, 0.01, 0.001]
    assert [one.longest for one in neighbours(longest, samples, 2)] == [0.5, 0.1, 0.01]
    first = neighbours(longest, samples, 0)
    assert [one.chosen for one in first] == [True, False]
    assert first[0].error == samples[0].error
