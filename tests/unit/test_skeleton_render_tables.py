"""Quantities of skeletons as literals, tables and series."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skelgen.skeleton.render_tables import Tables


def test_a_constant_is_a_literal() -> None:
    tables = Tables()
    assert tables.quantity("size", np.full((3, 4), 8000.0), 100) == "8000"
    assert not tables.tables and not tables.by_row


def test_what_differs_between_ranks_is_looked_up_by_row() -> None:
    tables = Tables()
    assert tables.quantity("size", np.array([[1.0], [2.0]]), 9) == "size_0[row]"
    assert tables.by_row
    assert tables.tables[0].lines == ("{1, 2}",)


def test_equal_tables_are_written_once() -> None:
    tables = Tables()
    values = np.array([[1.0], [2.0]])
    first = tables.quantity("gap", values, 9)
    assert tables.quantity("gap", values.copy(), 9) == first
    assert len(tables.tables) == 1


def test_a_series_hands_out_its_columns_over_the_run() -> None:
    tables = Tables()
    values = np.array([[1.5, 2.5], [1.5, 3.5]])
    assert tables.quantity("gap", values, 10, whole=False) == "next(&gap_series_0)"
    (series,) = tables.series
    assert (series.columns, series.by_row, series.occurrences) == (2, True, 10)


@given(
    arrays(
        np.int64, st.tuples(st.just(1), st.integers(1, 40)), elements=st.integers(0, 2)
    )
)
def test_values_in_turn_come_back_in_order(values: np.ndarray) -> None:
    tables = Tables()
    expression = tables.in_turn("peer", values)
    assert list(replayed(tables, expression, values.shape[1])) == list(values[0])


def replayed(tables: Tables, expression: str, count: int) -> list[int]:
    """Do what the C functions next() and next_run() do."""
    if expression.isdecimal():
        return [int(expression)] * count
    content = {
        table.name: [
            float(word) for word in re.findall(r"[\d.]+", "".join(table.lines))
        ]
        for table in tables.tables
    }
    if tables.runs:
        ((_, name, rows),) = tables.runs
        flat = content[name]
        runs = [
            value for i in range(rows) for value in [flat[2 * i]] * int(flat[2 * i + 1])
        ]
        return [int(runs[k % len(runs)]) for k in range(count)]
    (series,) = tables.series
    taken = []
    now = 0
    for _ in range(count):
        column = now * series.columns // series.occurrences
        taken.append(int(content[series.values][column]))
        now = now + 1 if now + 1 < series.occurrences else 0
    return taken


def test_a_long_run_of_equal_values_is_short() -> None:
    tables = Tables()
    values = np.repeat([[1, 2, 1]], [5000, 7000, 3], axis=1)
    assert tables.in_turn("peer", values) == "(int)next_run(&peer_runs_0)"
    assert sum(len(line) for line in tables.tables[0].lines) < 60


def test_a_call_at_two_places_counts_once() -> None:
    tables = Tables()
    values = np.array([[1.0, 2.0, 4.0]])
    first = tables.quantity("size", values, 9, owner="a call")
    assert tables.quantity("size", values, 9, owner="a call") == first
    assert tables.quantity("size", values, 9, owner="another") != first
