"""Families compared: each is asked for runs ahead of those that it has seen."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.comparing import compare, not_told
from skelgen.models.families import FAMILIES
from skelgen.models.model import fit_model
from skelgen.models.runs import ModelInput, RunTable, meaning_of
from skelgen.models.runs_ahead import folds


def table(sizes, law):
    rows = [{"n": float(n)} for n in sizes]
    inputs = (ModelInput("n", meaning_of("n")),)
    return RunTable.gather(inputs, rows, [law(one["n"]) for one in rows])


SIZES = (100, 200, 400, 800, 1600, 3200)


def test_the_family_of_the_law_misses_nothing_and_another_one_much():
    runs = table(SIZES, lambda n: 2e-6 * n**2)
    power, linear = compare(runs, ("power", "linear"))
    assert (power.family, linear.family) == ("power", "linear")
    assert power.median_error < 0.01
    assert power.coverage == 1.0
    assert linear.median_error > 0.3
    assert linear.worst_error >= linear.median_error
    assert power.formula == fit_model(runs, "power").text


def test_errors_are_of_runs_that_the_model_has_not_seen():
    runs = table(SIZES, lambda n: 1e-3 * n if n < 1600 else 2e-3 * n)
    (found,) = compare(runs, ("power",))
    errors = []
    for behind, rest in folds(runs):
        model = fit_model(runs.only(behind), "power")
        said = [model.at({"n": runs.columns["n"][[at]]})[0] for at in rest]
        errors += [
            abs(one / runs.values[at] - 1) for one, at in zip(said, rest, strict=True)
        ]
    assert found.worst_error == pytest.approx(max(errors))
    assert found.median_error == pytest.approx(np.median(errors))


def test_a_family_that_fails_says_why_and_the_others_go_on():
    runs = table((100, 200, 400), lambda n: 1e-3 * n)
    found = {one.family: one for one in compare(runs, ("poly6", "power"))}
    assert found["poly6"].failed
    assert np.isnan(found["poly6"].median_error)
    assert found["poly6"].formula == ""
    assert found["power"].failed == ""


def test_without_names_all_are_asked_that_need_no_formula():
    assert not_told()
    assert not [name for name in not_told() if FAMILIES[name].told]
    assert [one for one in FAMILIES if FAMILIES[one].told]


def test_two_sizes_are_too_few():
    runs = table((100, 200, 200), lambda n: 1e-3 * n)
    with pytest.raises(InputError, match="3 runs of 2 sizes: three different ones"):
        next(compare(runs, ("power",)))
