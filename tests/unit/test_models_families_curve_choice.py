"""The choice among curves by runs ahead."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.runs import Meaning, ModelInput, RunTable

CHOICE = FAMILIES["least-error"]
SIZES = (100.0, 200.0, 300.0, 400.0, 600.0, 800.0, 1000.0, 1200.0)


def runs_of(sizes, values):
    """Return runs of one input."""
    size = ModelInput("n", Meaning.SIZE)
    return RunTable.gather((size,), [{"n": n} for n in sizes], list(values))


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_bend_the_curve_beyond_the_runs(seed):
    noise = np.random.default_rng(seed).normal(1.0, 0.03, len(SIZES))
    runs = runs_of(SIZES, [2e-6 * n**2 * e for n, e in zip(SIZES, noise, strict=True)])
    true = 2e-6 * 3000.0**2
    ours = CHOICE.fit(runs, FamilySettings()).at({"n": 3000.0})
    paper = FAMILIES["least-residual"].fit(runs, FamilySettings()).at({"n": 3000.0})
    assert abs(ours / true - 1) < 0.5
    assert abs(ours / true - 1) < abs(paper / true - 1)


def test_the_curve_and_its_error_at_runs_ahead_are_named():
    found = CHOICE.fit(runs_of(SIZES, [3.0 + 2e3 / n for n in SIZES]), FamilySettings())
    assert found.family == "least-error"
    assert "least error at runs ahead is inverse-1 (" in found.notes[0]


def test_two_sizes_are_too_few_to_test_a_curve():
    found = CHOICE.fit(runs_of((10.0, 20.0), (1.0, 2.0)), FamilySettings())
    assert found.notes[0].startswith("linear is taken: too few sizes ran")
    assert found.at({"n": 40.0}) == pytest.approx(4.0)


def test_one_size_is_no_curve():
    with pytest.raises(InputError, match="least-error found no curve"):
        CHOICE.fit(runs_of((10.0, 10.0), (1.0, 1.1)), FamilySettings())
