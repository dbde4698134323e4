"""Folding: exact, as short as the program, and the same as its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import Nest, children, expand, fold, positions, same
from skelgen.loops.unfold import length_of
from skelgen.loops.plain import fold_plain


def written(nest: Nest) -> str:
    """Write a nest as text: (body)trips with executions of different trips."""

    def part(items: list[int]) -> str:
        return "".join(item(i) for i in items)

    def item(i: int) -> str:
        if not nest.body_items[i]:
            return chr(ord("a") + int(nest.symbol[i]))
        rows = nest.trips[nest.trips_first[i] : nest.trips_first[i + 1]]
        counts = ",".join(f"{t}" if e == 1 else f"{t}x{e}" for t, e in rows)
        return f"({part(children(nest, i))}){counts} "

    return part(children(nest)).strip()


def letters(text: str) -> np.ndarray:
    return np.array([ord(letter) - ord("a") for letter in text], np.int32)


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("aaaaaaa", "(a)7"),
        ("abcabcabd", "(abc)2 abd"),
        ("abbgbbgbbgkaa", "a((b)2x3 g)3 k(a)2"),
        ("xyyyyxyyxyxyyyyyxyy", "(x(y)4,2,1,5,2 )5"),
        ("yyyxyyxyx", "((y)3,2,1 x)3"),
        ("abcqbcabcabc", "abcq(bca)2 bc"),
    ],
)
def test_short_strings_fold_as_a_person_would(string: str, expected: str) -> None:
    assert written(fold(letters(string))) == expected


def test_an_inner_loop_that_ran_once_matches_its_siblings() -> None:
    assert written(fold(letters("abbbc" + "abc" + "abbc"))) == "(a(b)3,1,2 c)3"


def test_molecular_dynamics_is_two_nested_loops() -> None:
    step, rebuild = [1, 2, 3, 4, 5], [6, 7, 1, 2, 8]
    string = np.array([0, 9, *(step * 19 + rebuild) * 85, 11, 12])
    nest = fold(string)
    assert len(nest) == 16
    assert nest.trips.tolist() == [[85, 1], [19, 85]]


def test_a_rare_deviation_splits_a_loop_into_two_of_the_same_body() -> None:
    body = list(range(6))
    string = body * 50 + [0, 1, 2, 9, 3, 4, 5] + body * 40
    nest = fold(string)
    assert nest.trips.tolist() == [[50, 1], [40, 1]]
    assert len(nest) == 2 * 7 + 7


def test_negative_symbols_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        fold([1, -1])


def test_trip_counts_that_run_out_are_refused() -> None:
    nest = fold(letters("abbabb"))
    wrong = Nest(nest.body_items, nest.symbol, nest.trips_first, nest.trips * [2, 1])
    broken = Nest(
        nest.body_items, nest.symbol, nest.trips_first, np.array([[3, 1], [2, 2]])
    )
    assert length_of(wrong) != length_of(nest)
    with pytest.raises(ValueError, match="trip counts"):
        expand(broken)


Program = list["int | tuple[Program, int]"]
programs = st.recursive(
    st.lists(st.integers(0, 30), min_size=1, max_size=5),
    lambda inner: st.lists(
        st.one_of(st.integers(0, 30), st.tuples(inner, st.integers(1, 6))),
        min_size=1,
        max_size=4,
    ),
    max_leaves=12,
)


def execute(program: Program, limit: int = 20_000) -> list[int]:
    string: list[int] = []
    for item in program:
        if isinstance(item, tuple):
            for _ in range(item[1]):
                string += execute(item[0], limit - len(string))
        else:
            string.append(item)
        if len(string) > limit:
            return string[:limit]
    return string


def items_of(program: Program) -> int:
    return sum(1 + items_of(i[0]) if isinstance(i, tuple) else 1 for i in program)


strings = st.one_of(
    st.lists(st.integers(0, 1), max_size=80),
    st.lists(st.integers(0, 4), max_size=200),
    st.lists(st.integers(0, 200), max_size=60),
    programs.map(execute),
)


@settings(max_examples=400, deadline=None)
@given(strings)
def test_expanding_gives_the_string_back(string: list[int]) -> None:
    nest = fold(string)
    assert expand(nest).tolist() == string
    leaves = nest.symbol[nest.body_items == 0]
    assert leaves[positions(nest)].tolist() == string
    assert length_of(nest) == len(string)


@settings(max_examples=300, deadline=None)
@given(strings)
def test_the_kernel_does_what_its_plain_twin_does(string: list[int]) -> None:
    string = string[:3000]
    assert same(fold(string), fold_plain(string))


@settings(max_examples=200, deadline=None)
@given(programs)
def test_a_nest_is_hardly_longer_than_the_program(program: Program) -> None:
    string = execute(program)
    if len(string) < 20_000:
        assert len(fold(string)) <= 2 * items_of(program) + 4
