"""Threads that make and free objects at the same time: every record names its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shim.conftest import Lab
from tests.shim.reader import Trace

pytestmark = pytest.mark.mpi


def test_threads_may_make_and_free_objects_at_the_same_time(
    lab: Lab, tmp_path: Path
) -> None:
    program = lab.compile("races", "-lpthread")
    run = lab.launch(1, [str(program)], tmp_path, preload=str(lab.shim))
    assert run.exit_code == 0, run.errors
    if "no threads" in run.output:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    traces = [Trace(p) for p in sorted(run.folder.glob("*.t*.skt"))]
    assert len(traces) == 12
    for trace in traces:
        assert trace.clean
        for call in trace.of("Bcast", "Comm_free", "Mrecv"):
            assert trace.comms[call.comm]["members"] == [0]
        assert [e.tag for e in trace.of("Mrecv")] == list(range(50))
        made = [e.object for e in trace.of("Comm_dup")]
        assert made == [e.comm for e in trace.of("Comm_free")]
        assert made == [e.comm for e in trace.of("Bcast")]
        sizes = [trace.tables["types"][e.type_a]["size"] for e in trace.of("Bcast")]
        assert sizes == [4 * (1 + step % 3) for step in range(50)]
