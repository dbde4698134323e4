"""Numbers too far apart for a computer: an end, and an interval that is a number."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks.shared.guarded import guarded
from skelgen.models.families.nonlinear import minimise
from skelgen.models.formulas import parse
from skelgen.models.intervals import disagreement
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import table_of

ROWS = [{"n": float(n)} for n in (100, 200, 400, 800, 1600)]
RUNS = table_of(ROWS, [1e-6 * row["n"] ** 2 for row in ROWS])


@pytest.mark.parametrize("slope", [1e200, 1e308, 1.0])
def test_a_search_over_steep_slopes_ends(slope):
    target = np.array([2.0, 3.0])
    if slope > 1.0:
        target = np.array([1e-200, 2e-200])

    def residuals(at):
        with np.errstate(all="ignore"):
            return slope * at[0] * np.array([1.0, 1.5]) - target

    found = guarded(partial(minimise, residuals, np.array([1e-3])), 10.0)
    assert np.isfinite(found).all()
    if slope == 1.0:
        assert found == pytest.approx([2.0])


def test_a_formula_that_is_impossible_differs_by_nothing():
    pairs = [(1.0, parse("n")), (0.0, parse("1/0"))]
    assert disagreement(pairs, np.array(2.0), {"n": 2.0}) == 0.0


def test_a_formula_that_is_no_number_makes_the_interval_wide():
    model = fit_model(RUNS)
    wrong = replace(model, alternatives=((1.0, parse("log(0 - n)")),))
    ends = predict_with(wrong, {"n": 300.0}).interval
    assert 0.0 < ends.p5 < ends.p50 < ends.p95 < np.inf
    assert ends.p95 / ends.p50 > 1e80
