"""Many sets of terms at once are solved as each alone."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.models.combinations import solve

P = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
TIMES = 3.0 + 0.5 * P + np.array([0.1, -0.2, 0.05, 0.1, -0.1, 0.02])
TERMS = np.array([np.ones(6), P, P**2]) / TIMES
SETS = np.array([[0, 1], [0, 2], [1, 2]])


def test_coefficients_are_those_of_each_set_alone() -> None:
    found = solve(TERMS, np.ones(6), SETS)
    for row, names in enumerate(SETS):
        alone, *_ = np.linalg.lstsq(TERMS[names].T, np.ones(6), rcond=None)
        assert found.coefficients[row] == pytest.approx(alone)
        inverse = np.linalg.inv(TERMS[names] @ TERMS[names].T)
        np.testing.assert_allclose(found.covariance[row], inverse, rtol=1e-6)
    assert found.errors.argmin() == 0


def test_errors_are_those_at_points_left_out_of_the_fit() -> None:
    found = solve(TERMS, np.ones(6), SETS[:1])
    errors = []
    for left_out in range(6):
        rest = np.delete(TERMS[SETS[0]], left_out, axis=1)
        fitted, *_ = np.linalg.lstsq(rest.T, np.ones(5), rcond=None)
        errors.append(fitted @ TERMS[SETS[0], left_out] - 1.0)
    assert found.errors[0] == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_terms_that_are_the_same_have_no_coefficients() -> None:
    twice = np.array([TERMS[1], 2 * TERMS[1], TERMS[0]])
    found = solve(twice, np.ones(6), np.array([[0, 1], [0, 2]]))
    assert np.isnan(found.coefficients[0]).all()
    assert np.isfinite(found.coefficients[1]).all()


def test_a_point_that_alone_decides_a_coefficient_makes_the_error_huge() -> None:
    only_last = np.array([np.ones(6), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    target = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 3.0])
    found = solve(only_last, target, np.array([[0, 1]]))
    assert found.errors[0] > 1e6
