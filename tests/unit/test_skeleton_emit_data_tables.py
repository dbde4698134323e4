"""Quantities of skeletons as literals, tables and series."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skelgen.skeleton.emit.data.tables import ProgramTables
from skelgen.skeleton.emit.fragments import (
    Fragment,
    Use,
    UseKind,
    Uses,
    helpers,
    union,
)


def table(name: str) -> Uses:
    return frozenset({Use(UseKind.TABLE, name)})


def lines(tables: ProgramTables) -> list[str]:
    return tables.lines(union(table(name) for name in tables.definitions))


def test_a_constant_is_a_literal() -> None:
    tables = ProgramTables()
    size = tables.quantity("size", [np.full((3, 4), 8000.0)], [100])
    assert size == Fragment("8000")
    assert not tables.definitions


def test_what_differs_between_ranks_is_looked_up_by_row() -> None:
    tables = ProgramTables()
    size = tables.quantity("size", [np.array([[1.0], [2.0]])], [9])
    assert size == Fragment("size_0[row]", helpers("row") | table("size_0"))
    assert lines(tables) == ["static const int size_0[2] = {1, 2};"]


def test_equal_tables_are_written_once() -> None:
    tables = ProgramTables()
    values = np.array([[1.0], [2.0]])
    first = tables.quantity("gap", [values], [9])
    assert tables.quantity("gap", [values.copy()], [9]) == first
    assert len(lines(tables)) == 1


def test_a_table_that_nothing_uses_is_not_written() -> None:
    tables = ProgramTables()
    asked = tables.quantity("size", [np.array([[1.0], [2.0]])], [9])
    tables.quantity("peer", [np.array([[3.0], [4.0]])], [9])
    assert tables.lines(asked.uses) == ["static const int size_0[2] = {1, 2};"]


def test_a_series_hands_out_its_columns_over_the_run() -> None:
    tables = ProgramTables()
    values = np.array([[1.5, 2.5], [1.5, 3.5]])
    gap = tables.quantity("gap", [values], [10], read="next")
    assert gap == Fragment("next(&gap_0)", helpers("next") | table("gap_0"))
    assert tables.needs_of("gap_0") == helpers("series", "row")
    assert lines(tables) == [
        "static struct series gap_0 = "
        "{2, 1, 10, 0, (const double[]){1.5, 2.5, 1.5, 3.5}};"
    ]


def test_values_that_repeat_are_written_once() -> None:
    values = np.tile([[1.0, 3.0, 2.0]], 40)[:, :110]
    for read, written in (("count", 3), ("next", 3), ("now", 110)):
        tables = ProgramTables()
        tables.quantity("size", [values], [110], read=read)
        text = " ".join(lines(tables))
        assert text.startswith("static struct series size_0 = ")
        assert f"{{{written}, 0, {written if written == 3 else 110}, 0, " in text
        assert replayed(tables, text, 110) == values[0].tolist()


def test_long_tables_have_lines_that_fit() -> None:
    tables = ProgramTables()
    tables.quantity("gap", [np.arange(400.0).reshape(4, 100) + 0.5], [100])
    tables.constant("int", "to", np.arange(400.0).reshape(100, 4))
    assert max(len(line.expandtabs()) for line in lines(tables)) <= 100
    numbers = re.findall(r"[\d.]+(?=[,}])", "".join(lines(tables)[1:]))
    assert numbers.count("399") == 1 and numbers.count("399.5") == 1


@given(
    arrays(
        np.int64, st.tuples(st.just(1), st.integers(1, 40)), elements=st.integers(0, 2)
    )
)
def test_values_in_turn_come_back_in_order(values: np.ndarray) -> None:
    tables = ProgramTables()
    expression = tables.in_turn("peer", values).text
    assert list(replayed(tables, expression, values.shape[1])) == list(values[0])


def replayed(tables: ProgramTables, expression: str, count: int) -> list[int]:
    """Do what the C functions next() and next_run() do."""
    if expression.isdecimal():
        return [int(expression)] * count
    (head, inside) = "".join(lines(tables)).split("(const double[]", 1)
    values = list(map(float, re.findall(r"[\d.]+", inside.removeprefix("[2]"))))
    if "struct runs" in head:
        pairs = zip(values[::2], values[1::2], strict=True)
        runs = [value for value, often in pairs for _ in range(int(often))]
        return [int(runs[k % len(runs)]) for k in range(count)]
    columns, by_row, occurrences, _ = map(int, re.findall(r"(\d+),", head))
    assert not by_row
    taken, now = [], 0
    for _ in range(count):
        taken.append(int(values[now * columns // occurrences]))
        now = now + 1 if now + 1 < occurrences else 0
    return taken


def test_a_long_run_of_equal_values_is_short() -> None:
    tables = ProgramTables()
    values = np.repeat([[1, 2, 1]], [5000, 7000, 3], axis=1)
    assert tables.in_turn("peer", values).text == "(int)next_run(&peer_0)"
    assert sum(len(line) for line in lines(tables)) < 100


def test_a_call_at_two_places_counts_once() -> None:
    tables = ProgramTables()
    values = np.array([[1.0, 2.0, 4.0]])
    first = tables.quantity("size", [values], [9], owner="a call")
    assert tables.quantity("size", [values], [9], owner="a call") == first
    assert tables.quantity("size", [values], [9], owner="another") != first


def test_places_of_a_text_choose_with_at() -> None:
    tables = ProgramTables()
    one, two = np.array([[3.0], [3.0]]), np.array([[4.0], [4.0]])
    assert tables.quantity("size", [one, one], [5, 6]).text == "3"
    assert tables.quantity("size", [one, two], [5, 6]).text == "size_0[at]"
    by_row = np.array([[1.0], [2.0]])
    assert tables.quantity("size", [one, by_row], [5, 6]).text == "size_1[at][row]"
    assert tables.quantity("size", [by_row, by_row], [5, 6]).text == "size_2[row]"


def test_series_at_several_places_count_apart() -> None:
    tables = ProgramTables()
    one, two = np.array([[3.0, 4.0]]), np.array([[5.0]])
    gap = tables.quantity("gap", [one, two], [8, 9], read="next")
    assert gap.text == "next(&gap_0[at])"
    assert Use(UseKind.PLACE, "at") in gap.uses
    assert tables.needs_of("gap_0") == helpers("series", "ONE")
    assert lines(tables) == [
        "static struct series gap_0[2] = "
        "{{2, 0, 8, 0, (const double[]){3, 4}}, ONE(5)};",
    ]
