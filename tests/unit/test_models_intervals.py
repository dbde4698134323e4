"""How wide intervals are: by noise, by formulas that differ, by how far ahead."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.intervals import (
    NORMAL,
    Scale,
    disagreement,
    error_at_smallest,
    scale_of,
)
from skelgen.models.runs import ModelInput, RunTable, meaning_of

NOTHING = FamilySettings()
POWER = FAMILIES["power"]
NONE = np.zeros(1)


def table(rows, values):
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in rows[0])
    return RunTable.gather(inputs, rows, list(values))


def noisy(deviation, seed=1, count=24):
    random = np.random.default_rng(seed)
    rows = [{"n": float(100 * 2 ** (i // 3))} for i in range(count)]
    errors = np.exp(random.normal(0.0, deviation, count))
    return table(
        rows, [1e-3 * one["n"] * e for one, e in zip(rows, errors, strict=True)]
    )


def at(scale, value=1.0, differ=0.0, far=0.0):
    return float(scale.at(np.array([value]), np.array([differ]), np.array([far]))[0])


def test_each_cause_makes_an_interval_wider_and_half_a_percent_is_the_least():
    exact, noisy_one = Scale(0.0, 1, 10), Scale(0.1, 1, 10)
    assert at(exact) == pytest.approx(0.005)
    assert at(noisy_one) == pytest.approx(math.hypot(0.1 * math.sqrt(1.1), 0.005))
    assert at(noisy_one) < at(noisy_one, differ=0.1) < at(noisy_one, differ=0.2)
    assert at(noisy_one) < at(noisy_one, far=1.0) < at(noisy_one, far=2.0)


def test_fewer_runs_for_as_many_terms_are_less_sure():
    assert at(Scale(0.1, 3, 4)) > at(Scale(0.1, 3, 40)) > at(Scale(0.1, 1, 40))


def test_noise_falls_with_longer_times_but_not_for_ever():
    scale = Scale(0.1, 1, 10, falls=0.5, middle=0.0)
    assert at(scale, 1.0) == at(scale, 0.1)
    assert at(scale, math.e) == pytest.approx(
        math.hypot(0.1 * math.sqrt(1.1) * math.exp(-0.5), 0.005)
    )
    assert at(scale, math.exp(2.0)) == at(scale, math.exp(9.0))


def test_formulas_disagree_by_their_distance_as_likely_as_they_are():
    twice = ((0.25, parse("2*n")), (0.75, parse("n")), (0.0, parse("n^9")))
    asked = {"n": np.array([3.0])}
    found = disagreement(twice, np.array([3.0]), asked)
    assert found == pytest.approx([math.sqrt(0.25) * math.log(2)])
    assert disagreement((), np.array([3.0]), asked) == NONE


def test_a_formula_that_is_no_number_there_disagrees_without_bound():
    bad = ((0.5, parse("n")), (0.5, parse("n - 3")))
    assert disagreement(bad, np.array([3.0]), {"n": np.array([3.0])}) == [math.inf]


def test_more_noise_makes_the_scale_wider_and_its_size_is_that_of_the_noise():
    found = {}
    for deviation in (0.02, 0.2):
        runs = noisy(deviation)
        found[deviation] = scale_of(POWER, NOTHING, runs, POWER.fit(runs, NOTHING))
        assert 0.4 * deviation < found[deviation].noise < 2.5 * deviation
        assert found[deviation].tested > 0.0
    assert found[0.2].runs == 24


def test_too_few_places_to_test_leave_the_factor_of_the_normal_law():
    runs = table([{"n": 1.0}, {"n": 2.0}, {"n": 4.0}], [1.0, 2.0, 4.0])
    scale = scale_of(POWER, NOTHING, runs, POWER.fit(runs, NOTHING))
    assert (scale.factor, scale.tested) == (NORMAL, 0.0)


def test_a_law_that_changes_ahead_makes_the_factor_larger_than_one_that_does_not():
    rows = [{"n": float(2**k)} for k in range(12)]
    plain = table(rows, [1e-3 * one["n"] for one in rows])
    bent = table(rows, [1e-3 * one["n"] * (9 if one["n"] > 500 else 1) for one in rows])
    factors = [
        scale_of(POWER, NOTHING, one, POWER.fit(one, NOTHING)).factor
        for one in (plain, bent)
    ]
    assert 0.7 * NORMAL <= factors[0] < factors[1]


def test_the_error_at_the_smallest_ranks_is_of_those_runs_only():
    rows = [{"ranks": float(p)} for p in (2, 2, 4, 8, 16)]
    runs = table(rows, [8.0, 8.0, 4.0, 2.0, 1.0])
    found = POWER.fit(runs, NOTHING)
    exact = error_at_smallest(runs, found)
    off = table(rows, [16.0, 16.0, 4.0, 2.0, 1.0])
    assert exact < 0.01
    assert error_at_smallest(off, found) == pytest.approx(math.log(2), abs=0.02)
    elsewhere = table(rows, [8.0, 8.0, 40.0, 20.0, 10.0])
    assert error_at_smallest(elsewhere, found) == pytest.approx(exact)
    sizes = table([{"n": 1.0}, {"n": 2.0}], [1.0, 3.0])
    assert error_at_smallest(sizes, POWER.fit(noisy(0.0), NOTHING)) == 0.0
