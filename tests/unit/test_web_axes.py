"""Where numbers lie at the axes of pictures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.web.axes import Axis

NUMBERS = st.floats(min_value=1e-20, max_value=1e20)


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.booleans())
def test_every_number_lies_inside_and_in_order(values, reverse):
    axis = Axis.over(values, 200.0, reverse=reverse)
    places = axis.at(np.sort(values))
    assert (places >= 0.0).all() and (places <= 200.0).all()
    steps = np.diff(places)
    assert ((steps <= 0.0) if reverse else (steps >= 0.0)).all()


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_numbers_at_an_axis_are_few_inside_of_it_and_rise(values):
    axis = Axis.over(values, 200.0)
    ticks = axis.ticks()
    assert len(ticks) <= 7
    assert all(axis.low * (1 - 1e-9) <= one <= axis.high * (1 + 1e-9) for one in ticks)
    assert all(one < other for one, other in itertools.pairwise(ticks))


def test_an_axis_over_more_than_a_decade_is_logarithmic():
    assert not Axis.over([1.0, 10.0], 100.0).logarithmic
    axis = Axis.over([1.0, 100.0], 100.0)
    assert axis.at(10.0) == pytest.approx(50.0)
    assert axis.ticks() == (1.0, 10.0, 100.0)


def test_a_short_axis_has_round_numbers():
    assert Axis.over([1000.0, 4000.0], 100.0).ticks() == (1000, 2000, 3000, 4000)


def test_one_number_alone_has_an_axis():
    assert 0.0 < Axis.over([5.0, 5.0], 100.0).at(5.0) < 100.0
