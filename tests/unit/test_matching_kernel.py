"""The kernel and the plain rules join the same calls."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.matching import kernel, match
from skelgen.matching.roles import shape_table
from tests.damage import cut_somewhere, scramble
from tests.random_programs import random_program
from tests.twins import matching_kernel as twin

seeds = st.integers(0, 2**32)


def assert_twins_agree(calls):
    table = shape_table(calls)
    one, other = kernel.join(calls, table), twin.join(calls, table)
    for name in one.__slots__:
        mine, theirs = getattr(one, name), getattr(other, name)
        assert np.array_equal(mine, theirs), f"{name}: {mine} {theirs}"


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_kernel_and_twin_agree_on_random_programs(seed):
    assert_twins_agree(random_program(random.Random(seed)).calls)


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_kernel_and_twin_agree_on_runs_that_were_cut_short(seed):
    rng = random.Random(seed)
    assert_twins_agree(cut_somewhere(random_program(rng).calls, rng))


@given(seeds)
@settings(max_examples=120, deadline=None)
def test_kernel_and_twin_agree_on_damaged_calls(seed):
    rng = random.Random(seed)
    assert_twins_agree(scramble(random_program(rng, calls=100).calls, rng))


@given(seeds)
@settings(max_examples=150, deadline=None)
def test_events_are_the_same_when_nobody_asks_what_completes_them(seed):
    generator = random.Random(seed)
    calls = cut_somewhere(random_program(generator).calls, generator)
    everything, less = match(calls), match(calls, completions=False)
    for name in everything.__slots__:
        mine, known = getattr(less, name), getattr(everything, name)
        if name.endswith("_done"):
            assert len(mine) == 0
        else:
            assert np.array_equal(mine, known), name


@given(seeds, st.booleans())
@settings(max_examples=200, deadline=None)
def test_narrow_numbers_are_the_same_ones(seed, completions):
    rng = random.Random(seed)
    calls = scramble(random_program(rng, calls=100).calls, rng)
    table = shape_table(calls)
    wide, narrow = (
        kernel.join(calls, table, completions=completions, narrow=narrow)
        for narrow in (False, True)
    )
    assert narrow.whole_event.dtype == np.int32
    assert wide.whole_event.dtype == np.int64
    for name in wide.__slots__:
        assert np.array_equal(getattr(wide, name), getattr(narrow, name)), name


def test_runs_of_very_many_calls_keep_wide_numbers(monkeypatch):
    monkeypatch.setattr(kernel, "_MOST_NARROW", 3)
    calls = random_program(random.Random(1)).calls
    assert match(calls, narrow=True).whole_event.dtype == np.int64


@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_kernel_takes_runs_without_calls(ranks):
    calls = random_program(random.Random(1), ranks=2).calls
    empty = type(calls)(
        first=np.zeros(ranks + 1, np.int64),
        **{
            name: getattr(calls, name)
            for name in ("age_first", "age_values", "communicators", "functions")
        },
        shape=np.zeros(0, np.uint32),
        size_bytes=np.zeros(0, np.int64),
        ages=np.zeros(0, np.uint32),
        vector_call=np.zeros(0, np.int64),
        vectors=np.zeros((0, 2), object),
        shapes=calls.shapes[:0],
    )
    assert_twins_agree(empty)
