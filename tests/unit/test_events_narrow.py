"""A narrow column reads like the array that it was made of."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.events.narrow import NarrowColumn

LEAST_WIDE = 2**32 - 1
amounts = st.one_of(
    st.integers(0, 9),
    st.integers(LEAST_WIDE - 2, LEAST_WIDE + 2),
    st.integers(-(2**63), 2**63 - 1),
)
arrays = st.lists(amounts, max_size=40).map(lambda one: np.array(one, np.int64))


@given(arrays, st.data())
def test_ranges_and_places_have_the_values_of_the_array(values, data):
    column = NarrowColumn.of(values)
    assert len(column) == len(values)
    begin = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(begin, len(values)))
    assert column[begin:end].tolist() == values[begin:end].tolist()
    if len(values):
        rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1))), np.int64)
        assert column[rows].tolist() == values[rows].tolist()


@given(arrays, st.lists(st.tuples(st.integers(0, 39), arrays), max_size=6))
def test_ranges_can_be_replaced_in_any_order(values, changes):
    column, untouched = NarrowColumn.of(values), NarrowColumn.of(values).copy()
    expected = values.copy()
    for begin, new in changes:
        own = new[: max(len(values) - begin, 0)]
        part = slice(min(begin, len(values)), min(begin, len(values)) + len(own))
        expected[part] = column[part] = own
        assert column[:].tolist() == expected.tolist()
    assert untouched[:].tolist() == values.tolist()


def test_what_is_read_is_not_the_column():
    column = NarrowColumn.of(np.array([3, 4]))
    column[0:2][0] = 7
    assert column[:].tolist() == [3, 4]
