"""The sets of terms that fit best, compared with trying every set by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.models.subsets import FittedSet, Prices, best_sets, shares

FREE = Prices(np.zeros(5), another=0.0, exact=1e-3, either=np.zeros(5, dtype=bool))
SIZES = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0])
TERMS = np.stack([SIZES**0, np.log2(SIZES) + 0.1, SIZES, SIZES**2, SIZES**3])


def left_out(columns, target, chosen):
    """Return coefficients, and the error at runs left out by leaving each out."""
    matrix = columns[list(chosen)].T
    whole = np.linalg.lstsq(matrix, target, rcond=None)[0]
    misses = []
    for run in range(len(target)):
        rest = np.arange(len(target)) != run
        fitted = np.linalg.lstsq(matrix[rest], target[rest], rcond=None)[0]
        misses.append(matrix[run] @ fitted - target[run])
    return whole, float(np.sqrt(np.mean(np.square(misses))))


def test_the_terms_of_a_law_are_found_with_their_coefficients():
    times = 3.0 * SIZES**2 + 7.0
    best = best_sets(TERMS / times, np.ones(7), FREE, 2)[0]
    assert best.terms == (0, 3)
    assert best.coefficients == pytest.approx((7.0, 3.0))
    assert best.error == pytest.approx(0.0, abs=1e-9)


@given(st.integers(0, 10**6))
def test_the_best_set_is_the_best_of_all_sets(seed):
    random = np.random.default_rng(seed)
    times = (2.0 * SIZES + 5.0) * np.exp(random.normal(0.0, 0.2, 7))
    columns, target = TERMS / times, np.ones(7)
    tried = {
        chosen: left_out(columns, target, chosen)
        for count in (1, 2)
        for chosen in itertools.combinations(range(5), count)
    }
    allowed = {one: e for one, (c, e) in tried.items() if (c > 0.0).all()}
    found = best_sets(columns, target, FREE, 2)
    assert {one.terms for one in found} == set(allowed)
    assert found[0].terms == min(allowed, key=lambda one: allowed[one])
    for one in found:
        assert one.error == pytest.approx(allowed[one.terms], rel=1e-6)
        assert one.coefficients == pytest.approx(tried[one.terms][0])


def test_a_coefficient_is_negative_only_where_that_is_allowed():
    times = 100.0 - 4.0 * SIZES
    columns = TERMS / times
    assert all(
        min(one.coefficients) > 0 for one in best_sets(columns, np.ones(7), FREE, 2)
    )
    either = Prices(
        np.zeros(5), 0.0, 1e-3, np.array([False, False, True, False, False])
    )
    best = best_sets(columns, np.ones(7), either, 2)[0]
    assert best.terms == (0, 2)
    assert best.coefficients == pytest.approx((100.0, -4.0))


def test_a_term_that_is_another_one_again_is_no_second_term():
    columns = np.stack([SIZES, 2.0 * SIZES]) / (5.0 * SIZES)
    prices = Prices(np.zeros(2), 0.0, 1e-3, np.zeros(2, dtype=bool))
    assert {one.terms for one in best_sets(columns, np.ones(7), prices, 2)} == {
        (0,),
        (1,),
    }


def test_odd_terms_and_further_terms_cost_more():
    prices = Prices(np.array([0.0, 0.5]), 0.25, 0.0, np.zeros(2, dtype=bool))
    sets = np.array([[0], [1]])
    assert prices.of(np.array([1.0, 1.0]), sets, 10).tolist() == [1.0, 1.5]
    (both,) = prices.of(np.array([1.0]), np.array([[0, 1]]), 10)
    assert both == pytest.approx(1.0 + 0.25 * 10 / 8 + 0.5)


def test_shares_add_up_and_fall_with_the_price():
    sets = [FittedSet(price, (0,), (1.0,), 0.0) for price in (0.1, 0.1, 0.2)]
    found = shares(sets, 4)
    assert found.sum() == pytest.approx(1.0)
    assert found[0] == found[1] == pytest.approx(4.0 * found[2])
