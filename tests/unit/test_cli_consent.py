"""What is printed for people does nothing to their terminal, and they are asked."""

from __future__ import annotations

import logging

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from skelgen.cli import options
from skelgen.cli.main import _Format
from skelgen.cli.options import consent_of
from skelgen.cli.output import complain, print_facts, print_table, say, shown
from tests.adversary.payloads import OBEYED

ESCAPES = "a\x1b[2J\x9b2J\x07\r\b\u202eb\u2066c"


@given(st.text())
def test_what_is_shown_has_nothing_that_a_terminal_obeys(text):
    assert not OBEYED.search(shown(text))
    assert "\n" not in shown(text)
    assert shown(text) == text or "\\" in shown(text)


def test_nothing_that_is_printed_moves_the_cursor(capsys):
    say(ESCAPES)
    complain(ESCAPES)
    print_facts([("name", ESCAPES), (ESCAPES, "value")])
    print_table(["head", ESCAPES], [[ESCAPES, "x"]], title=ESCAPES)
    out, err = capsys.readouterr()
    assert not OBEYED.search(out + err)
    assert "a\\x1b[2J" in out
    assert "a\\x1b[2J" in err


def test_nothing_that_is_logged_moves_the_cursor_or_begins_a_line():
    record = logging.LogRecord(
        "x", logging.WARNING, "", 0, "%s", (f"{ESCAPES}\n",), None
    )
    line = _Format().format(record)
    assert not OBEYED.search(line)
    assert line.endswith("c\\x0a")


def test_a_person_at_a_terminal_is_asked(monkeypatch, capsys):
    answers = iter([True, False])
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: next(answers))
    for stream in (options.sys.stdin, options.sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    consent = consent_of(False)
    assert consent.to(f"run: {ESCAPES}")
    assert not consent.to("run: x")
    assert "run: a\\x1b[2J" in capsys.readouterr().err


@pytest.mark.parametrize("who", ["stdin", "stderr"])
def test_nobody_is_asked_where_nobody_reads(monkeypatch, who):
    for name in ("stdin", "stderr"):
        there = name != who
        stream = getattr(options.sys, name)
        monkeypatch.setattr(stream, "isatty", lambda there=there: there, raising=False)
    assert not consent_of(False).to("run: x")
    assert consent_of(True).to("run: x")
