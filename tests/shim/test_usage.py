"""Queries of the CPU time are counted; their answers are those of the system."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.shim.conftest import HERE, Lab
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi


def queries(trace: Trace) -> list[int]:
    return [one["queries"] for one in trace.tables.get("usage", {}).values()]


def test_queries_of_the_program_itself_are_counted(lab: Lab) -> None:
    run = lab.record("usage", 2)
    assert run.exit_code == 0, run.errors
    # MPICH's ranks write without a buffer: lines of two may stand inside each other.
    assert run.output.count("answered") == 2
    assert [queries(trace) for trace in run.traces] == [[104], [204]]


def test_gaps_between_queries_have_no_long_calls(lab: Lab) -> None:
    run = lab.record("asked_apart", 2)
    assert run.exit_code == 0, run.errors
    waits, computes = sorted(
        ([row[f"gap{b}"] for b in range(16)] for trace in run.traces
         for row in trace.tables["usage"].values()),
        key=lambda gaps: gaps[15],
    )  # fmt: skip
    assert sum(waits[:15]) == 21
    assert sum(computes[:15]) == 22
    # Of 2 to 4 ms, beside any competitors: time without a core is no part of them.
    assert min(waits[12], computes[12]) >= 18
    assert computes[15] >= 61 > 30 > waits[15]


def test_a_program_that_never_asks_has_no_such_record(lab: Lab, tmp_path: Path) -> None:
    program = [str(lab.compile("orders")), str(tmp_path / "order")]
    run = lab.launch(1, program, tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    assert [queries(trace) for trace in run.traces] == [[]]


def test_a_librarys_own_times_is_its_own(lab: Lab, tmp_path: Path) -> None:
    source, library = str(HERE / "own_times.c"), tmp_path / "libown.so"
    cc = [str(lab.mpi.compiler), source]
    shared = ["-DLIBRARY", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*cc, *shared], check=True)
    program = tmp_path / "own_times"
    subprocess.run([*cc, str(library), "-o", str(program)], check=True)
    run = lab.launch(1, [str(program)], tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    assert "the library's own" in run.output
    assert [queries(trace) for trace in run.traces] == [[]]
