"""Folding is exact, as short as the program, and does what its plain twin does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.loops import Nest, children, expand, fold, same
from tests.loop_programs import execute, items_of, loop_program
from tests.twins.loops_kernel import fold_plain


def letters(text: str) -> NDArray[np.int32]:
    return np.array([ord(letter) - ord("a") for letter in text], np.int32)


def written(nest: Nest) -> str:
    """Write a nest as text: [body]trips, 3x2 for three trips in two executions."""

    def part(items: list[int]) -> str:
        return " ".join(map(item, items))

    def item(place: int) -> str:
        if not nest.body_items[place]:
            return chr(ord("a") + int(nest.symbol[place]))
        rows = nest.trips[nest.trips_first[place] : nest.trips_first[place + 1]]
        counts = ",".join(f"{t}" if e == 1 else f"{t}x{e}" for t, e in rows.tolist())
        return f"[{part(children(nest, place))}]{counts}"

    return part(children(nest))


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("ab", "a b"),
        ("aaaaaaa", "[a]7"),
        ("abab", "[a b]2"),
        ("abcabcabd", "[a b c]2 a b d"),
        ("xyyyyxyyxyxyyyyyxyy", "[x [y]4,2,1,5,2]5"),
        ("yyyxyyxyx", "[[y]3,2,1 x]3"),
        ("gxyxygxyxyxygxy", "[g [x y]2,3,1]3"),
        ("abababcababc" * 2 + "ab", "[[a b]3,2,3,2 c]4 a b"),
    ],
)
def test_short_strings_fold_as_a_person_would(string: str, expected: str) -> None:
    assert written(fold(letters(string))) == expected


def test_the_example_of_the_paper_folds_as_in_the_paper() -> None:
    nest = fold(letters("abbgbbgbbgkaa"))
    assert written(nest) == "a [[b]2x3 g]3 k [a]2"


def test_an_inner_loop_that_ran_once_first_matches_its_siblings() -> None:
    string = "abc" + "ababc" + "ababababc" + "abc" + "ababc"
    assert written(fold(letters(string))) == "[[a b]1,2,4,1,2 c]5"


def test_the_end_of_a_loop_that_goes_on_is_an_inner_loop() -> None:
    string = "gxy" * 3 + "gxyxy" + "gxyxyxy" + "gxy" * 2
    assert written(fold(letters(string))) == "[g [x y]1x3,2,3,1x2]7"


def test_molecular_dynamics_is_two_nested_loops() -> None:
    step, rebuild = [1, 2, 3, 4, 5], [6, 7, 1, 2, 8]
    nest = fold(np.array([0, 9, *(step * 19 + rebuild) * 85, 11, 12], np.int32))
    assert len(nest) == 16
    assert nest.trips.tolist() == [[85, 1], [19, 85]]


def test_a_rare_deviation_leaves_two_loops_with_the_same_body() -> None:
    string = letters("abcdef" * 50 + "abc" + "z" + "def" + "abcdef" * 40)
    nest = fold(string)
    assert written(nest) == "[a b c d e f]50 a b c z d e f [a b c d e f]40"


def test_a_deviation_that_comes_back_is_nested() -> None:
    string = letters(("abcd" * 50 + "abxcd") * 30 + "abcd" * 10)
    assert written(fold(string)) == "[[a b c d]50x30 a b x c d]30 [a b c d]10"


@pytest.mark.parametrize("seed", range(4))
def test_noise_costs_items_near_the_noise_only(seed: int) -> None:
    chance = np.random.default_rng(seed)
    step = [*([0, 1, 2] * 10), 3, *([4, 5] * 5), 6, 6, 6, 6]
    string = np.array((step * 19 + [7, 8, 9]) * 250, np.int32)
    wrong = np.flatnonzero(chance.random(len(string)) < 1e-4)
    string[wrong] = chance.integers(20, 40, len(wrong))
    nest = fold(string)
    assert np.array_equal(expand(nest), string)
    assert len(wrong) > 5
    assert len(nest) < 50 * (len(wrong) + 1)


@pytest.mark.parametrize("symbols", [20, 1000])
def test_a_long_flat_body_is_found_whatever_its_symbols(symbols: int) -> None:
    body = np.random.default_rng(symbols).integers(0, symbols, 20_000)
    string = np.tile(body, 5).astype(np.int32)
    nest = fold(string)
    assert np.array_equal(expand(nest), string)
    assert len(nest) <= 20_001


def test_programs_whose_symbols_differ_come_back_with_their_items() -> None:
    for seed in range(500):
        program = loop_program(random.Random(seed), symbols=0)
        string = np.array(execute(program), np.int32)
        nest = fold(string)
        assert np.array_equal(expand(nest), string)
        assert len(nest) <= items_of(program)


def test_programs_that_share_symbols_seldom_come_back_longer() -> None:
    longer = 0
    for seed in range(500):
        program = loop_program(random.Random(seed), symbols=50)
        longer += len(fold(np.array(execute(program), np.int32))) > items_of(program)
    assert longer <= 60


symbols = st.one_of(
    st.lists(st.integers(0, 1), max_size=80),
    st.lists(st.integers(0, 4), max_size=200),
    st.lists(st.integers(0, 2**31 - 1), max_size=60),
    st.builds(
        lambda seed, count: execute(loop_program(random.Random(seed), count)),
        st.integers(0, 10**6),
        st.sampled_from([0, 3, 8, 30]),
    ),
)


@settings(max_examples=300, deadline=None)
@given(symbols)
def test_expanding_gives_the_string_back(string: list[int]) -> None:
    nest = fold(np.array(string, np.int32))
    assert expand(nest).tolist() == string


@settings(max_examples=150, deadline=None)
@given(symbols)
def test_loops_repeat_and_their_bodies_have_no_single_loop(string: list[int]) -> None:
    nest = fold(np.array(string, np.int32))
    for loop in np.flatnonzero(nest.body_items):
        rows = nest.trips[nest.trips_first[loop] : nest.trips_first[loop + 1]]
        assert (rows > 0).all()
        assert (np.diff(rows[:, 0]) != 0).all()
        assert rows[:, 0].max() > 1
        assert len(children(nest, int(loop))) > 1 or nest.body_items[loop] == 1


@pytest.mark.parametrize("hundred", range(30))
def test_the_kernel_does_what_its_plain_twin_does(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        chance = random.Random(seed)
        if seed % 2:
            program = loop_program(chance, chance.choice([0, 3, 8, 30]))
            string = execute(program)[:800]
        else:
            count = chance.choice([2, 3, 4, 8, 50])
            string = [chance.randrange(count) for _ in range(chance.randint(0, 150))]
        array = np.array(string, np.int32)
        assert same(fold(array), fold_plain(array))


@pytest.mark.parametrize("length", [1023, 1024, 1025, 5000])
def test_the_twins_agree_on_stacks_that_outgrow_their_keys(length: int) -> None:
    body = np.random.default_rng(length).integers(0, 60, length)
    for string in (body, np.tile(body, 3)):
        array = string.astype(np.int32)
        assert same(fold(array), fold_plain(array))


@settings(max_examples=60, deadline=None)
@given(symbols, st.integers(2, 4))
def test_long_stretches_that_repeat_are_one_loop(string: list[int], times: int) -> None:
    """However few times, and whatever stands in them, the twins agree on it."""
    long = np.array((string + list(range(200, 240))) * times, np.int32)
    found = fold(long)
    assert np.array_equal(expand(found), long)
    assert same(found, fold_plain(long))


def common_stretches(length: int, steps: int, different: int) -> list[int]:
    """Return a stretch many times, with one of some other symbols behind each."""
    chance = random.Random(f"{length} {steps} {different}")
    common = [chance.randrange(50) for _ in range(length)]
    return [
        symbol
        for step in range(steps)
        for symbol in (*common, 100 + (step if different else chance.randrange(3)))
    ]


@pytest.mark.parametrize("steps", [5, 12, 40])
def test_a_body_in_which_a_stretch_comes_often_is_found(steps: int) -> None:
    body = common_stretches(70, steps, True)
    nest = fold(np.array(body * 2, np.int32))
    assert len(nest) <= len(body) + 1


@settings(max_examples=15, deadline=None)
@given(
    st.integers(33, 60), st.integers(2, 14), st.booleans(), st.integers(0, 200), symbols
)
def test_the_twins_agree_where_a_stretch_comes_often(
    length: int, steps: int, different: bool, first: int, between: list[int]
) -> None:
    body = common_stretches(length, steps, different)
    string = np.array([*(body * 2)[first:], *between, *body, *body], np.int32)
    assert same(fold(string), fold_plain(string))


@pytest.mark.parametrize("seed", range(8))
def test_what_is_read_again_is_reduced_as_the_plain_twin_does(seed: int) -> None:
    """Its items are copied where all that decides is as before."""
    chance = np.random.default_rng(seed)
    string = np.tile(chance.integers(0, 30, 2000 + seed), 4)
    if seed % 2:
        string[chance.integers(0, len(string), 2)] = 31
    array = np.concatenate([string, string[: 300 * seed]]).astype(np.int32)
    found = fold(array)
    assert np.array_equal(expand(found), array)
    assert same(found, fold_plain(array))


def test_a_string_without_repeats_stays_as_it_is() -> None:
    nest = fold(np.arange(100_000, dtype=np.int32))
    assert not nest.body_items.any()
    assert nest.symbol.tolist() == list(range(100_000))
    assert nest.trips.shape == (0, 2)


def test_loops_do_not_become_deeper_than_the_limit() -> None:
    string: list[int] = []
    for symbol in range(200):
        string = [*string[-400:], symbol, *string[-400:], symbol]
    nest = fold(np.array(string, np.int32))
    assert expand(nest).tolist() == string


def test_negative_symbols_are_refused() -> None:
    with pytest.raises(InputError, match="none below 0"):
        fold(np.array([1, -1], np.int32))


def test_a_slice_of_a_longer_array_folds_like_a_copy_of_it() -> None:
    table = np.tile(np.array([[1, 9], [2, 9], [3, 9]], np.int32), (20, 1))
    assert same(fold(table[:, 0]), fold(table[:, 0].copy()))
