"""What a few measured occurrences tell of all, and what the machine does to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.phase_execution.occurrence_sample import (
    OccurrenceSample,
    long_noise,
    machine_noise,
)
from skelgen.phases.thresholds import MACHINE_SPREAD
from tests.unit.test_phase_execution import MAIN

times = st.lists(st.floats(0.01, 10.0), min_size=1, max_size=70)


def sample(here_s: object, there_s: object, **facts: float) -> OccurrenceSample:
    """Return times of a phase that takes 0.1 s on average in the recording."""
    here, there = np.array(here_s, float), np.array(there_s, float)
    facts = {"share": 1.0, "weight": 1000} | facts
    phase = replace(MAIN.phase, **facts)  # type: ignore[arg-type]
    return OccurrenceSample(phase, here, there, len(here))


def test_what_the_program_does_is_no_noise_of_the_machine() -> None:
    """Rows of a picture: the first ones are cheap, here as there."""
    cheap = 0.001 * np.arange(1, 51)
    found = sample(2 * cheap, cheap, spread=1.3, drift=1.1)
    noise = machine_noise([found])
    assert noise < MACHINE_SPREAD
    assert found.pet_s(noise) == pytest.approx(0.2, rel=0.01)
    assert np.log(found.factors(noise, np.random.default_rng(1))).std() < 0.06


def test_what_parts_here_and_there_do_not_share_is_noise() -> None:
    generator = np.random.default_rng(1)
    slow = np.repeat(np.exp(0.3 * generator.standard_normal(10)), 5)
    found = sample(0.1 * slow, [0.095] * 50)
    noise = machine_noise([found])
    assert noise > 1.5 * MACHINE_SPREAD
    # The recording's was a little fast: that is no reason to correct anything.
    assert found.pet_s(noise) == pytest.approx(float(found.here_s.mean()))


def test_one_occurrence_is_known_by_the_spread_of_the_recording() -> None:
    alone = sample([0.1], [0.1], spread=0.3)
    draws = alone.factors(MACHINE_SPREAD, np.random.default_rng(1))
    assert np.log(draws).std() == pytest.approx(0.3, rel=0.05)
    assert machine_noise([alone]) == MACHINE_SPREAD  # it tells nothing
    assert machine_noise([]) == MACHINE_SPREAD


def test_occurrences_without_a_recorded_time_count_by_their_mean() -> None:
    found = sample([0.1, 0.3], [0.0, 0.0])
    assert found.pet_s(MACHINE_SPREAD) == pytest.approx(0.2)


def test_probes_show_noise_that_few_occurrences_do_not() -> None:
    few = sample([0.1, 0.1], [0.1, 0.1])
    alone = machine_noise([few])
    steady = machine_noise([few], [[1e-3] * 8, [2e-3] * 8])
    uneven = machine_noise([few], [[1e-3, 1.3e-3] * 4, [1e-3] * 8])
    assert steady < alone < uneven
    assert machine_noise([few], [[1e-3]]) == alone  # one tells nothing
    # They do arithmetic: what slows memory down they do not see.
    noisy = sample([0.1, 0.14] * 5, [0.1] * 10)
    parts = sample([0.1, 0.14, 0.1, 0.14, 0.1], [0.1] * 5)
    assert machine_noise([parts], [[1e-3] * 99]) > 0.1
    assert machine_noise([noisy], [[1e-3] * 99]) < MACHINE_SPREAD


@given(times, st.floats(0.5, 2.0))
def test_a_machine_that_is_slower_all_the_time_scales_the_answer(
    there_s: list[float], factor: float
) -> None:
    there = np.array(there_s)
    one, other = sample(there, there), sample(factor * there, there)
    assert machine_noise([other]) == pytest.approx(machine_noise([one]))
    scaled = factor * one.pet_s(MACHINE_SPREAD)
    assert other.pet_s(MACHINE_SPREAD) == pytest.approx(scaled)


@given(times, times, st.floats(0.0, 1.0))
def test_the_answer_is_between_the_mean_and_what_the_recording_makes_of_it(
    here_s: list[float], there_s: list[float], noise: float
) -> None:
    count = min(len(here_s), len(there_s))
    found = sample(here_s[:count], there_s[:count])
    mean = float(found.here_s.mean())
    ends = sorted((mean, mean * 0.1 / float(found.there_s.mean())))
    assert ends[0] * 0.999 <= found.pet_s(noise) <= ends[1] * 1.001


@pytest.mark.parametrize(
    ("noise", "drift", "expected"),
    [(0.05, 0.0, 0.05), (0.05, 0.06, 0.06), (0.05, 1.1, 0.075), (0.2, 0.1, 0.2)],
)
def test_drift_beyond_the_noise_is_the_programs(
    noise: float, drift: float, expected: float
) -> None:
    assert long_noise(noise, drift) == pytest.approx(expected)
