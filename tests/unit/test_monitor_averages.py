"""One number for several nodes over a time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.monitor.averages import Curve, avg_min, min_avg

values = st.lists(st.floats(0, 1), min_size=4, max_size=4)


def even(*numbers: float) -> Curve:
    return Curve([10.0 * (at + 1) for at in range(len(numbers))], numbers)


def test_the_minimum_is_taken_at_each_time() -> None:
    nodes = [even(1.0, 0.2, 1.0, 1.0), even(1.0, 1.0, 0.4, 1.0)]
    assert avg_min(nodes, 0, 40).value == pytest.approx(0.65)
    assert min_avg(nodes, 0, 40).value == pytest.approx(0.8)


def test_samples_at_other_times_are_weighted_by_time() -> None:
    nodes = [Curve([10.0, 20.0], [0.5, 1.0]), Curve([5.0, 15.0, 25.0], [1.0, 0.8, 0.2])]
    # 0-5: .5, 5-10: .5, 10-15: .8, 15-20: .2
    assert avg_min(nodes, 0, 20).value == pytest.approx(0.5)


def test_only_the_time_that_was_asked_for_counts() -> None:
    assert avg_min([even(1.0, 0.0, 0.5, 0.25)], 15, 35).value == pytest.approx(
        (5 * 0.0 + 10 * 0.5 + 5 * 0.25) / 20
    )


def test_a_gap_of_one_node_is_left_out_for_all() -> None:
    gap = Curve([10.0, 20.0, 100.0, 110.0], [1.0, 1.0, 0.0, 0.0])
    other = Curve([float(t) for t in range(10, 120, 10)], [0.5] * 11)
    found = avg_min([gap, other], 0, 110)
    known = 20 + 30 + 10  # a sample speaks for three intervals
    assert found.covered == pytest.approx(known / 110)
    assert found.value == pytest.approx((20 * 0.5 + 40 * 0.0) / known)


def test_nothing_known_is_nothing_said() -> None:
    assert math.isnan(avg_min([], 0, 1).value)
    assert math.isnan(avg_min([even(1.0)], 100, 200).value)
    assert math.isnan(min_avg([even(1.0, 1.0), Curve([], [])], 0, 20).value)
    assert min_avg([], 0, 1).covered == 0.0


@given(st.lists(values, min_size=1, max_size=4))
def test_the_average_of_minima_is_never_above_the_minimum_of_averages(
    nodes: list[list[float]],
) -> None:
    curves = [even(*one) for one in nodes]
    assert avg_min(curves, 0, 40).value <= min_avg(curves, 0, 40).value + 1e-12
