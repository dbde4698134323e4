"""Rows that come through a server carry the name of who sent them."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace

import pytest
from hypothesis import given

from skelgen.pipeline.authors import own_name, signed
from skelgen.store import Row, Run, StoredModel
from tests.store_rows import ROWS, RUNS


@given(RUNS)
def test_runs_say_who_sent_them_whatever_they_said_before(run: Run) -> None:
    (found,) = signed([run], "ada")
    assert found == replace(run, author="ada")


@given(ROWS)
def test_what_has_no_author_stays_as_it_is(row: Row) -> None:
    if not isinstance(row, (Run, StoredModel)):
        assert signed([row], "ada") == (row,)


def test_a_model_that_cannot_be_read_stays_as_it_is() -> None:
    broken = StoredModel("m", "a", 1.0, "no model")
    assert signed([broken], "ada") == (broken,)


def test_a_user_without_a_name_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert own_name() == str(os.getuid())
