"""The weight of the power law next to normal forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.models.families.stacking import Missed, share_of_power


def missed(forms, power, places=200):
    return Missed(np.array(forms), np.array(power), places)


def test_opposite_misses_are_averaged():
    assert share_of_power([missed([0.2], [-0.2])], 0.0) == pytest.approx(0.5, abs=0.01)
    one_third = share_of_power([missed([0.1], [-0.2])], 0.0)
    assert one_third == pytest.approx(1 / 3, abs=0.01)


def test_noise_that_both_have_says_nothing_of_either():
    noise = np.random.default_rng(1).normal(0.0, 0.3, 4000)
    found = share_of_power([missed(noise + 0.1, noise - 0.1, 4000)], 0.0)
    assert found == pytest.approx(0.5, abs=0.05)


def test_what_misses_more_in_the_same_direction_does_not_count():
    assert share_of_power([missed([0.1], [0.3])], 0.0) == 0.0
    assert share_of_power([missed([0.3], [0.1])], 0.0) == 1.0


def test_without_any_fold_the_power_law_counts_as_far_as_forms_are_unsure():
    assert share_of_power([], 0.0) == 0.0
    found = [share_of_power([], unsure) for unsure in (0.1, 0.2, 0.3, 10.0)]
    assert found == sorted(found)
    assert found[2] == pytest.approx(0.5)  # a power law is as unsure
    assert found[-1] > 0.99


def test_few_places_say_less_than_many():
    few, many = (missed([0.1], [-0.1], places) for places in (2, 200))
    assert share_of_power([few], 0.0) < 0.3 < share_of_power([many], 0.0)


def test_misses_beyond_any_use_do_not_count():
    near = missed([0.1, 0.1], [-0.1, -0.1])
    with_far = missed([0.1, 0.1, 0.1], [-0.1, -0.1, np.inf])
    assert share_of_power([with_far], 0.0) == share_of_power([near], 0.0)
    assert share_of_power([missed([3.0], [0.0])], 0.0) == 0.0


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=9),
    st.floats(0.0, 5.0),
    st.integers(1, 100),
)
def test_a_share_is_from_0_to_1(pairs, unsure, places):
    forms, power = zip(*pairs, strict=True)
    assert 0.0 <= share_of_power([missed(forms, power, places)], unsure) <= 1.0


def test_normal_forms_that_miss_nothing_need_no_power_law() -> None:
    exact = Missed(np.full(3, 1e-9), np.full(3, 0.1), 3)
    rough = Missed(np.full(3, 0.05), np.full(3, 0.01), 3)
    assert share_of_power([exact], 0.2) == 0.0
    assert share_of_power([exact, rough], 0.2) > 0.0
