"""What communicates is repeated or left out by name, never taken for computation."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from skelgen.events import CallKind, function_info
from skelgen.pipeline.signatures import read_signature
from tests.trace_writer import RankWriter

TABLE = Path(__file__).parents[2] / "pmpi_shim/mpi_calls.toml"
#: Kinds of the recorder: without communication, the bounds of a run, only counted.
_NO_EVENT = {"local", "init", "finalize", "control", "passed"}


def recorded_functions() -> list[str]:
    rows = tomllib.loads(TABLE.read_text())
    return [
        name
        for name, row in rows.items()
        if name != "unwrapped" and row["kind"] not in _NO_EVENT
    ]


def test_no_function_that_becomes_an_event_counts_as_local() -> None:
    names = recorded_functions()
    assert "MPI_Neighbor_alltoallw" in names and "MPI_Isendrecv" in names
    local = [n for n in names if function_info(n).kind is CallKind.LOCAL]
    # Input and output belongs to a rank until its epochs are known.
    assert [name for name in local if not name.startswith("MPI_File_")] == []


def test_all_forms_of_a_collective_know_the_blocking_one() -> None:
    for form in (
        "Neighbor_alltoallw",
        "Ineighbor_alltoallw",
        "Neighbor_alltoallw_init",
    ):
        info = function_info(f"MPI_{form}_c")
        assert info.collective == "Neighbor_alltoallw"
        assert info.neighbourhood and info.vector and not info.rooted
    assert function_info("MPI_Ireduce").collective == "Reduce"
    assert function_info("MPI_Isendrecv").collective == ""


def test_what_a_skeleton_does_not_repeat_is_left_out_with_its_time(
    tmp_path: Path,
) -> None:
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 1000)
        for _ in range(20):
            writer.event("MPI_Barrier", 5000, 300)
            writer.event("MPI_Buffer_iflush", 10, 400, flags="CREATES", comm=-1)
            writer.event("MPI_Wait", 10, 200, flags="COMPLETES", requests=1, count_a=1)
        writer.function("MPI_Comm_accept", "OTHER")
        writer.passed(800, Comm_accept=3)
        writer.finish()
        writer.save(tmp_path)
    signature, _ = read_signature(
        tmp_path, similarity_threshold=None, scaling_factor=2, target_s=None
    )
    assert signature.dropped == (
        (
            "MPI_Buffer_iflush: function that skeletons do not reproduce",
            40,
            pytest.approx(40 * 200e-9),
        ),
        ("MPI_Wait: partner is left out", 40, pytest.approx(40 * 100e-9)),
        (
            "MPI_Comm_accept: only counted by the recorder; its time became "
            "computation",
            6,
            pytest.approx(2 * 400e-9),
        ),
    )
