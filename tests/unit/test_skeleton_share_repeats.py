"""Stretches of calls that stand at several places are found, all of their places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import Nest
from skelgen.skeleton.share.repeats import repeats


def flat(calls: int) -> Nest:
    """Return a nest without loops, each call of its own symbol."""
    return Nest(
        np.zeros(calls, np.int32),
        np.arange(calls, dtype=np.int32),
        np.zeros(calls + 1, np.int64),
        np.zeros((0, 2), np.int64),
    )


def places_one_by_one(keys: list[int], stretch: list[int]) -> list[int]:
    """Look at each item whether the stretch begins there."""
    found, at = [], 0
    while at + len(stretch) <= len(keys):
        hit = keys[at : at + len(stretch)] == stretch
        found += [at] if hit else []
        at += len(stretch) if hit else 1
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=8),
    st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=12),
)
def test_the_first_stretch_has_all_its_places(
    body: list[int], between: list[list[int]]
) -> None:
    keys = [key for some in between for key in (*body, *some)]
    found = repeats(flat(len(keys)), keys)
    for number, repeat in enumerate(found):
        texts = {tuple(keys[item] for item in place) for place in repeat.places}
        assert len(texts) == 1
        assert len(repeat.places) > 1
        if not number:
            begins = [place[0] for place in repeat.places]
            assert begins == places_one_by_one(keys, list(*texts))
    taken = [item for repeat in found for place in repeat.places for item in place]
    assert len(taken) == len(set(taken))


@pytest.mark.parametrize(
    ("body", "times", "found"), [(12, 3, True), (1, 60, True), (1, 3, False)]
)
def test_a_body_between_other_calls_is_a_stretch_where_it_saves_lines(
    body: int, times: int, found: bool
) -> None:
    other = iter(range(1000, 2000))
    keys = [key for _ in range(times) for key in (*range(body), next(other))]
    lengths = [
        [len(place) for place in repeat.places]
        for repeat in repeats(flat(len(keys)), keys)
    ]
    assert lengths == [[body] * times] * found
