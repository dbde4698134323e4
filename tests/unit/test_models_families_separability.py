"""Which coefficients runs cannot tell apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.models.families.separability import inseparable

N = np.array([1.0, 2.0, 4.0, 8.0])
NAMES = ("a", "b", "c")


def test_a_quotient_of_two_coefficients_is_one():
    found = inseparable(lambda v: v[0] * N**2 / v[1] + v[2], np.ones(3), NAMES)
    assert found == ("a", "b")


def test_a_coefficient_that_changes_nothing_is_named():
    assert inseparable(lambda v: v[0] * N + v[2], np.ones(3), NAMES) == ("b",)
    assert inseparable(lambda v: np.ones(4), np.ones(3), NAMES) == NAMES


@given(st.tuples(*[st.floats(0.1, 10.0)] * 3))
def test_coefficients_that_runs_tell_apart_are_not_named(values):
    def formula(v):
        return v[0] * N ** v[1] + v[2]

    moved = np.array(values) + np.array([0.0, 0.5, 0.0])
    assert inseparable(formula, moved, NAMES) == ()


def test_what_is_no_number_names_nothing():
    assert inseparable(lambda v: N * np.nan, np.ones(3), NAMES) == ()
