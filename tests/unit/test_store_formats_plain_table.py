"""A table that is read column by column gives what its cells give one by one."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.store.formats import csv_text
from skelgen.store.formats.plain_table import plain_runs
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run

FILE = Path("runs.csv")
_HEADERS = (
    ("app", "time", "ranks", "n", "hosts", "started", "status", "load.cpu"),
    ("time_ms", "mesh", "n", "input.ranks", "id"),
    ("time", "source", "cost.cpu_s", "nodes", "n"),
)
_CELLS = st.sampled_from(
    "1|8|2.5|-3|+4|1e3|1e-99999|1e400|1e|5.|.5|e|-|| | 7 |1_0|nan|inf|3,5|3.5 ms|2 s|"
    'fine|"5"|٣|n1 n2|n[1-3]|2026-01-31|1700000000.5|ok|exit 3|é|1e149'.split("|")
)
_PLAIN = st.sampled_from(["1", "8", "2.5", "1e3", "12.75", "0.1"])
_KNOWN = st.sampled_from(
    [
        NOTHING,
        TypedValues("heat"),
        TypedValues("heat", (("n", 8.0),)),
        TypedValues(otherwise="heat"),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    headers = draw(st.sampled_from(_HEADERS))
    odd = draw(st.booleans())
    cells = _CELLS if odd else _PLAIN
    rows = draw(
        st.lists(
            st.lists(cells, min_size=len(headers), max_size=len(headers)),
            min_size=1,
            max_size=4,
        )
    )
    if not odd and "app" in headers:
        rows = [["heat", *row[1:6], "ok", row[7]] for row in rows]
    return "".join(f"{';'.join(row)}\n" for row in (headers, *rows))


def read(text: str, known: TypedValues) -> tuple[list[Run], str]:
    """Return the runs of a table, or what is said of it."""
    try:
        return csv_text.read_csv(FILE, text.encode(), {}, known)[0], ""
    except InputError as error:
        return [], str(error)


@given(tables(), _KNOWN)
def test_both_ways_to_read_a_table_give_the_same(text, known):
    found = read(text, known)
    with patch.object(csv_text, "plain_runs", lambda *_: None):
        assert repr(read(text, known)) == repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "app,time,n,hosts\nheat,1.5,2000,n1 n2\nheat,2.5,fine,n[1-2]\n",
        "app,time,n,started\nheat,1.5,,2026-01-31T12:00:00Z\nheat,1e-3,7,\n",
        'app,time,n\n"he,at",1.5,2\n',
    ],
)
def test_plain_tables_are_read_column_by_column(text):
    with patch.object(csv_text, "Reader", side_effect=AssertionError("cell by cell")):
        runs = csv_text.read_csv(FILE, text.encode(), {})[0]
    assert len(runs) == text.count("\n") - 1
    assert runs[0].source == "runs.csv line 2"


@pytest.mark.parametrize(
    "text",
    [
        'app,time,n\nheat,1.5,"a\nb"\n',
        "app,time,n\nheat,1.5 ms,1\n",
        "app,time,n\nheat,1.5\n",
        "app,time,n\n\nheat,1.5,1\n",
        "app,time,n\nheat,1.5,nan\n",
        'app,time,n\nheat,1.5,"x\n',
    ],
)
def test_other_tables_are_left_to_the_one_that_knows_lines_and_columns(text):
    columns = csv_text.columns_of(["app", "time", "n"], {}).used
    by_place = dict(enumerate(columns))
    assert plain_runs("runs.csv", text, ",", by_place, NOTHING) is None


def test_identities_are_those_that_stores_have():
    text = "app,time_s,ranks,n,hosts,started\nheat,12.5,8,2000,n1 n2,1.7e9\n"
    assert read(text, NOTHING)[0][0].identity == "8afa41f5bb74cbb6"
    undated = read("app,time_s,n\nheat,12.5,2\nheat,12.5,2\n", NOTHING)[0]
    assert [run.identity for run in undated] == ["c1764a8c7efc64c9", "d9821ead17f845ab"]
