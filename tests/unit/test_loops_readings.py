"""A string is read again while that can help, and the shortest nest counts."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.loops import Nest, fold
from skelgen.loops.readings import deepest, settle


def flat(*leaves: int) -> Nest:
    """Return one loop around leaves and loops of two leaves."""
    inner = [(2, -1), (0, leaves[0]), (0, leaves[1])]
    rest = [(0, leaf) for leaf in leaves[2:]]
    items = [(len(inner) + len(rest), -1), *inner, *rest]
    first = np.cumsum([0, *(items[i][0] > 0 for i in range(len(items)))])
    return Nest(
        np.array([body for body, _ in items], np.int32),
        np.array([symbol for _, symbol in items], np.int32),
        first.astype(np.int64),
        np.array([[3, 1], [2, 3]], np.int64),
    )


def more_each_time(_: Nest, depth: int) -> int:
    """Say that a reading knows what no other reading knew."""
    return depth


def test_a_nest_in_which_no_symbol_stands_twice_is_not_read_again() -> None:
    read: list[int] = []

    def reading(_: Nest, depth: int) -> Nest:
        read.append(depth)
        return flat(1, 2, 3)

    assert len(settle(reading, more_each_time, 21)) == 5
    assert read == [0]


def test_each_reading_knows_one_more_level_of_the_shortest_nest() -> None:
    nests = [flat(1, 2, 1, 2, 1), flat(1, 2, 1, 2, 1, 2), flat(1, 2, 1)]
    asked: list[tuple[int, int]] = []

    def reading(known: Nest, depth: int) -> Nest:
        asked.append((len(known), depth))
        return nests[depth]

    assert settle(reading, more_each_time, 21) is nests[2]
    assert asked == [(0, 0), (7, 1), (7, 2)]


def test_a_reading_that_would_know_the_same_is_left_out() -> None:
    read: list[int] = []

    def reading(_: Nest, depth: int) -> Nest:
        read.append(depth)
        return flat(1, 2, 1)

    settle(reading, lambda nest, _: len(nest), 21)
    assert read == [0, 1]


@pytest.mark.parametrize("most", [5, 10**6])
def test_symbols_may_be_few_or_far_apart(most: int) -> None:
    """Whether one stands twice decides whether the string is read again."""
    read: list[int] = []

    def reading(leaves: tuple[int, ...]) -> None:
        def one(_: Nest, depth: int) -> Nest:
            read.append(depth)
            return flat(*leaves)

        read.clear()
        settle(one, more_each_time, 21)

    reading((1, 2, 3, most))
    assert read == [0]
    reading((1, 2, most, most))
    assert read == [0, 1, 2]


@pytest.mark.parametrize(("length", "readings"), [(2400, 1), (3000, 2), (30_000, 3)])
def test_strings_that_hardly_fold_are_read_less_often(
    length: int, readings: int
) -> None:
    read: list[int] = []

    def reading(_: Nest, depth: int) -> Nest:
        read.append(depth)
        return flat(*[1, 2] * 1000)

    settle(reading, more_each_time, length)
    assert read == list(range(readings))


def test_depth_counts_loops_of_several_items_inside_each_other() -> None:
    assert deepest(flat(1, 2, 3)) == 2
    assert deepest(fold(np.array([1, 1, 1, 2], np.int32))) == 0
    assert deepest(fold(np.zeros(0, np.int32))) == 0
