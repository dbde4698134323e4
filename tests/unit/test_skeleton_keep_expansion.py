"""Expansion of nests with the weights of iteration selection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.keys import label
from skelgen.loops import Nest, expand, fold, fold_with_skips
from skelgen.skeleton.keep.expansion import iteration_shares, weigh, weigh_plain
from tests import skipping_steps

FRACTIONS = st.floats(0.001, 0.999)


@st.composite
def nested(draw: st.DrawFn) -> list[int]:
    """Draw strings with loops in loops, some of them irregular."""
    body = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    string: list[int] = []
    for _ in range(draw(st.integers(1, 6))):
        string += body * draw(st.integers(1, 6)) + [draw(st.integers(5, 6))]
    return string * draw(st.integers(1, 5))


@settings(deadline=None)
@given(nested() | skipping_steps.strings, FRACTIONS)
def test_kernel_and_twin_give_the_same_weights(
    string: list[int], fraction: float
) -> None:
    nest = fold_with_skips(np.array(string, np.int32))
    for mine, other in zip(
        weigh(nest, fraction, len(string)), weigh_plain(nest, fraction), strict=True
    ):
        assert np.array_equal(mine, other)


@settings(deadline=None)
@given(nested() | skipping_steps.strings)
def test_leaves_give_back_the_string(string: list[int]) -> None:
    nest = fold_with_skips(np.array(string, np.int32))
    leaf, _ = weigh(nest, 0.5, len(string))
    symbols = nest.symbol[nest.body_items == 0]
    assert symbols[leaf].tolist() == string == expand(nest).tolist()


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 3), FRACTIONS)
def test_weights_sum_to_the_fraction_when_trip_counts_are_constant(
    outer: int, inner: int, leaves: int, fraction: float
) -> None:
    string = (list(range(leaves)) * inner + [9]) * outer
    _, weight = weigh(fold(string), fraction, len(string))
    assert weight.sum() == pytest.approx(len(string) * fraction, rel=1e-4)


@given(st.integers(1, 10_000), FRACTIONS)
def test_kept_iterations_are_spread_and_sum_to_the_fraction(
    trips: int, fraction: float
) -> None:
    shares = iteration_shares(trips, fraction)
    assert sum(shares.values()) == pytest.approx(trips * fraction, abs=1e-5)
    assert sum(1 for share in shares.values() if share < 1) <= 1
    kept = sorted(shares)
    assert all(0 <= trip < trips for trip in kept)
    gaps = np.diff(kept)
    if len(gaps):
        assert gaps.max() - gaps.min() <= 1


def test_of_85_outer_iterations_at_k_100_one_is_kept_in_part() -> None:
    string = ([0] * 19 + [1]) * 85
    leaf, weight = weigh(fold(string), 0.01, len(string))
    assert (weight[leaf == 0] == 1).sum() == 16
    assert weight[leaf == 1].max() == pytest.approx(0.85)


def test_leaves_outside_loops_have_the_whole_fraction_as_weight() -> None:
    _, weight = weigh(fold([3, 1, 1, 1, 1, 4]), 0.25, 6)
    assert weight[[0, 5]].tolist() == [0.25, 0.25]


def test_a_nest_whose_trips_run_out_is_refused() -> None:
    nest = fold([1, 2] * 8 + [3])
    broken = Nest(nest.body_items, nest.symbol, nest.trips_first * 0, nest.trips)
    with pytest.raises(InputError, match="trip counts"):
        weigh(broken, 0.5, 100)


def test_a_nest_longer_than_its_counts_is_refused() -> None:
    with pytest.raises(InputError, match="loop nest"):
        weigh(fold([1] * 10), 0.5, 9)


@given(st.lists(st.integers(0, 2**64 - 1).map(lambda n: n % 5000), max_size=3000))
def test_labels_number_keys_by_first_occurrence(keys: list[int]) -> None:
    labels, first = label(np.array(keys, np.uint64))
    order = list(dict.fromkeys(keys))
    assert [order[i] for i in labels] == keys
    assert [keys[i] for i in first] == order
