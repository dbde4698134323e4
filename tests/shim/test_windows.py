"""Windows: what they are, operations, and all ways of synchronising."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.events import collect
from skelgen.trace import open_trace
from tests.shim.conftest import Record, Run
from tests.shim.reader import CREATES, HAS_A, HAS_B, NOT_READY, Trace

pytestmark = pytest.mark.mpi

NOPRECEDE, NOSUCCEED = 4, 8
EXCLUSIVE, SHARED = 1, 2
SUM, NO_OP = 3, 14
WIN_CREATE, WIN_ALLOCATE, WIN_SHARED, WIN_DYNAMIC = 15, 16, 17, 18


@pytest.fixture
def run(record: Record) -> Run:
    return record("windows", 3)


def made(trace: Trace) -> list[tuple[int, int]]:
    """Return kind and parent of the windows of a rank."""
    return [
        (comm["kind"], comm["parent"])
        for comm in trace.comms.values()
        if comm["kind"] >= WIN_CREATE
    ]


def test_the_program_runs_as_it_does_unrecorded(run: Run) -> None:
    assert run.exit_code == 0
    assert run.output == "sum 63\n"
    assert all(trace.clean for trace in run.traces)


def test_a_window_is_defined_with_its_communicator_size_and_unit(run: Run) -> None:
    for trace in run.traces:
        (dup,) = (c["id"] for c in trace.comms.values() if c["kind"] == 2)
        assert made(trace) == [
            (WIN_ALLOCATE, dup),
            (WIN_CREATE, 0),
            (WIN_ALLOCATE, 0),
            (WIN_SHARED, 1),
            (WIN_DYNAMIC, 0),
        ]
        sizes = [(w["bytes"], w["unit"]) for w in trace.tables["windows"].values()]
        assert sizes == [(64, 8), (16, 4), (16, 4), (8, 1), (0, 0)]


def test_operations_state_target_size_type_and_operation(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        put, *_ = trace.of("Put")
        assert (put.peer, put.counts[0]) == ((rank + 1) % 3, 1)
        assert trace.type_name(put.type_a) == "MPI_DOUBLE"
        assert [e.peer for e in trace.of("Put")].count(-2) == 3  # MPI_PROC_NULL
        assert trace.of("Accumulate")[0].op == SUM
        (get,) = trace.of("Get")
        assert (get.has(HAS_A), get.has(HAS_B), get.counts[1]) == (False, True, 2)
        (fetched,) = trace.of("Get_accumulate")
        assert (fetched.op, fetched.type_a, fetched.counts) == (NO_OP, 0, (0, 1))
        (rput,) = trace.of("Rput")
        assert rput.has(CREATES)
        assert rput.made == trace.of("Wait")[0].requests
        assert [e.op for e in trace.of("Fetch_and_op")] == [SUM] * 3


def test_operations_are_as_large_as_what_they_move(run: Run) -> None:
    calls = collect(open_trace(run.folder)).calls
    names = np.array(calls.functions)[calls.shapes["function"][calls.shape]]
    assert calls.size_bytes[names == "MPI_Get"].tolist() == [8] * 3
    assert calls.size_bytes[names == "MPI_Rput"].tolist() == [8] * 3
    # With MPI_NO_OP nothing is sent, and one MPI_INT comes back.
    assert calls.size_bytes[names == "MPI_Get_accumulate"].tolist() == [4] * 3
    assert calls.size_bytes[names == "MPI_Fetch_and_op"].tolist() == [4] * 9


def test_synchronisation_states_what_it_asserts_and_whom_it_is_about(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        assert [e.tag for e in trace.of("Win_fence")] == [NOPRECEDE, 0, 0, NOSUCCEED]
        around = [int(other != rank) for other in range(3)]
        for event in trace.of("Win_post", "Win_start"):
            assert event.vectors[0] == around
        locks = trace.of("Win_lock")
        assert [e.tag for e in locks] == [EXCLUSIVE, SHARED, SHARED]
        assert all(e.peer == 0 for e in trace.of("Win_lock", "Win_unlock", "Win_flush"))
        assert [e.has(NOT_READY) for e in trace.of("Win_test")][-1:] == [False]
        names = "Win_lock_all Win_unlock_all Win_flush_all Win_sync".split()
        assert [len(trace.of(name)) for name in names] == [1] * 4
