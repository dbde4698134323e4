"""Rows as lines: what is read is what was written, and nothing is trusted."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents import json_field, sealed_json
from skelgen.errors import InputError
from skelgen.store import Message, Run, Series
from skelgen.store.lines import content_of, from_field, identity_of, to_line
from tests.store_rows import ROWS, same

FILE = Path("runs.jsonl")


def read(text: str) -> object:
    return from_field(json_field(text, FILE, "line 1"))


@given(ROWS)
def test_every_row_comes_back_from_its_line(row: object) -> None:
    assert same(read(sealed_json(to_line(row), indent=None)), row)


@given(ROWS, st.data())
def test_a_line_with_other_values_is_refused_in_one_line(
    row: object, data: st.DataObject
) -> None:
    line = json.loads(json.dumps(to_line(row)))
    name = data.draw(st.sampled_from(sorted(line)))
    line[name] = data.draw(
        st.one_of(st.none(), st.booleans(), st.just([[1]]), st.just({"a": [None]}))
    )
    try:
        found = read(json.dumps(line))
    except InputError as error:
        assert "\n" not in str(error)
        assert str(FILE) in str(error)
    else:
        assert type(found) is type(row)


def test_a_line_names_what_is_wrong_and_where() -> None:
    with pytest.raises(InputError, match=r"line 1: parts\[1\]: the field 'kind'"):
        read(
            '{"row":"run","application":"a","time_s":1,"parts":'
            '[{"name":"p","kind":"phase","time_s":1},{"name":"q","time_s":1}]}'
        )
    with pytest.raises(InputError, match="the field 'time_s' is missing"):
        read('{"row":"run","application":"a"}')
    with pytest.raises(InputError, match="read the field 'rank', expected row, app"):
        read('{"row":"run","application":"a","time_s":1,"rank":2}')
    with pytest.raises(InputError, match="'row' is none of run, fact"):
        read('{"row":"walk"}')
    with pytest.raises(InputError, match=r"ranks: read 8\.5, expected an integer"):
        read('{"row":"run","application":"a","time_s":1,"ranks":8.5}')


def test_what_no_store_can_hold_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="application: read a zero byte"):
        content_of(Run("a\0b", 1.0))
    with pytest.raises(InputError, match="half of a character"):
        content_of(Run("a", 1.0, hosts=("n\ud800",)))
    with pytest.raises(InputError, match="time_s: read inf, expected a finite number"):
        content_of(Run("a", math.inf))
    with pytest.raises(InputError, match=r"inputs\.'n': read nan"):
        content_of(Run("a", 1.0, inputs=(("n", math.nan),)))
    with pytest.raises(InputError, match="inputs: read a name twice"):
        content_of(Run("a", 1.0, inputs=(("n", 1.0), ("n", 2.0))))
    with pytest.raises(InputError, match="ranks: read -1, expected 0"):
        content_of(Run("a", 1.0, ranks=-1))
    with pytest.raises(InputError, match="times that do not rise"):
        content_of(Series("n1", "cpu", (2.0, 1.0), (0.0, 0.0)))
    with pytest.raises(InputError, match="2 times and 1 values"):
        content_of(Series("n1", "cpu", (1.0, 2.0), (0.0,)))


def test_a_name_that_looks_like_an_escape_is_no_zero_byte() -> None:
    assert "u0000" in content_of(Run("a\\u0000", 1.0))


def test_equal_rows_that_were_read_share_an_identity() -> None:
    one = Run("a", 1.0, inputs=(("n", 2.0),), source="runs.csv line 3")
    whole = Run("a", 1, inputs=(("n", 2),), source="runs.csv line 3")
    assert identity_of(one) == identity_of(whole)
    assert identity_of(one) != identity_of(Run("a", 1.5, source="runs.csv line 3"))
    message = Message(("n1",), "SR", 2, 1e-6, 1e9, measured=1.0)
    assert identity_of(message) == identity_of(message)


def test_a_run_that_was_typed_twice_is_two_runs() -> None:
    assert identity_of(Run("a", 1.0)) != identity_of(Run("a", 1.0))


def test_the_order_of_inputs_changes_no_identity() -> None:
    one = Run("a", 1.0, inputs=(("m", 1.0), ("n", 2.0)), source="x")
    other = Run("a", 1.0, inputs=(("n", 2.0), ("m", 1.0)), source="x")
    assert identity_of(one) == identity_of(other)
