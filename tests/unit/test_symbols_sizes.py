"""Message sizes form clusters: without gaps by default, else by the threshold."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.matching import match
from skelgen.symbols.cluster import auto_threshold, cluster
from skelgen.symbols.sizes import size_classes
from tests import builders

sizes = st.lists(st.integers(0, 2**40), min_size=1, max_size=40, unique=True)


def classes(values, threshold=None):
    keys = np.zeros(len(values), np.int64)
    return size_classes(keys, np.array(values, np.int64), threshold).tolist()


def test_sizes_that_drift_are_one_cluster():
    assert classes([1000, 1900, 3700, 7000, 14000]) == [0] * 5


def test_a_gap_of_more_than_a_factor_of_two_splits():
    assert classes([1000, 2000, 4001, 100]) == [1, 1, 2, 0]


def test_small_and_empty_messages_are_alike():
    assert classes([0, 1, 8, 64, 128, 300]) == [0, 0, 0, 0, 0, 1]


def test_keys_are_clustered_on_their_own():
    keys = np.array([0, 0, 1, 1, -1], np.int64)
    values = np.array([100, 1000, 1000, 1100, 0], np.int64)
    assert size_classes(keys, values, None).tolist() == [0, 1, 0, 0, -1]


def test_the_papers_example_needs_a_threshold_of_a_tenth():
    assert classes([2000, 1800], 0.1) == [0, 0]
    assert classes([2000, 1800], 0.09) == [1, 0]


@given(sizes)
def test_threshold_zero_merges_only_equal_sizes(values):
    assert sorted(classes(values, 0.0)) == list(range(len(values)))


@given(sizes)
def test_threshold_one_merges_all_sizes(values):
    assert set(classes(values, 1.0)) == {0}


@given(sizes, st.floats(0, 0.99))
def test_sizes_of_a_cluster_differ_at_most_by_the_threshold(values, threshold):
    members = {}
    for value, number in zip(values, classes(values, threshold), strict=True):
        members.setdefault(number, []).append(value)
    for cluster_sizes in members.values():
        low, high = min(cluster_sizes), max(cluster_sizes)
        assert high - low <= threshold * high + 1e-9 * high


@given(sizes)
def test_neighbours_in_a_default_cluster_have_no_gap(values):
    numbers = dict(zip(values, classes(values), strict=True))
    ordered = sorted(values)
    for low, high in pairwise(ordered):
        together = max(high, 64) <= 2 * max(low, 64)
        assert (numbers[low] == numbers[high]) == together


def exchange(sizes_):
    builder = builders.EventsBuilder(2)
    for size in sizes_:
        builder.call(0, "Send", peer=1, tag=0, size_bytes=size)
        builder.call(1, "Recv", peer=0, tag=0, size_bytes=100_000)
    events = builder.events()
    return events, match(events.calls)


def test_receives_are_clustered_by_what_arrived():
    symbols = cluster(*exchange([10, 1000]))
    assert symbols.symbol.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("threshold", "symbols"), [(None, 1), (0.0, 10), (0.05, 4), (0.1, 2), (1.0, 1)]
)
def test_a_higher_threshold_gives_fewer_symbols(threshold, symbols):
    events, matching = exchange(range(1000, 1200, 20))
    found = cluster(events, matching, similarity_threshold=threshold)
    assert len(found.table) == 2 * symbols


def test_the_search_stops_at_the_smallest_threshold_that_compresses_enough():
    events, matching = exchange([1000, 1040, 1020, 1060, 1080] * 40)
    # Five different sizes in a loop: 200 symbols in 6 items.
    low = auto_threshold(events.calls, matching, compression_ratio=30.0)
    assert (low.similarity_threshold, low.reached) == (0.0, True)
    high = auto_threshold(events.calls, matching, compression_ratio=90.0)
    assert high.similarity_threshold == pytest.approx(0.08)
    assert high.compression_ratio == 100.0
    nests = cluster(events, matching, similarity_threshold=0.08)
    assert len(nests.table) == 2


def test_the_search_reports_its_upper_bound_when_it_fails():
    events, matching = exchange([1000, 5000, 20000, 90000] * 40)
    found = auto_threshold(
        events.calls, matching, compression_ratio=100.0, largest=0.15
    )
    assert found.similarity_threshold == 0.15
    assert not found.reached
    assert found.compression_ratio == 160 / 5
