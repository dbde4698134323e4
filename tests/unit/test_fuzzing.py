"""A short run of the fuzzing benchmark, and what it would notice."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import fuzzing
from benchmarks.shared import forked
from skelgen.trace import open_trace
from tests.processes import alive, comes_true
from tests.sealed_ranks import seal_again
from tests.trace_samples import anything
from tests.trace_writer import FORMAT

ROOT = Path(__file__).parents[2]


def test_damaged_files_and_wrong_words_end_in_one_line() -> None:
    words = ["--cases", "120", "--jobs", "1", "--seed", "7"]
    done = subprocess.run(
        [sys.executable, "benchmarks/fuzzing.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "120 cases with seed 7" in done.stdout


def test_damaged_uploads_keep_nothing_by_half() -> None:
    words = ["--uploads", "--cases", "40", "--jobs", "1", "--seed", "3"]
    done = subprocess.run(
        [sys.executable, "benchmarks/fuzzing.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 cases with seed 3" in done.stdout


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


def _ends(case: int, here: Path) -> Iterator[dict[str, Any]]:
    """End well, by a signal, or not at all; start what would live on."""
    here.mkdir()
    yield {"words": ["info", str(case)]}
    if case == 1:
        os.kill(os.getpid(), 9)
    started = subprocess.Popen(["sleep", "1000"])
    (here.parent / f"started-{case}").write_text(str(started.pid))
    if case == 2:
        time.sleep(1000)
    yield {"kind": "exit code 0", "what": "", "code": 0}


def test_a_case_that_dies_or_hangs_ends_with_all_it_started(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(forked, "LONGEST_S", 0.5)
    results = forked.campaign(
        iter(range(4)),
        jobs=2,
        until_s=time.monotonic() + 1e6,
        run=_ends,
        folder=tmp_path,
    )
    kinds = {result["case"]: result["kind"] for result in results}
    assert kinds == {0: "exit code 0", 1: "died", 2: "hang", 3: "exit code 0"}
    pids = [int(path.read_text()) for path in tmp_path.glob("started-*")]
    assert len(pids) == 3
    assert comes_true(lambda: not any(alive(pid) for pid in pids))


def test_a_case_that_cannot_be_made_is_no_result(tmp_path: Path, capfd) -> None:
    def run(case: int, here: Path) -> Iterator[dict[str, Any]]:
        raise ValueError("no such case")
        yield {}

    until_s = time.monotonic() + 1e6
    made = forked.campaign(
        itertools.count(), jobs=1, until_s=until_s, run=run, folder=tmp_path
    )
    with pytest.raises(RuntimeError, match="case 0 could not be made"):
        list(made)
    assert "no such case" in capfd.readouterr().err


def test_files_of_what_must_not_be_are_kept_with_their_seed(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    def damaged(good: Path, here: Path, seed: int, case: int) -> list[str]:
        here.mkdir()
        (here / "run").write_text(f"{seed} {case}")
        return ["info", "run"]

    monkeypatch.setattr(fuzzing, "damaged", damaged)
    found = fuzzing.Found(5, tmp_path / "good", tmp_path / "kept")
    found.add({"kind": "exit code 3", "what": "", "case": 1, "code": 3, "said": ""})
    found.add({"kind": "hang", "what": "info", "case": 2, "said": "info run"})
    (place,) = (tmp_path / "kept").iterdir()
    assert (place / "run").read_text() == "5 2"
    assert json.loads((place / "result.json").read_text())["words"] == ["info", "run"]
    found.report()
    said = capsys.readouterr().out
    assert "seed 5, case 2: skelgen info run" in said
    assert str(tmp_path / "kept") in said


def test_what_lies_behind_a_checksum_is_reached(tmp_path: Path) -> None:
    rng = random.Random(3)
    refused = {True: 0, False: 0}
    for number in range(60):
        writer = anything(rng, 0, 1, 60, checked=True, ended=True)
        path = writer.save(tmp_path / str(number))
        good = path.read_bytes()
        seal_again(path)
        assert path.read_bytes() == good
        at = rng.randrange(FORMAT.header.itemsize + FORMAT["CHECK_BYTES"], len(good))
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        for sealed in (False, True):
            if sealed:
                seal_again(path)
            told = " ".join(open_trace(path.parent).warnings)
            refused[sealed] += "CRC32C" in told
    assert refused[False] > 30
    assert refused[True] == 0
