"""Pieces of a level are joined pieces of the level below, and no time is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skelgen.timeline.pieces import merged, pieces_of, spread
from skelgen.timeline.types import THING_BITS, Pieces, RankWork

#: Things: computation, absence, a message, waiting in it, a collective.
WORK = np.array(
    [
        RankWork.COMPUTATION,
        RankWork.ABSENT,
        RankWork.POINT_TO_POINT,
        RankWork.WAITING,
        RankWork.COLLECTIVE,
    ],
    np.int64,
)
times = st.lists(
    st.tuples(st.integers(1, 5000), st.integers(0, len(WORK) - 1)),
    min_size=1,
    max_size=80,
)


def at(level: int, spent: list[tuple[int, int]]) -> Pieces:
    length, thing = (np.array(one, np.int64) for one in zip(*spent, strict=True))
    return pieces_of(0, length, thing, WORK, level)


def same(one: Pieces, two: Pieces) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in Pieces.__slots__
    )


@given(times, st.integers(0, 14))
def test_each_level_has_the_time_of_each_kind_of_work(spent, level):
    expected = np.zeros(len(RankWork), np.int64)
    for length, thing in spent:
        expected[WORK[thing]] += length
    found = at(level, spent)
    assert np.array_equal(found.times_ns.sum(axis=0), expected)
    assert np.array_equal(found.times_ns.sum(axis=1), found.length_ns)
    ends = np.cumsum(found.length_ns)
    assert np.array_equal(found.begin_ns, np.append(0, ends[:-1]))


@given(times, st.integers(0, 13), st.integers(0, 4))
def test_joining_a_level_gives_what_the_calls_give_at_the_next(spent, level, more):
    assert same(merged(at(level, spent), level + more), at(level + more, spent))


@given(times, st.integers(0, 13))
def test_a_piece_is_made_of_whole_pieces_of_the_level_below(spent, level):
    fine, coarse = at(level, spent), at(level + 1, spent)
    assert set(coarse.begin_ns.tolist()) <= set(fine.begin_ns.tolist())
    for begin, length, row in zip(
        coarse.begin_ns, coarse.length_ns, coarse.times_ns, strict=True
    ):
        inside = (fine.begin_ns >= begin) & (fine.begin_ns < begin + length)
        assert np.array_equal(fine.times_ns[inside].sum(axis=0), row)


@given(times, st.integers(0, 14))
def test_what_takes_the_width_is_a_piece_of_its_own_and_others_are_short(spent, level):
    found = at(level, spent)
    long = [length for length, _ in spent if length >= 1 << level]
    alone = found.whole & (found.length_ns >= 1 << level)
    assert found.length_ns[alone].tolist() == long
    assert (found.length_ns[~found.whole] < 2 << level).all()


@given(times, st.integers(0, 14))
def test_the_longest_call_of_a_piece_is_kept(spent, level):
    found = at(level, spent)
    calls = [(length, thing) for length, thing in spent if thing > 1]
    longest = found.longest.max()
    expected = max(calls, default=(0, 0))
    assert (longest >> THING_BITS, longest & (1 << THING_BITS) - 1) == expected


def test_joining_goes_on_where_blocks_of_calls_meet():
    spent = [(3, 0), (2, 2), (4, 0), (1, 4), (900, 0), (2, 2)]
    parts = [at(6, spent[:2])]
    length, thing = (np.array(one, np.int64) for one in zip(*spent[2:], strict=True))
    parts.append(pieces_of(5, length, thing, WORK, 6))
    assert same(merged(Pieces.joined(parts), 6), at(6, spent))


@given(times, st.integers(0, 12), st.integers(1, 40))
def test_cells_have_the_time_of_the_pieces_that_they_divide(spent, level, count):
    pieces = at(level, spent)
    end = int(pieces.length_ns.sum())
    edges = np.rint(np.linspace(0, end, count + 1)).astype(np.int64)
    cells = spread(pieces, edges)
    assert np.array_equal(cells.times_ns.sum(axis=0), pieces.times_ns.sum(axis=0))
    assert (cells.times_ns >= 0).all()
    filled = cells.times_ns.sum(axis=1)
    assert (np.abs(filled - cells.length_ns) <= len(RankWork)).all()


def test_a_call_over_several_cells_is_named_in_each_of_them():
    pieces = at(0, [(10, 0), (80, 4), (10, 0)])
    cells = spread(pieces, np.arange(0, 101, 20))
    assert (cells.longest & (1 << THING_BITS) - 1).tolist() == [4] * 5
