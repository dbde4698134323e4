"""Occurrences of one structure are divided by what is known before they run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.phases.strata import Divided, Strata
from skelgen.phases.thresholds import FEWEST_OCCURRENCES


def divided(times, *, jump=0.5, relevance=0.01, structure=None, **traits) -> Divided:
    share = np.array(times, float)
    number = np.zeros(len(share), np.int32) if structure is None else structure
    given = tuple((name, np.array(values)) for name, values in traits.items())
    share = share / max(share.sum(), 1.0)
    return Strata(np.array(number, np.int32), share, given, relevance, jump).phases()


def noisy(times, spread=0.05, seed=3):
    draws = np.random.default_rng(seed).normal(1, spread, len(times))
    return np.array(times) * draws


def test_even_and_odd_steps_are_two_phases_and_say_so() -> None:
    found = divided(noisy([900.0, 500.0] * 30))
    assert found.phase.tolist() == [0, 1] * 30
    assert found.stratum == ("number mod 2 = 0", "number mod 2 = 1")


@pytest.mark.parametrize("every", [3, 7, 10, 25])
def test_every_so_many_steps_one_takes_longer(every: int) -> None:
    times = noisy([3000.0 if i % every == every - 1 else 1000.0 for i in range(200)])
    found = divided(times)
    assert (found.phase == (np.arange(200) % every == every - 1)).all()
    assert found.stratum[1] == f"number mod {every} = {every - 1}"


def test_sizes_of_a_multigrid_are_phases_however_many() -> None:
    level = np.tile([4, 3, 2, 1, 0, 1, 2, 3, 4], 20)
    times = noisy(100.0 * 3.0**level)
    found = divided(times, bytes=64 * 2**level, trips=np.where(level == 0, 20, 2))
    relevant = [
        one for one in range(5) if times[level == one].sum() > 0.01 * sum(times)
    ]
    for one in relevant:
        assert len(set(found.phase[level == one])) == 1
    assert len(set(found.phase)) == len(relevant)


def test_of_two_that_explain_as_much_the_first_is_said() -> None:
    found = divided([900.0, 500.0] * 30, bytes=[8, 4] * 30)
    assert found.stratum == ("bytes > 6", "bytes <= 6")


@given(st.integers(0, 2**32), st.integers(8, 400), st.sampled_from([0.06, 0.2, 0.8]))
@settings(max_examples=60, deadline=None)
def test_noise_alone_divides_nothing(seed: int, number: int, spread: float) -> None:
    draw = np.random.default_rng(seed)
    times = draw.lognormal(0, spread, number)
    traits = {
        "bytes": draw.integers(0, 50, number),
        "trips": draw.integers(1, 4, number),
    }
    assert len(divided(times, **traits).stratum) == 1


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=80), st.floats(1e-9, 1e9))
@settings(max_examples=60, deadline=None)
def test_the_unit_of_time_does_not_matter_and_no_phase_is_small(times, unit) -> None:
    structure = np.arange(len(times)) % 2
    once = Strata(structure.astype(np.int32), np.array(times), (), 0.0, 0.5).phases()
    again = Strata(
        structure.astype(np.int32), np.array(times) * unit, (), 0.0, 0.5
    ).phases()
    assert once.phase.tolist() == again.phase.tolist()
    counts = np.bincount(once.phase)
    least = [
        min(FEWEST_OCCURRENCES, int((structure == one).sum())) for one in once.structure
    ]
    assert (counts >= least).all()


def test_a_jump_for_the_rest_of_the_run_divides_but_has_no_words() -> None:
    found = divided(noisy([100.0] * 30 + [900.0] * 30))
    assert found.phase.tolist() == [0] * 30 + [1] * 30
    assert found.stratum == ("", "")
    assert set(divided(noisy([100.0] * 30 + [150.0] * 30)).phase) == {0}


def test_times_that_grow_steadily_stay_together() -> None:
    assert set(divided(np.linspace(100, 1000, 60)).phase) == {0}


def test_interrupted_occurrences_stay_with_their_neighbours() -> None:
    times = noisy([1000.0] * 100)
    times[[17, 60]] += 30_000
    assert set(divided(times).phase) == {0}


def test_what_is_divided_takes_a_relevant_share() -> None:
    times = noisy([1000.0 if i % 10 else 3000.0 for i in range(200)])
    assert set(divided(times, relevance=0.3).phase) == {0}


def test_structures_never_share_a_phase_and_a_jump_of_0_divides_nothing() -> None:
    found = divided([900.0, 500.0] * 30, jump=0.0, bytes=[8, 4] * 30)
    assert found.stratum == ("",)
    apart = divided([100.0] * 4, structure=[3, 7, 3, 7])
    assert apart.phase.tolist() == [0, 1, 0, 1]
    assert apart.structure == (3, 7)


def test_times_of_nothing_are_one_phase() -> None:
    assert divided([0.0] * 20, relevance=0.0).phase.tolist() == [0] * 20
