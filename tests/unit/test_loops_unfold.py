"""Expanding tells positions and iterations apart, and refuses broken nests."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.loops import Nest, expand, fold, fold_with_skips, positions
from skelgen.loops.unfold import spans
from tests import skipping_steps
from tests.loop_programs import execute, loop_program
from tests.twins.loops_unfold import PlainUnfolding


def nest_of(
    body_items: list[int], symbol: list[int], rows: list[list[list[int]]]
) -> Nest:
    return Nest(
        np.array(body_items, np.int32),
        np.array(symbol, np.int32),
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.array([row for own in rows for row in own], np.int64).reshape(-1, 2),
    )


ABB_ABB = ([3, 0, 1, 0], [-1, 0, -1, 1])

exact_nests = st.builds(
    lambda seed, symbols: fold(
        np.array(execute(loop_program(random.Random(seed), symbols))[:20_000], np.int32)
    ),
    st.integers(0, 10**6),
    st.sampled_from([0, 2, 4, 20]),
)
nests = exact_nests | skipping_steps.strings.map(
    lambda string: fold_with_skips(np.array(string, np.int32))
)


def test_iterations_of_different_length_have_their_own_bounds() -> None:
    nest = nest_of(*ABB_ABB, [[[2, 1]], [], [[2, 1], [3, 1]], []])
    found = spans(nest)
    assert expand(nest).tolist() == [0, 1, 1, 0, 1, 1, 1]
    assert positions(nest).tolist() == [0, 1, 1, 0, 1, 1, 1]
    assert found.item.tolist() == [0, 2, 2]
    assert found.trips.tolist() == [2, 2, 3]
    bounds = np.split(found.bound, found.first[1:-1])
    assert [own.tolist() for own in bounds] == [[0, 3, 7], [1, 2, 3], [4, 5, 6, 7]]


def test_a_loop_may_run_no_time() -> None:
    nest = nest_of(*ABB_ABB, [[[3, 1]], [], [[0, 1], [2, 1], [0, 1]], []])
    found = spans(nest)
    assert expand(nest).tolist() == [0, 0, 1, 1, 0]
    assert found.trips.tolist() == [3, 0, 2, 0]
    assert found.bound[-1:].tolist() == [5]


@settings(max_examples=80, deadline=None)
@given(nests)
def test_the_kernel_does_what_its_plain_twin_does(nest: Nest) -> None:
    plain, found = PlainUnfolding(nest), spans(nest)
    assert positions(nest).tolist() == plain.leaf
    for column in ("item", "first", "bound"):
        assert np.array_equal(getattr(found, column), getattr(plain.spans(), column))


@settings(max_examples=100, deadline=None)
@given(exact_nests)
def test_iterations_of_one_loop_have_the_same_leaves(nest: Nest) -> None:
    leaf, found = positions(nest), spans(nest)
    leaves: dict[int, set[int]] = {}
    for item, first, last in zip(
        found.item.tolist(), found.first[:-1], found.first[1:], strict=True
    ):
        for start, end in zip(
            found.bound[first : last - 1], found.bound[first + 1 : last], strict=True
        ):
            own = set(leaf[start:end].tolist())
            assert leaves.setdefault(item, own) == own


def test_nothing_expands_to_nothing() -> None:
    nest = fold(np.zeros(0, np.int32))
    assert len(expand(nest)) == len(positions(nest)) == len(spans(nest).item) == 0
    assert spans(nest).first.tolist() == [0]


@pytest.mark.parametrize(
    "rows",
    [
        [[[2, 1]], [], [[2, 1]], []],
        [[[2, 1]], [], [[2, 3]], []],
        [[[2, 2]], [], [[2, 4]], []],
        [[[2, 1]], [], [[-1, 2]], []],
        [[[2, 1]], [], [[0, 3]], []],
        [[[2, 1]], [], [[2, 3], [2, -1]], []],
        [[[2**62, 1]], [], [[2**62, 2**62]], []],
        [[], [], [[2, 2]], []],
    ],
)
def test_trip_counts_that_do_not_fit_are_refused(rows: list[list[list[int]]]) -> None:
    with pytest.raises(InputError, match="trip counts"):
        expand(nest_of(*ABB_ABB, rows))


@pytest.mark.parametrize("body_items", [[4, 0, 1, 0], [3, 0, 2, 0], [-1, 0, 1, 0]])
def test_bodies_that_reach_too_far_are_refused(body_items: list[int]) -> None:
    rows: list[list[list[int]]] = [[[2, 1]], [], [[2, 2]], []]
    with pytest.raises(InputError, match="broken"):
        expand(nest_of(body_items, ABB_ABB[1], rows))


def test_columns_of_different_lengths_are_refused() -> None:
    nest = nest_of(*ABB_ABB, [[[2, 1]], [], [[2, 2]], []])
    for wrong in (
        Nest(nest.body_items[:3], nest.symbol, nest.trips_first, nest.trips),
        Nest(nest.body_items, nest.symbol[:3], nest.trips_first, nest.trips),
        Nest(nest.body_items, nest.symbol, nest.trips_first[:4], nest.trips),
        Nest(nest.body_items, nest.symbol, nest.trips_first, nest.trips[:1]),
        Nest(nest.body_items, nest.symbol, nest.trips_first[::-1], nest.trips),
    ):
        with pytest.raises(InputError, match="columns"):
            positions(wrong)
