"""Runs that look like mistakes, and too few runs, are doubts of any model."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skelgen.models.families import FAMILIES
from skelgen.models.formulas import parse
from skelgen.models.model import fit_model
from skelgen.models.odd_runs import odd_inputs, odd_values, too_few
from skelgen.models.runs import table_of

SIZES = (100.0, 200.0, 400.0, 800.0)
NAMES = [f"runs.csv line {line}" for line in range(2, 30)]
SQUARE = parse("1e-6*n^2")


def runs_of(sizes, times=None):
    times = times or [1e-6 * n * n for n in sizes]
    return table_of([{"n": n} for n in sizes], times)


@pytest.mark.parametrize(
    ("odd", "told"),
    [(1e30, "n is 1e+30, and 100 to 800"), (1e-6, "n is 1e-06, and 100 to 800")],
)
def test_a_run_far_off_from_all_others_is_named_with_what_to_do(odd, told):
    (doubt,) = odd_inputs(runs_of([100.0, odd, *SIZES], [1.0] * 6), NAMES)
    assert doubt.code == "odd-run"
    assert f"runs.csv line 3: {told}" in doubt.text
    assert "--where 'n<=800'" in doubt.remedy or "--where 'n>=100'" in doubt.remedy


@pytest.mark.parametrize(
    "sizes",
    [
        SIZES,
        [10.0**i for i in range(9)],  # all far from each other
        [*SIZES, 9000.0],
        [*SIZES, *[1e6] * 4],  # half of the runs are no mistake
        [1.0, 1e9],
    ],
)
def test_runs_that_are_only_spread_are_not_odd(sizes):
    assert odd_inputs(runs_of(sizes), NAMES) == ()


def test_a_load_of_almost_nothing_is_no_odd_run():
    rows = [{"n": n, "cpu": cpu} for n, cpu in zip(SIZES, (1e-6, 1, 1, 1), strict=True)]
    assert odd_inputs(table_of(rows, [1.0] * 4), NAMES) == ()


@pytest.mark.parametrize("factor", [1000.0, 1e-3])
def test_a_time_in_another_unit_is_named(factor):
    times = [1e-6 * n * n for n in (*SIZES, 300.0)]
    times[-1] *= factor
    (doubt,) = odd_values(runs_of((*SIZES, 300.0), times), SQUARE)
    assert doubt.code == "odd-run"
    assert "n=300" in doubt.text
    assert "1,000 times as" in doubt.text
    assert "unit" in doubt.remedy
    sign, limit = re.search(r"--where 'time([<>]=)(.*)'$", doubt.remedy).groups()
    kept = [t <= float(limit) if sign == "<=" else t >= float(limit) for t in times]
    assert kept == [*[True] * (len(times) - 1), False]


def test_an_odd_time_among_the_others_has_no_condition():
    sizes = (*SIZES, 100_000.0)
    times = [1e-6 * n * n for n in sizes]
    times[-1] *= 1e-5
    (doubt,) = odd_values(runs_of(sizes, times), SQUARE)
    assert doubt.remedy.endswith("leave it out with --where")


def test_noise_is_no_odd_value():
    rng = np.random.default_rng(0)
    sizes = [*SIZES] * 20
    times = [1e-6 * n * n * float(rng.lognormal(0, 0.5)) for n in sizes]
    assert odd_values(runs_of(sizes, times), SQUARE) == ()


def test_a_formula_of_more_inputs_or_terms_than_runs_is_doubted():
    rows = [dict(zip("abcd", values, strict=True)) for values in ([1.0] * 4, [2.0] * 4)]
    assert too_few(table_of(rows, [1.0, 2.0]), parse("a"))[0].code == "too-few-runs"
    assert "3 terms" in too_few(runs_of([1.0, 2.0]), parse("n + n^2 + 1"))[0].text
    assert too_few(runs_of([1.0, 2.0, 2.0]), parse("n + 1")) == ()


@pytest.mark.parametrize("family", ["default", "power", "normal-form"])
def test_every_model_passes_these_doubts_on(family):
    assert family in FAMILIES
    rows = [{"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 2.0, "b": 3.0, "c": 5.0}]
    codes = {one.code for one in fit_model(table_of(rows, [1.0, 2.0]), family).doubts}
    assert "too-few-runs" in codes
