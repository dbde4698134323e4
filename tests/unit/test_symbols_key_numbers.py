"""Equal keys and equal rows get equal numbers."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from skelgen.symbols.key_numbers import (
    combine,
    factorise,
    factorise_parts,
    factorise_rows,
)
from tests.twins.symbols_key_numbers import factorise_plainly

keys = npst.arrays(
    np.int64,
    st.integers(0, 200),
    elements=st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)),
)


@given(keys)
def test_kernel_and_python_number_keys_alike(array):
    code, first = factorise(array)
    plain_code, plain_first = factorise_plainly(array)
    np.testing.assert_array_equal(code, plain_code)
    np.testing.assert_array_equal(first, plain_first)


@given(keys, st.lists(st.integers(0, 200), max_size=5))
def test_keys_have_the_same_numbers_when_they_are_read_in_parts(array, cuts):
    bounds = sorted({0, len(array), *(cut for cut in cuts if cut < len(array))})
    parts = [slice(*pair) for pair in pairwise(bounds)]
    code, first = factorise_parts(parts, array.__getitem__)
    plain_code, plain_first = factorise_plainly(array)
    np.testing.assert_array_equal(code, plain_code)
    np.testing.assert_array_equal(first, plain_first)


def test_more_keys_than_the_first_table_holds_are_numbered():
    array = np.arange(100_000, dtype=np.int64) * 2**40
    code, first = factorise(np.concatenate([array, array]))
    np.testing.assert_array_equal(code[:100_000], code[100_000:])
    np.testing.assert_array_equal(first, np.arange(100_000))


@given(st.lists(st.tuples(*[st.integers(-(2**31), 2**31)] * 3), max_size=50))
def test_combined_columns_differ_where_rows_differ(rows):
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    key = combine(*columns)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (key[i] == key[j]) == (one == other)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=30))
def test_ragged_rows_have_equal_numbers_when_they_are_equal(rows):
    length = np.array([len(row) for row in rows], np.int64)
    values = np.array([value for row in rows for value in row], np.int64)
    number = factorise_rows(np.cumsum(length) - length, length, values)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (number[i] == number[j]) == (one == other)


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 1), max_size=3), st.integers(0, 2)),
        max_size=12,
    )
)
def test_long_rows_have_equal_numbers_when_they_are_equal(ends):
    """Rows that differ early, in the middle or in their length, beside short ones."""
    rows = [[*end, *[2] * (29 * often), *end] for end, often in ends]
    test_ragged_rows_have_equal_numbers_when_they_are_equal.hypothesis.inner_test(rows)
