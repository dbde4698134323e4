"""Loops that always ran once leave their bodies, as the plain twin says."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import Nest, expand, same
from skelgen.loops.single_trips import without_single_trips
from tests.twins.loops_single_trips import without_single_trips_plain

# A leaf is a symbol; a loop is its rows and its body.
items = st.recursive(
    st.integers(0, 9),
    lambda inner: st.tuples(
        st.lists(st.integers(1, 3), min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=4),
    ),
    max_leaves=30,
)


def nest_of(parts: list) -> Nest:
    """Write items in prefix order."""
    body_items: list[int] = []
    symbol: list[int] = []
    first = [0]
    trips: list[tuple[int, int]] = []

    def put(part: object) -> None:
        place = len(symbol)
        rows, body = part if isinstance(part, tuple) else ([], [])
        body_items.append(0)
        symbol.append(-1 if isinstance(part, tuple) else int(str(part)))
        trips.extend((row, 1) for row in rows)
        first.append(len(trips))
        for inner in body:
            put(inner)
        body_items[place] = len(symbol) - place - 1

    for part in parts:
        put(part)
    return Nest(
        np.array(body_items, np.int32),
        np.array(symbol, np.int32),
        np.array(first, np.int64),
        np.array(trips, np.int64).reshape(-1, 2),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(items, max_size=6))
def test_the_kernel_does_what_its_plain_twin_does(parts: list) -> None:
    nest = nest_of(parts)
    assert same(without_single_trips(nest), without_single_trips_plain(nest))


def test_loops_that_always_ran_once_leave_their_bodies() -> None:
    rows = [[2, 1], [1, 2], [1, 1], [3, 1], [1, 2]]
    nest = Nest(
        np.array([5, 2, 0, 0, 1, 0, 0, 1, 0], np.int32),
        np.array([-1, -1, 4, 5, -1, 6, 7, -1, 8], np.int32),
        np.array([0, 1, 2, 2, 2, 4, 4, 4, 5, 5]),
        np.array(rows)[[0, 1, 2, 3, 2]],
    )
    short = without_single_trips(nest)
    assert short.body_items.tolist() == [4, 0, 0, 1, 0, 0, 0]
    assert short.symbol.tolist() == [-1, 4, 5, -1, 6, 7, 8]
    assert short.trips_first.tolist() == [0, 1, 1, 1, 3, 3, 3, 3]
    assert short.trips.tolist() == [[2, 1], [1, 1], [3, 1]]
    assert np.array_equal(expand(short), expand(nest))


def test_a_nest_without_such_loops_is_returned_as_it_is() -> None:
    nest = nest_of([1, ([2], [3]), ([1, 1], [4])])
    assert without_single_trips(nest) is nest
    assert without_single_trips(nest_of([])).symbol.tolist() == []
