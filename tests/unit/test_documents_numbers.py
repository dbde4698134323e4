"""Numbers as text come back exactly."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents.numbers import (
    NumberError,
    amount,
    format_integers,
    format_real,
    format_repeated,
    integer,
    integers,
    real,
    reals,
)


@given(st.lists(st.integers(-20, 20), max_size=60))
def test_integers_come_back(numbers):
    text = format_integers(numbers)
    assert integers(text, -20, 20, len(numbers)) == numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_back_exactly(number):
    assert real(format_real(number)) == number


@given(st.lists(st.one_of(st.none(), st.integers(0, 3)), max_size=40))
def test_repeated_words_come_back(values):
    words = ["-" if value is None else str(value) for value in values]
    assert reals(format_repeated(words), len(values)) == values


@pytest.mark.parametrize("text", ["", "x", "1.5", "1e3", "\u0661", "9" * 30, "--1"])
def test_what_is_no_integer_is_refused(text):
    with pytest.raises(NumberError, match="expected an integer"):
        integer(text, 0, 100)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "0x10", "1_0", ""])
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(NumberError, match="expected a number"):
        real(text)


def test_negative_amounts_are_refused():
    with pytest.raises(NumberError, match="at least 0"):
        amount("-1")


@pytest.mark.parametrize("text", ["0..999999999", "0*999999999", "1 2 3 4"])
def test_long_lists_are_refused_before_they_are_made(text):
    with pytest.raises(NumberError):
        integers(text, 0, 10**9, 3)
    with pytest.raises(NumberError):
        reals("0*999999999", 3)


def test_huge_floats_have_an_exponent():
    assert format_real(1e30) == "1e+30"
    assert math.isclose(real("1e+30"), 1e30)
