"""Parts can be repeated, skipped and divided, and become a nest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import expand, fold
from skelgen.loops.parts import (
    NestWriter,
    Part,
    chosen,
    divided,
    first_apart,
    items_of,
    loop_of,
    nested,
    part_of,
    run_lengths,
    skipped,
    trips_apart,
)


def numbers(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def expanded(*parts: Part) -> list[int]:
    writer = NestWriter()
    writer.put(parts)
    return expand(writer.nest()).tolist()


A, B = (Part(0),), (Part(1),)


def test_a_body_that_always_runs_once_is_no_loop() -> None:
    assert loop_of(A, numbers(1, 1)) == A
    (loop,) = loop_of(A, numbers(1, 2))
    assert (loop.symbol, loop.trips.tolist()) == (-1, [1, 2])


def test_what_is_skipped_runs_at_its_places_only() -> None:
    both = A + skipped(B, 3, numbers(0, 2))
    assert expanded(*loop_of(both, numbers(3))) == [0, 1, 0, 0, 1]
    assert skipped(B, 2, numbers(0, 1)) == B


def test_nothing_repeated_or_skipped_is_nothing() -> None:
    assert loop_of((), numbers(2, 3)) == ()
    assert skipped((), 3, numbers(1)) == ()


def test_a_loop_that_is_skipped_stays_one_loop() -> None:
    loops = loop_of(B, numbers(2, 3))
    (found,) = skipped(loops, 4, numbers(1, 3))
    assert found.trips.tolist() == [0, 2, 0, 3]
    assert found.body == B


def test_some_executions_of_nested_loops_take_their_own_trips_along() -> None:
    inner = loop_of(B, numbers(1, 2, 3, 4, 5, 6))
    outer = loop_of(A + inner, numbers(2, 0, 1, 3))
    picked = chosen(outer, numbers(1, 3))
    (loop,) = picked
    assert loop.trips.tolist() == [0, 3]
    assert loop.body[1].trips.tolist() == [4, 5, 6]
    rest = chosen(outer, numbers(0, 2))
    assert expanded(*loop_of(A + rest, numbers(2))) == [
        0,
        *[0, 1, 0, 1, 1],
        0,
        *[0, 1, 1, 1],
    ]


def test_parts_are_divided_between_places() -> None:
    inner = loop_of(B, numbers(1, 2, 3, 4, 5, 6))
    outer = loop_of(A + inner, numbers(2, 0, 1, 3))
    share = numbers(1, 0, 0, 1)
    for place, own in enumerate(divided(outer, share, 2)):
        same = chosen(outer, np.flatnonzero(share == place))
        assert own[0].trips.tolist() == same[0].trips.tolist()
        assert own[0].body[1].trips.tolist() == same[0].body[1].trips.tolist()


def test_the_first_trip_of_a_loop_stands_apart() -> None:
    found = first_apart(loop_of(A, numbers(3, 1, 2)))
    assert [part.symbol for part in found] == [0, -1]
    assert found[1].trips.tolist() == [2, 0, 1]
    assert expanded(*loop_of(found + B, numbers(3))) == [0, 0, 0, 1, 0, 1, 0, 0, 1]
    assert first_apart(A + B) == A + B
    sometimes = skipped(B, 2, numbers(1))
    assert first_apart(sometimes) == sometimes


def test_items_are_leaves_and_loops() -> None:
    assert items_of(A + loop_of(A + B, numbers(2))) == 4


def test_loops_that_never_or_always_run_once_are_not_written() -> None:
    never = Part(-1, B, numbers(0, 0))
    once = Part(-1, B, numbers(1, 1))
    writer = NestWriter()
    writer.put(loop_of((*A, never, once), numbers(2)))
    assert writer.nest().body_items.tolist() == [2, 0, 0]


def test_parts_stand_in_the_place_of_leaves() -> None:
    outer = fold(np.array([7, 8, 7, 8, 7], np.int32))
    parts = [loop_of(A, numbers(3, 1)), B, A]
    assert expand(nested(outer, iter(parts))).tolist() == [0, 0, 0, 1, 0, 1, 0]


def test_runs_have_their_lengths() -> None:
    assert run_lengths(numbers(0, 0, 5)).tolist() == [[0, 2], [5, 1]]
    assert run_lengths(numbers()).tolist() == []


def test_an_item_of_a_nest_is_a_part_with_all_that_is_in_it() -> None:
    string = [0] + [1, 2, 2] * 2 + [0] + [1, 2] * 3 + [0, 1, 2, 2, 2]
    nest = fold(np.array(string, np.int32))
    assert expanded(part_of(nest, 0)) == string
    assert part_of(nest, 1).symbol == 0


def test_the_first_trips_of_a_loop_stand_by_themselves() -> None:
    inner = Part(-1, B, numbers(4, 5, 6, 7))
    loop = Part(-1, (*A, inner), numbers(3, 0, 1))
    first, second, others = trips_apart(loop, 2)
    assert first.trips.tolist() == [1, 0, 1]
    assert first.body[1].trips.tolist() == [4, 7]
    assert second.trips.tolist() == [1, 0, 0]
    assert second.body[1].trips.tolist() == [5]
    assert others.trips.tolist() == [1, 0, 0]
    assert others.body[1].trips.tolist() == [6]
