"""A folded string is cut at the iterations of some of its loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import fold
from skelgen.phases.segments import Divisible


def divisible(text: str, time=None, relevance: float = 0.01) -> Divisible:
    """Fold a string of letters, each of which takes as long unless it is said."""
    string = np.frombuffer(text.encode(), np.uint8).astype(np.int32) - ord("a")
    share = (
        np.ones(len(text)) if time is None else np.array([time[one] for one in text])
    )
    return Divisible(fold(string), share / share.sum(), relevance)


def pieces(text: str, run: Divisible, longest: float) -> list[str]:
    bound = run.divide(run.chosen(longest)).bound
    return [text[begin:end] for begin, end in pairwise(bound)]


STEP = "a" + "bc" * 5 + "d"
TEXT = "x" + STEP * 8 + "yz"


def test_levels_go_from_the_outer_loops_to_the_inner_ones() -> None:
    run = divisible(TEXT)
    (_, outer), (longest, inner) = run.levels()
    assert len(outer) == len(inner) == 1
    assert inner[0] > outer[0]
    assert run.chosen(0.99) == outer
    assert run.chosen(longest) == inner


def test_iterations_are_occurrences_and_so_is_what_lies_between() -> None:
    run = divisible(TEXT)
    (outer, _), (inner, _) = run.levels()
    assert pieces(TEXT, run, outer) == ["x", *[STEP] * 8, "yz"]
    step = ["a", *["bc"] * 5, "d"]
    assert pieces(TEXT, run, inner) == ["x", *step * 8, "yz"]


def test_an_occurrence_knows_its_loop_and_its_place_in_the_loops_around() -> None:
    run = divisible(TEXT)
    found = run.divide(run.levels()[1][1])
    assert found.trips.tolist() == [0, *[0, *[5] * 5, 0] * 8, 0]
    assert found.inside.tolist() == [False, *[True] * 56, False]
    (place,) = found.places
    assert place.tolist() == [0, *[0, 0, 1, 2, 3, 4, 0] * 8, 0]
    assert len(set(found.structure)) == 5
    assert found.structure[2] == found.structure[9]


def test_loops_with_little_time_are_parts_of_what_stands_around_them() -> None:
    run = divisible(TEXT, time={**dict.fromkeys("axdyz", 1), "b": 1e-6, "c": 1e-6})
    assert len(run.levels()) == 1
    assert divisible("abcdefgh").levels() == [(0.99, ())]


def test_joined_occurrences_take_the_place_of_the_next_ones() -> None:
    run = divisible(TEXT)
    found = run.divide(run.levels()[0][1])
    kept = np.arange(len(found.structure)) != 0
    joined = found.only(kept)
    assert joined.bound.tolist() == [0, *found.bound[2:].tolist()]
    assert joined.inside.tolist() == found.inside[1:].tolist()


@given(st.text("abc", max_size=60), st.sampled_from([0.99, 0.2, 0.02, 0.0]))
@settings(max_examples=200, deadline=None)
def test_pieces_are_the_whole_and_equal_ones_have_one_structure(
    text: str, longest: float
) -> None:
    if not text:
        return
    run = divisible(text)
    cut = pieces(text, run, longest)
    assert "".join(cut) == text
    assert all(cut)
    found = run.divide(run.chosen(longest))
    between = [i for i, trips in enumerate(found.trips) if not trips]
    for one in between:
        for other in between:
            same = found.structure[one] == found.structure[other]
            assert same == (cut[one] == cut[other])


def test_a_string_of_nothing_has_no_occurrences() -> None:
    run = Divisible(fold(np.zeros(0, np.int32)), np.zeros(0), 0.01)
    assert run.divide(()).bound.tolist() == [0]


@pytest.mark.parametrize("trips", [2, 3, 7, 40])
def test_an_iteration_that_takes_a_share_is_divided_below_it(trips: int) -> None:
    run = divisible(STEP * trips)
    assert run.chosen(1 / trips + 1e-9) == run.levels()[0][1]
    assert run.chosen(1 / trips - 1e-9) == run.levels()[-1][1]
