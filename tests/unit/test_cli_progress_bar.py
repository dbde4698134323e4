"""What the bar shows, and what a command says of its work."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys

import pytest

from skelgen.cli import progress_bar as bar
from skelgen.cli.main import run
from skelgen.progress import NO_PROGRESS
from tests.trace_samples import save_ring


def test_a_bar_grows_with_work_that_nobody_promised():
    shown = bar.ProgressBar()
    shown.start("running", 2)
    for _ in range(3):
        shown.advance(1)
    shown.say("n1: 1.2 s \x1b[2J")
    (task,) = shown._shown.tasks
    assert (task.completed, task.total) == (3, 3)
    assert task.fields["found"] == r"n1: 1.2 s \x1b[2J"
    shown.close()


def test_lines_for_programs_are_numbers_only(capsys):
    lines = bar.Lines()
    lines.start("running", 2)
    lines.say("n1: 1.2 s")
    assert capsys.readouterr().err == "skelgen: progress: running: 0 of 2\n"


def test_work_is_noted_where_somebody_asked(caplog):
    caplog.set_level(logging.INFO, logger="skelgen")
    noted = bar._Noted(NO_PROGRESS)
    noted.start("reading", 2)
    noted.advance(1)
    noted.say("so far")
    noted.finish()
    assert re.fullmatch(r"reading: [\d.]+ \w+", caplog.messages[-1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-v"], ["done in"]),
        (["-vv"], ["debug: skelgen 0", "done in"]),
    ],
)
def test_every_v_says_more(tmp_path, capsys, words, said):
    run_folder = tmp_path / "run"
    run_folder.mkdir()
    save_ring(run_folder)
    assert run(["info", str(run_folder), *words]) == 0
    err = capsys.readouterr().err
    assert all(one in err for one in said)


def test_export_without_a_format_names_all_of_them(tmp_path, capsys):
    assert run(["export", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "give one of perfetto, paraver, tit, otf2" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_the_names_of_commands(shell):
    line = [sys.executable, "-c", "from skelgen.cli.main import main; main()"]
    asked = {
        "_SKELGEN_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "skelgen store l",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": "skelgen store l",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        line, env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert "list" in done.stdout
    assert "loads" in done.stdout
    assert "measure" not in done.stdout
