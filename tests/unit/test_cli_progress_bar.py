"""Progress: a bar for people, lines for programs, nothing for files."""

from __future__ import annotations

import pytest

from skelgen.cli.progress_bar import Lines, ProgressBar, progress_bar
from skelgen.progress import LINES, NO_PROGRESS, VARIABLE, read_progress


@pytest.fixture(autouse=True)
def _no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def on_terminal(monkeypatch: pytest.MonkeyPatch, *, there: bool) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: there)


def test_nobody_at_a_terminal_sees_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch, there=False)
    with progress_bar() as found:
        assert found is NO_PROGRESS


def test_a_person_sees_a_bar_unless_it_is_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_terminal(monkeypatch, there=True)
    with progress_bar() as found:
        assert isinstance(found, ProgressBar)
    with progress_bar(shown=False) as found:
        assert found is NO_PROGRESS


def test_a_program_gets_lines_that_it_can_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, LINES)
    now_s = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    with progress_bar(shown=False) as found:
        assert isinstance(found, Lines)
        found.start("fit", 10)
        found.advance(4)  # too early for a line of its own
        now_s[0] += 1
        found.advance(1)
        found.finish()
        found.advance(1)
        found.finish()
    lines = capsys.readouterr().err.splitlines()
    assert [read_progress(line) for line in lines] == [
        ("fit: 0 of 10", 0.0),
        ("fit: 5 of 10", 0.5),
    ]


def test_a_bar_ends_all_its_lines_after_an_error() -> None:
    bar = ProgressBar()
    bar.advance(1)  # nothing was started
    bar.start("outer", 2)
    bar.start("inner", 0)
    bar.advance(1)
    bar.close()
    assert bar._tasks == []
    assert bar._shown.finished
    bar.finish()
