"""Strings of tokens get shorter and lose nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.loops import expand, fold
from skelgen.loops.parts import nested
from skelgen.loops.tokens import Tokens
from skelgen.loops.unfold import positions

strings = st.lists(st.integers(0, 4), min_size=1, max_size=60)


def tokens_of(*symbols: int) -> Tokens:
    return Tokens.of_symbols(np.array(symbols, np.int32))


def expanded(tokens: Tokens) -> list[int]:
    """Return the symbols of a string of tokens."""
    outer = fold(tokens.string.astype(np.int32))
    return expand(nested(outer, iter(tokens.at_leaves(positions(outer))))).tolist()


def test_tokens_that_always_follow_each_other_are_one() -> None:
    tokens = tokens_of(5, 1, 2, 2, 1, 2, 9)
    assert tokens.string.tolist() == [tokens.string[0]]
    assert expanded(tokens) == [5, 1, 2, 2, 1, 2, 9]


def test_tokens_in_a_row_are_one_loop() -> None:
    tokens = tokens_of(3, 3, 3, 4, 3, 4, 4, 3)
    assert tokens.string.tolist() == [0, 1, 0, 1, 0]
    assert [part.trips.tolist() for (part,) in tokens.parts] == [[3, 1, 1], [1, 2]]


@pytest.mark.parametrize("behind", [True, False])
@given(strings, st.integers(0, 4))
def test_attaching_a_token_keeps_the_string(
    behind: bool, symbols: list[int], which: int
) -> None:
    tokens = tokens_of(*symbols)
    present = np.unique(tokens.string)
    token = int(present[which % len(present)])
    alone = tokens.string[0 if behind else -1] == token
    tokens.attach(token, behind=behind)
    assert expanded(tokens) == symbols
    assert np.count_nonzero(tokens.string == token) <= alone


@given(strings, st.permutations(range(5)), st.sets(st.integers(0, 4)))
def test_rounds_keep_the_string(
    symbols: list[int], order: list[int], outside: set[int]
) -> None:
    tokens = tokens_of(*symbols)
    place = np.full(len(tokens), -1)
    inside = [one for one in order if one < len(tokens) and one not in outside]
    place[inside] = np.arange(len(inside))
    tokens.in_rounds(place, 10_000)
    assert expanded(tokens) == symbols


def test_too_many_rounds_are_not_made() -> None:
    tokens = tokens_of(0, 1, 2, 1, 0, 2)
    before = tokens.string.copy()
    assert not tokens.in_rounds(np.arange(3), 8)
    assert np.array_equal(tokens.string, before)
    assert tokens.in_rounds(np.arange(3), 9)


@given(strings)
def test_marks_of_steps_stand_for_nothing(symbols: list[int]) -> None:
    tokens = tokens_of(*symbols)
    tokens.mark_steps(int(tokens.string[-1]))
    assert expanded(tokens) == symbols


def test_what_begins_a_step_stands_apart_where_that_changes() -> None:
    tokens = tokens_of(*[0, 0, 1, 0, 9], *[1, 9], *[0, 1, 9], *[1, 0, 9])
    mark = tokens.mark_steps(2)
    firsts = tokens.string[np.flatnonzero(tokens.string[:-1] == mark) + 1]
    assert len(set(firsts.tolist())) == 2
    assert min(firsts) > 2
    assert expanded(tokens) == [0, 0, 1, 0, 9, 1, 9, 0, 1, 9, 1, 0, 9]


def test_neighbours_are_counted() -> None:
    pairs = tokens_of(0, 1, 2, 0, 2, 1).neighbours()
    assert pairs.places(0) == (1, 2)
    assert pairs.times.sum() == 5
