"""Calls are behind the cuts that what they need is behind, and no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skelgen._kernels._cuts import lib

from skelgen.phases.sides import close
from tests.twins import phases_sides as twin


def ints(values):
    return np.array(values, np.int64)


@st.composite
def cases(draw):
    """Return sides, ranks, events, who is together with others, and needs."""
    first = np.cumsum([0, *draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))])
    calls = int(first[-1])
    some = st.integers(0, max(calls - 1, 0))
    each = st.lists(st.integers(0, 4), min_size=calls, max_size=calls)
    joint = ints(draw(each)) - 1
    pairs = st.lists(st.tuples(some, some), max_size=6 if calls else 0)
    needs = [
        (ints([one for one, _ in found]), ints([other for _, other in found]))
        for found in draw(st.lists(pairs, min_size=3, max_size=4))
    ]
    together = np.array(draw(each), bool) & (joint >= 0)
    return ints(draw(each)).astype(np.int32), ints(first), joint, together, needs


@settings(max_examples=300)
@given(cases())
def test_sides_are_those_of_the_twin(case):
    side, *others = case
    expected = side.copy()
    twin.close(expected, *others)
    close(side, *others)
    assert side.tolist() == expected.tolist()


def test_a_chain_of_ranks_that_wait_for_each_other_is_followed_to_its_end():
    """Each call needs the one before it on the other rank: round after round, one."""
    calls = 300_000
    side = np.zeros(2 * calls, np.int32)
    side[0] = 1
    here, there = np.arange(calls - 1), calls + np.arange(calls - 1)
    needs = [(there, here), (here + 1, there)]
    nothing = np.zeros(2 * calls, bool)
    close(side, ints([0, calls, 2 * calls]), ints(nothing) - 1, nothing, needs)
    assert side[:-1].all()


def test_what_needs_a_call_does_not_raise_it():
    side = np.array([0, 0, 0, 2], np.int32)
    nothing = np.zeros(4, bool)
    close(side, ints([0, 2, 4]), ints(nothing), nothing, [(ints([3]), ints([0]))])
    assert side.tolist() == [0, 0, 0, 2]


def test_more_lists_than_the_kernel_takes_are_refused():
    one = np.zeros(1, np.int32)
    need = (ints([0]), ints([0]))
    with pytest.raises(IndexError):
        close(
            one, ints([0, 1]), ints([0]), one > 0, [need] * (lib.SKELGEN_CUTS_LISTS + 1)
        )
