"""Statistics at leaves: the kernel, its twin, and which occurrences are kept."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.signature import spread as spread_module
from skelgen.signature.spread import (
    constant_spread,
    sampled_positions,
    samples_of_each,
    spread_of,
    statistics,
    statistics_of_ranks,
    steps_of,
    totals_of,
)
from skelgen.signature.thresholds import MOST_SAMPLES
from tests.summaries import assert_same
from tests.twins.signature_spread import statistics_plainly

values_at_leaves = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.integers(0, 9), st.integers(0, 2**50))),
    max_size=80,
)


def columns(rows):
    """Return leaves and values with every leaf at least once."""
    rows = [(leaf, 1) for leaf in range(5)] + rows
    leaf = np.array([row[0] for row in rows], np.int32)
    return leaf, np.array([row[1] for row in rows], np.int64)


@given(values_at_leaves)
def test_kernel_and_python_find_the_same_statistics(rows):
    leaf, values = columns(rows)
    for one, other in zip(
        statistics(leaf, 5, values), statistics_plainly(leaf, 5, values), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_ranks_together_have_the_statistics_of_each_alone():
    random = np.random.default_rng(3)
    leaf = np.concatenate([np.arange(5), random.integers(0, 5, 40)]).astype(np.int32)
    values = random.integers(-5, 2**60, (7, len(leaf)))
    together = statistics_of_ranks(leaf, 5, values)
    for rank, of_rank in enumerate(values):
        for one, other in zip(together, statistics(leaf, 5, of_rank), strict=True):
            np.testing.assert_array_equal(one[rank], other)


def test_any_number_of_ranks_together_gives_the_same_spread(monkeypatch):
    random = np.random.default_rng(4)
    leaf = np.repeat(np.arange(3, dtype=np.int32), 6)
    values = list(random.integers(0, 1000, (9, len(leaf))))
    sampled = np.array([[0, 3], [7, -1], [13, 17]])
    found = spread_of(leaf, 3, iter(values), sampled), totals_of(leaf, 3, values)
    monkeypatch.setattr(spread_module, "_BLOCK", 40)
    again = spread_of(leaf, 3, iter(values), sampled), totals_of(leaf, 3, values)
    for name in ("total", "squares", "least", "most", "histogram", "samples"):
        one, other = getattr(found[0], name), getattr(again[0], name)
        np.testing.assert_array_equal(one, other)
        assert one.flags.c_contiguous
    np.testing.assert_array_equal(found[1], again[1])
    np.testing.assert_array_equal(found[1], found[0].total)


def test_bins_are_powers_of_two():
    leaf = np.zeros(7, np.int32)
    values = np.array([0, 1, 2, 3, 4, 7, 8], np.int64)
    histogram = statistics(leaf, 1, values)[4]
    assert histogram[0, :6].tolist() == [1, 1, 2, 2, 1, 0]


def test_the_histogram_ends_with_the_largest_value():
    leaf = np.zeros(2, np.int32)
    sampled = np.array([[0, 1]])
    spread = spread_of(leaf, 1, [np.array([3, 9]), np.array([0, 1])], sampled)
    assert spread.histogram.tolist() == [[[0, 0, 1, 0, 1], [1, 1, 0, 0, 0]]]
    assert spread.samples.tolist() == [[[3, 9], [0, 1]]]


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=6), st.integers(1, 50))
def test_statistics_of_constants_follow_from_the_constant(constants, times):
    leaf = np.repeat(np.arange(len(constants), dtype=np.int32), times)
    count = np.full(len(constants), times)
    value = np.repeat(np.array(constants, np.int64), times)
    sampled = sampled_positions(leaf, count, 8)
    spread = spread_of(leaf, len(constants), [value], sampled)
    bins, samples = spread.histogram.shape[2], spread.samples.shape[2]
    column = np.array(constants, np.float64)[:, None]
    assert_same(spread, constant_spread(column, count, bins, samples))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 100, 1001])
def test_one_sample_comes_from_each_stratum(count):
    leaf = np.zeros(count, np.int32)
    positions = sampled_positions(leaf, np.array([count]), 8)[0]
    strata = min(count, 8)
    bounds = [number * count // strata for number in range(strata + 1)]
    for low, high, position in zip(bounds, bounds[1:], positions, strict=False):
        assert low <= position < high
    assert len(positions) == strata


def test_leaves_of_one_loop_are_sampled_in_the_same_iterations():
    leaf = np.tile(np.arange(3, dtype=np.int32), 500)
    positions = sampled_positions(leaf, np.array([500] * 3), 16)
    np.testing.assert_array_equal(positions[1], positions[0] + 1)
    np.testing.assert_array_equal(positions[2], positions[0] + 2)
    # Not always the same place of a stratum.
    assert len({int(p) // 3 % 31 for p in positions[0]}) > 4


def test_rare_leaves_have_as_many_samples_as_occurrences():
    leaf = np.array([0, 1, 1, 1, 0, 1], np.int32)
    positions = sampled_positions(leaf, np.array([2, 4]), 3)
    assert positions[0].tolist() == [0, 4, -1]
    assert (positions[1] >= 0).all()


def test_large_signatures_have_fewer_samples_of_each_leaf():
    small = [(np.full(10, 1000), 4)]
    large = [(np.full(5000, 1000), 4)]
    huge = [(np.full(500_000, 1000), 4)]
    assert samples_of_each(small) == MOST_SAMPLES
    assert samples_of_each(large) == 200_000 // (2 * 4 * 5000)
    assert samples_of_each(huge) == 1


def test_no_leaves_have_no_statistics():
    none = np.empty(0, np.int32)
    sampled = sampled_positions(none, np.empty(0, np.int64), 5)
    spread = spread_of(none, 0, [np.empty(0, np.int64)] * 2, sampled)
    assert spread.total.shape == (0, 2)
    assert spread.histogram.shape == (0, 2, 1)
    assert spread.samples.shape == (0, 2, 0)


@given(values_at_leaves, st.lists(st.booleans(), min_size=5, max_size=5))
def test_steps_are_those_from_one_occurrence_to_the_next(rows, wanted):
    leaf, values = columns(rows)
    values %= 1 << 40  # sums are exact
    found = steps_of(leaf, np.array(wanted), [values, values // 2], 2)
    for column, of_rank in enumerate((values, values // 2)):
        for number, looked_at in enumerate(wanted):
            own = of_rank[leaf == number].tolist()
            steps = [abs(b - a) for a, b in pairwise(own)]
            assert found[number, column] == (sum(steps) if looked_at else 0)


def test_steps_go_on_from_one_block_to_the_next(monkeypatch):
    random = np.random.default_rng(5)
    leaf = np.concatenate([np.arange(3), random.integers(0, 3, 500)]).astype(np.int32)
    values = random.integers(0, 1000, (2, len(leaf)))
    whole = steps_of(leaf, np.ones(3, bool), values, 2)
    monkeypatch.setattr(spread_module, "_BLOCK", 7)
    assert_same(steps_of(leaf, np.ones(3, bool), values, 2), whole)
