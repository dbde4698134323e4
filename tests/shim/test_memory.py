"""What the recorder remembers is bounded, whatever the program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.trace import open_trace
from tests.shim.conftest import SANITIZE, Lab, Run

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(SANITIZE, reason="sanitizers keep freed memory"),
]

LIMIT_KIB = 8 * 1024


def memory_kib(run: Run) -> list[int]:
    """Return what the program printed."""
    assert run.exit_code == 0, run.errors
    return [int(line.split()[1]) for line in run.output.splitlines()]


def test_a_rank_needs_at_most_8_mib_more_whatever_it_calls(
    lab: Lab, tmp_path: Path
) -> None:
    program = [str(lab.compile("memory", "-lpthread"))]
    (plain,) = memory_kib(lab.launch(1, program, tmp_path / "plain"))
    run = lab.launch(1, program, tmp_path / "recorded", preload=str(lab.shim))
    more = memory_kib(run)[0] - plain
    assert LIMIT_KIB / 2 < more <= LIMIT_KIB
    (file,) = open_trace(run.folder).files
    assert file.clean
    assert len(file.shapes) > 4_000  # tags that hardly repeat share this room


def test_threads_that_ended_leave_nothing_in_memory(lab: Lab, tmp_path: Path) -> None:
    program = [str(lab.compile("memory", "-lpthread")), "threads"]
    run = lab.launch(1, program, tmp_path, preload=str(lab.shim))
    few, many = memory_kib(run)
    assert many - few < 512
    trace = open_trace(run.folder)
    if trace.files[0].header.thread_level < 3:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    assert [file.facts.events for file in trace.files[1:]] == [3] * 400
    assert trace.clean
