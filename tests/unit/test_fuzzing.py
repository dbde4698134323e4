"""A short run of the fuzzing benchmark, and what it would notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import fuzzing

ROOT = Path(__file__).parents[2]


def test_damaged_files_and_wrong_words_end_in_one_line() -> None:
    words = ["--cases", "250", "--jobs", "1", "--seed", "7"]
    done = subprocess.run(
        [sys.executable, "benchmarks/fuzzing.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "250 cases with seed 7" in done.stdout


def _fails(words: list[str]) -> int:
    raise OverflowError("int too large")


def _prints(text: str, code: int):
    def command(words: list[str]) -> int:
        print(text, file=sys.stderr)
        return code

    return command


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (_fails, "traceback"),
        (_prints("skelgen: error: one", 3), "exit code 3"),
        (_prints("skelgen: error: one\nskelgen: error: two", 3), "not one line"),
        (_prints("skelgen: warning: one", 3), "not one line"),
        (_prints("skelgen: error: one", 0), "not one line"),
        (_prints("skelgen: error: one", 1), "not one line"),
        (_prints("Warning: numpy says", 0), "not one line"),
        (_prints("skelgen: warning: one", 0), "exit code 0"),
    ],
)
def test_what_must_not_be_is_noticed(monkeypatch, command, kind: str) -> None:
    monkeypatch.setattr(fuzzing, "_peak_bytes", lambda: 0)
    assert fuzzing._outcome(command, ["info"])["kind"] == kind


def test_a_command_that_takes_too_much_memory_is_noticed(monkeypatch) -> None:
    monkeypatch.setattr(fuzzing, "MOST_BYTES", 1000)
    assert fuzzing._outcome(lambda words: 0, ["info"])["kind"] == "memory"
