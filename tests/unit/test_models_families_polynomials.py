"""Prophesy's curves: least squares, equal to exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.families.polynomials import POLYNOMIALS
from skelgen.models.runs import Meaning, ModelInput, RunTable
from tests.exact import least_squares

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)
CPU = ModelInput("cpu", Meaning.CPU)
SIZES = (3000, 3500, 4000, 4700, 5200, 6000, 6500, 7000)
CURVES = POLYNOMIALS[:-1]


def runs_of(sizes, times, inputs=(N,)):
    return RunTable.gather(inputs, [{"n": n} for n in sizes], times)


def noisy(sizes, seed=1):
    random = np.random.default_rng(seed)
    return [2e-9 * n**3 * random.normal(1.0, 0.1) for n in sizes]


@pytest.mark.parametrize("curve", CURVES, ids=lambda one: one.name)
@pytest.mark.parametrize("sizes", [SIZES, tuple(10**6 + i for i in range(9))])
def test_a_curve_is_the_exact_least_squares_solution(curve, sizes):
    degree, inverse = int(curve.fit.keywords["degree"]), curve.fit.keywords["inverse"]
    times = noisy(sizes)
    found = curve.fit(runs_of(sizes, times), FamilySettings())

    def powers(n):
        x = Fraction(1, n) if inverse else Fraction(n)
        return [x**i for i in range(degree + 1)]

    exact = least_squares([powers(n) for n in sizes], times)
    for n in (*sizes, sizes[-1] + (sizes[-1] - sizes[0]) // 2):
        truth = float(sum(c * x for c, x in zip(exact, powers(n), strict=True)))
        assert found.at({"n": float(n)}) == pytest.approx(truth, rel=1e-6)


def test_the_coefficients_of_a_cubic_are_those_of_the_papers_formula():
    def truth(n):
        return 3e-9 * n**3 + 2e-6 * n**2 + 1e-4 * n + 0.5

    found = FAMILIES["cubic"].fit(
        runs_of(SIZES, [truth(n) for n in SIZES]), FamilySettings()
    )
    assert dict(found.coefficients) == pytest.approx(
        {"n^3": 3e-9, "n^2": 2e-6, "n^1": 1e-4, "constant": 0.5}, rel=1e-6
    )
    assert found.text == "3e-09*n^3 + 2e-06*n^2 + 0.0001*n + 0.5"


def test_each_of_several_inputs_has_a_polynomial_of_its_own():
    rows = [{"n": n, "ranks": p, "cpu": 1 / p} for n in SIZES for p in (1, 2, 4)]
    times = [2e-6 * r["n"] ** 2 + 3.0 / r["ranks"] for r in rows]
    runs = RunTable.gather((N, P, CPU), rows, times)
    found = FAMILIES["quadratic"].fit(runs, FamilySettings())
    assert found.dropped == ("cpu",)
    assert found.at(runs.columns) == pytest.approx(runs.values, rel=1e-9)
    with pytest.raises(InputError, match="4 different values of ranks"):
        FAMILIES["cubic"].fit(runs, FamilySettings())


def test_inputs_that_only_vary_together_are_named():
    rows = [{"n": n, "ranks": n / 1000} for n in SIZES]
    found = FAMILIES["linear"].fit(
        RunTable.gather((N, P), rows, noisy(SIZES)), FamilySettings()
    )
    assert found.doubts[0].code == "not-separable"
    assert "ranks^1" in found.doubts[0].text


@pytest.mark.parametrize("size", [1e-26, 1e26])
def test_sizes_of_any_magnitude_have_curves(size):
    sizes = [size * n / 1000 for n in SIZES]
    times = [2.0 * n**2 for n in range(1, len(SIZES) + 1)]
    for curve in CURVES:
        found = curve.fit(runs_of(sizes, times), FamilySettings())
        same = curve.fit(runs_of(SIZES, times), FamilySettings())
        assert found.at({"n": 8.0 * size}) == pytest.approx(
            float(same.at({"n": 8000.0})), rel=1e-6
        )


def test_the_least_residual_is_chosen_and_named():
    inverse = [3.0 + 2e7 / n**2 for n in SIZES]
    found = FAMILIES["least-residual"].fit(runs_of(SIZES, inverse), FamilySettings())
    assert found.notes == ("the curve with the least residual is inverse-2",)
    assert found.family == "least-residual"
    few = FAMILIES["least-residual"].fit(
        runs_of(SIZES[:3], [1, 2, 4]), FamilySettings()
    )
    assert few.notes[0].endswith("quadratic")


def test_runs_where_only_the_load_varies_make_no_curve():
    rows = [{"n": 100, "cpu": cpu} for cpu in (0.2, 0.5, 1.0)]
    runs = RunTable.gather((N, CPU), rows, [5.0, 2.0, 1.0])
    with pytest.raises(InputError, match="none varies"):
        FAMILIES["linear"].fit(runs, FamilySettings())
