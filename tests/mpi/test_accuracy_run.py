"""The accuracy run from the command to the page, with one short application."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.accuracy.results import read
from tests.testbed.cluster import lacking

ROOT = Path(__file__).parents[2]
REASON = lacking()


def accuracy(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.accuracy", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "TESTBED_NAME": f"accuracy-{os.getpid()}"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.mpi
@pytest.mark.root
@pytest.mark.skipif(bool(REASON), reason=REASON)
def test_a_tiny_run_is_measured_resumed_and_reported(tmp_path: Path) -> None:
    listed = tmp_path / "applications.yaml"
    listed.write_text(
        "heat2d: {ranks: 2, steps: 2000, command: ./heat2d 1024 $STEPS,\n"
        "  small: ./heat2d 256 100, bound: memory, install: part of skelgen,\n"
        "  prepare: '$MPICC -O2 \"$ROOT/examples/heat2d.c\" -o heat2d -lm'}\n"
    )
    # Without fits of a mix, which take a minute; tests of `skelgen mix` have them.
    short = "--applications", listed, "--other-lengths", ""
    tiny = "run", "--preset", "tiny", "--folder", tmp_path, *short
    spent = accuracy(*tiny, "--budget", "0")
    assert spent.returncode == 0
    assert spent.stderr.endswith("budget is spent; the same command goes on\n")
    done = accuracy(*tiny)
    assert done.returncode == 0, done.stderr
    results = read(tmp_path / "results.jsonl")
    scenarios = {"quiet", "one node busy, one link slow"}
    assert {key.scenario for key in results.measured} == scenarios
    whats = {key.what for key in results.measured}
    assert whats >= {"application", "small", "skeleton"}, done.stderr
    assert all(run.seconds > 0 for run in results.measured.values())
    assert len(results.provenance) == 2

    again = accuracy(*tiny)
    assert again.returncode == 0
    assert read(tmp_path / "results.jsonl").measured == results.measured

    other = accuracy(*tiny, "--slow", "10mbit")
    assert other.returncode == 2
    assert "was measured with" in other.stderr
    assert other.stderr.count("\n") == 1

    said = accuracy(
        "report", "--results", tmp_path / "results.jsonl", "--output", tmp_path / "docs"
    )
    assert said.returncode == 0, said.stderr
    page = (tmp_path / "docs/accuracy.md").read_text()
    assert re.search(r"\| skeleton 0\.5 s \| 1 \| \d+\.\d % \|", page)
    assert "--quiet 1gbit --slow 100mbit --stretch 0.2\n" in page


#: The second time, rank 0 stops its host.
STOPS = """
set -e
if [ "$PMI_RANK" = 0 ] && [ -e recorded ] && [ ! -e stopped ]; then
	touch stopped
	kill 1
	sleep 99
fi
[ "$PMI_RANK" != 0 ] || touch recorded
exec ./heat2d 1024 400
"""


@pytest.mark.mpi
@pytest.mark.root
@pytest.mark.skipif(bool(REASON), reason=REASON)
def test_a_host_that_stops_is_started_again_and_what_was_measured_stays(
    tmp_path: Path,
) -> None:
    (tmp_path / "stops.sh").write_text(STOPS)
    listed = tmp_path / "applications.yaml"
    listed.write_text(
        "stops: {ranks: 2, command: sh ../../stops.sh, small: '', bound: '',\n"
        "  install: '',\n"
        "  prepare: '$MPICC -O2 \"$ROOT/examples/heat2d.c\" -o heat2d -lm'}\n"
    )
    words = "--applications", listed, "--folder", tmp_path, "--limit", "120"
    short = "--apps", "", "--scenarios", "0", "--methods", "skeleton"
    short += "--lengths", "0.2"
    done = accuracy("run", "--preset", "tiny", *words, *short)
    assert done.returncode == 0, done.stderr
    said = [line.partition(": ")[2] for line in done.stderr.splitlines()]
    stopped = said.index("h1 stopped; all hosts start again")
    whats = [key.what for key in read(tmp_path / "results.jsonl").measured]
    assert whats == ["skeleton", "application", "application", "skeleton"]
    # Disturbed runs are made again, with a line each.
    assert stopped >= 2 and len(said) - stopped >= 2


@pytest.mark.mpi
@pytest.mark.root
@pytest.mark.skipif(bool(REASON), reason=REASON)
def test_what_fails_or_hangs_is_left_out_with_one_line(tmp_path: Path) -> None:
    listed = tmp_path / "applications.yaml"
    listed.write_text(
        "hangs: {ranks: 2, command: ./hangs, small: '', bound: '', install: '',\n"
        "  prepare: \"printf '#!/bin/sh\\\\nsleep 3600' > hangs; chmod +x hangs\"}\n"
        "missing: {ranks: 2, command: ./none, small: '', bound: '', install: '',\n"
        "  prepare: 'echo no such thing >&2; exit 1'}\n"
        "elsewhere: {ranks: 2, mpi: mpirun.none, command: ./none, small: '',\n"
        "  bound: '', prepare: '', install: 'apt-get install none'}\n"
    )
    words = "--applications", listed, "--folder", tmp_path, "--limit", "5"
    done = accuracy("run", "--preset", "tiny", "--apps", "", *words)
    assert done.returncode == 5
    lines = done.stderr.splitlines()
    assert "left out: elsewhere needs mpirun.none: apt-get install none" in lines
    assert "left out from here: missing: prepare: no such thing" in lines
    assert (
        "left out from here: hangs: did not end within 5 s and was ended with all its "
        "ranks" in lines
    )
    assert len(lines) == 3
    assert not read(tmp_path / "results.jsonl").measured
