"""Answers of store show: all that is known of a row, whatever its kind."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given

from skelgen.cli.main import run
from skelgen.documents.json_answers import plain
from skelgen.results import to_json
from skelgen.results.stored_rows import shown_row
from skelgen.results.table import RESULTS
from skelgen.store import Coupling, Fact, Run, Series, Template, open_store
from skelgen.store.kinds import kinds
from skelgen.store.lines import to_line
from tests.answers import check_answer
from tests.store_rows import ROWS

SHOWN = ROWS.filter(lambda row: not isinstance(row, Series))


@given(SHOWN)
def test_any_row_is_shown_with_all_that_a_line_of_an_export_says(row):
    answer = to_json(shown_row("r1", row))
    check_answer(answer)
    assert answer["id"] == "r1"
    if isinstance(row, Run):  # its names are older than those of lines
        return
    line = plain(to_line(row))
    assert {name: answer[name] for name in line} == line
    assert {one.name for one in fields(row)} < set(answer)


def test_each_kind_of_row_that_has_an_identity_has_an_answer():
    names = {one.result for one in RESULTS}
    words = {*kinds()} - {"run", "series"}
    assert {f"store-show-{word}" for word in words} <= names


ROWS_OF_KINDS = {
    "fact": Fact("n1", "float_multiply_add", 2e9, "1/s", 1.9e9, 2.1e9),
    "template": Template("loop", "heat", "a*n", ("n",)),
    "coupling": Coupling("heat", ("solve", "swap"), 0.25, (("n", 10.0),)),
}


@pytest.mark.parametrize("word", ROWS_OF_KINDS)
def test_the_command_prints_the_answer_and_people_read_the_same(tmp_path, capsys, word):
    place, row = str(tmp_path / "store.db"), ROWS_OF_KINDS[word]
    with open_store(place) as store:
        (added,) = store.add([row]).added
    assert run(["store", "show", added.run[:6], "--store", place, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["result"] == f"store-show-{word}"
    assert answer == to_json(shown_row(added.run, row))
    assert run(["store", "show", added.run[:6], "--store", place]) == 0
    lines = dict(
        line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()
    )
    assert (lines["row"], lines["id"]) == (word, added.run)
