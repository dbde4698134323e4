"""Queries of the CPU time are counted; their answers are those of the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shim.conftest import Lab
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi


def queries(trace: Trace) -> list[int]:
    return [one["queries"] for one in trace.tables.get("usage", {}).values()]


def test_queries_of_the_program_itself_are_counted(lab: Lab) -> None:
    run = lab.record("usage", 2)
    assert run.exit_code == 0, run.errors
    # MPICH's ranks write without a buffer: lines of two may stand inside each other.
    assert run.output.count("answered") == 2
    assert [queries(trace) for trace in run.traces] == [[103], [203]]


def test_a_program_that_never_asks_has_no_such_record(lab: Lab, tmp_path: Path) -> None:
    program = [str(lab.compile("orders")), str(tmp_path / "order")]
    run = lab.launch(1, program, tmp_path / "run", preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    assert [queries(trace) for trace in run.traces] == [[]]
