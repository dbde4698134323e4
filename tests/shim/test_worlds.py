"""One folder holds one run: other worlds get folders of their own."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from skelgen.events import collect
from skelgen.trace import open_trace
from tests.shim.conftest import SANITIZE, Lab, Run, preloaded
from tests.shim.reader import read_run

pytestmark = pytest.mark.mpi


def launch(
    lab: Lab, command: list[str], folder: Path, preload: str | None = None
) -> Run:
    """Run a program; once more if it fails or does not end.

    MPICH 5 over UCX loses a message in one of some 250 runs that open MPI again,
    recorded or not; most of these fail, some wait for it.
    """
    with suppress(subprocess.TimeoutExpired):
        run = lab.launch(2, command, folder / "first", preload=preload, limit_s=60.0)
        if run.exit_code == 0:
            return run
    return lab.launch(2, command, folder / "second", preload=preload)


def run_both(lab: Lab, tmp_path: Path, *arguments: str) -> Run:
    """Run a program without the shim, then with it; both must say the same."""
    command = [str(lab.compile("worlds")), *arguments]
    for name in ("plain", "recorded"):
        (tmp_path / name).mkdir()
    plain = launch(lab, command, tmp_path / "plain")
    if plain.exit_code or plain.output.startswith("no sessions"):
        pytest.skip(f"this MPI cannot run {arguments} without the shim")
    recorded = launch(lab, command, tmp_path / "recorded", preload=str(lab.shim))
    assert (recorded.exit_code, recorded.output) == (0, plain.output), recorded.errors
    return recorded


def test_a_program_with_sessions_only_is_recorded(lab: Lab, tmp_path: Path) -> None:
    run = run_both(lab, tmp_path, "sessions", "1")
    assert run.errors == ""
    for trace in run.traces:
        course = [event.function for event in trace.events]
        assert course == [
            "MPI_Session_init",
            *10 * ["MPI_Sendrecv"],
            "MPI_Allreduce",
            "MPI_Comm_free",
            "MPI_Session_finalize",
        ]
        assert {event.comm for event in trace.of("Sendrecv", "Allreduce")} == {0}
        assert trace.comms[0]["members"] == [0, 1]
        assert trace.clean
    events = collect(open_trace(run.folder))
    assert len(events.calls) == 2 * 12
    assert events.warnings == ()


def test_mpi_that_is_opened_again_is_a_further_run(lab: Lab, tmp_path: Path) -> None:
    run = run_both(lab, tmp_path, "sessions", "2")
    second = read_run(run.folder / "world-2")
    assert [len(t.of("Sendrecv")) for t in run.traces] == [10, 10]
    assert [len(t.of("Sendrecv")) for t in second] == [11, 11]
    assert all(t.clean for t in (*run.traces, *second))
    assert second[0].header["run_id"] != run.traces[0].header["run_id"]


@pytest.mark.skipif(SANITIZE, reason="launchers, whose variables these get, have none")
def test_spawned_processes_record_into_a_world_of_their_own(
    lab: Lab, tmp_path: Path
) -> None:
    run = run_both(lab, tmp_path, "spawn")
    parents, children = run.traces, read_run(run.folder / "world-2")
    assert [len(t.of("Barrier")) for t in parents] == [1, 1]
    assert [len(t.of("Send")) for t in parents] == [1, 0]
    assert [len(t.of("Recv")) for t in children] == [0, 1]
    assert all(t.clean for t in (*parents, *children))
    warnings = open_trace(run.folder).warnings
    assert len(warnings) == 1
    assert "world-2 holds another run (worlds on 2 ranks)" in warnings[0]
    assert not any("holds another run" in x for x in run.errors.splitlines())


def test_singletons_that_run_together_do_not_share_files(
    lab: Lab, tmp_path: Path
) -> None:
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), tmp_path / "run")
    command = [str(lab.compile("endings")), "many"]
    programs = [
        subprocess.Popen(
            [*command, str(100 + i)],
            env=environment,
            cwd=tmp_path,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for i in range(4)
    ]
    errors = "".join(program.communicate(timeout=300)[1] for program in programs)
    assert [program.returncode for program in programs] == 4 * [0], errors
    folders = [tmp_path / "run", *sorted((tmp_path / "run").glob("world-*"))]
    assert [folder.name for folder in folders[1:]] == ["world-2", "world-3", "world-4"]
    traces = [trace for folder in folders for trace in read_run(folder)]
    assert sorted(len(t.of("Send")) for t in traces) == [100, 101, 102, 103]
    assert all(t.clean for t in traces)
    assert errors.count("holds another run; this one is in") == 3


def test_a_program_that_a_rank_starts_does_not_disturb_it(
    lab: Lab, tmp_path: Path
) -> None:
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), tmp_path / "run")
    done = subprocess.run(
        [str(lab.compile("worlds")), "nest"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for folder in (tmp_path / "run", tmp_path / "run/world-2"):
        (trace,) = read_run(folder)
        assert trace.clean
        assert len(trace.of("Barrier")) == 2


def test_a_second_run_by_hand_leaves_the_first_alone(lab: Lab, tmp_path: Path) -> None:
    command = [str(lab.compile("endings")), "many"]
    for calls in ("10", "20"):
        run = lab.launch(2, [*command, calls], tmp_path, preload=str(lab.shim))
        assert (run.exit_code, run.output) == (0, "the end\n")
    first, second = read_run(run.folder), read_run(run.folder / "world-2")
    assert [len(t.of("Send")) for t in first] == [10, 10]
    assert [len(t.of("Send")) for t in second] == [20, 20]
    assert first[0].header["run_id"] != second[0].header["run_id"]
