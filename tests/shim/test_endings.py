"""Nothing recorded is lost, and the program never notices, however it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from skelgen.trace.rank_file import read_header, read_rank_file
from tests.shim.conftest import Lab, Record, preloaded
from tests.shim.reader import FAILED, read_run

pytestmark = pytest.mark.mpi

FINALIZED, ABORTED, EXITED = range(3)


def end(trace: object) -> dict:
    (row,) = trace.tables["ends"].values()
    return row


def singleton(
    lab: Lab, folder: Path, *arguments: str, settings: dict | None = None, **options
) -> subprocess.Popen:
    """Start one rank without a launcher."""
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), folder / "run")
    environment |= settings or {}
    return subprocess.Popen(
        [str(lab.compile("endings")), *arguments],
        env=environment,
        cwd=folder,
        text=True,
        **options,
    )


#: The calls of a round of ``endings counted``.
ROUND = ["Send", "Irecv", "Send", "Wait", "Test", "Bcast"]


def killed(lab: Lab, folder: Path, trial: int, **settings: str) -> int:
    """Kill a rank at a random time; return how many calls it had completed."""
    chance = random.Random(trial)
    counter = folder / "counter"
    counter.write_bytes(bytes(8))
    delay = str((0, 20, 1000)[trial % 3])
    program = singleton(lab, folder, "counted", str(counter), delay, settings=settings)
    if trial % 5 == 0:
        time.sleep(chance.uniform(0, 0.4))  # perhaps before the first call
    else:
        while not any(counter.read_bytes()):
            assert program.poll() is None
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.1))
    program.send_signal(signal.SIGKILL)
    assert program.wait() == -signal.SIGKILL
    return int.from_bytes(counter.read_bytes(), "little")


@pytest.mark.families
def test_after_a_kill_every_completed_call_is_there(lab: Lab, tmp_path: Path) -> None:
    recorded = 0
    for trial in range(int(os.environ.get("SKELGEN_TRIALS", "10"))):
        folder = tmp_path / f"trial{trial}"
        folder.mkdir()
        done = killed(lab, folder, trial)
        path = folder / "run/rank-000000.skt"
        header = read_header(path) if path.exists() else None
        if header is None:
            assert not done  # it was killed before MPI_Init returned
            continue
        file = read_rank_file(path, header)
        assert file.damage is None
        assert file.definitions.end is None
        # The process may die between the end of a call and its counter.
        calls = max(file.facts.events - 1, 0)
        assert done <= calls <= done + 1
        recorded += calls > 0
        if calls < 10_000:
            (trace,) = read_run(folder / "run")
            names = [event.function[4:] for event in trace.events[1:]]
            assert names == [ROUND[i % 6] for i in range(calls)]
    assert recorded


def test_pcontrol_pauses_and_resumes_and_marks(record: Record) -> None:
    (trace,) = record("endings", 1, "control").traces
    course = [(e.function[4:], e.peer) for e in trace.events[1:-1]]
    barrier = ("Barrier", -1)
    assert course == [
        *3 * [barrier],
        ("Pcontrol", 0),
        ("Pcontrol", 1),
        *2 * [barrier],
        ("Pcontrol", 42),
        *2 * [barrier],
    ]
    assert end(trace)["unrecorded"] == 3


def test_abort_ends_the_file_with_its_code(lab: Lab, tmp_path: Path) -> None:
    run = lab.record("endings", 1, "abort")
    if run.exit_code != 6:  # a launcher that once, of hundreds of runs, ended with 1
        command = [str(lab.compile("endings")), "abort"]
        run = lab.launch(1, command, tmp_path / "again", preload=str(lab.shim))
    (trace,) = run.traces
    assert run.exit_code == 6
    assert trace.clean
    assert (end(trace)["reason"], end(trace)["code"]) == (ABORTED, 6)
    assert trace.events[-1].function == "MPI_Abort"


def test_exit_without_finalize_ends_the_file(lab: Lab, tmp_path: Path) -> None:
    program = singleton(lab, tmp_path, "exit", stderr=subprocess.DEVNULL)
    program.wait()
    (trace,) = read_run(tmp_path / "run")
    assert trace.clean
    assert end(trace)["reason"] == EXITED


def test_what_a_rank_starts_leaves_its_file_alone(record: Record) -> None:
    run = record("endings", 1, "children")
    assert (run.exit_code, run.errors) == (0, "")
    assert run.output == "a shell\na pipe\nthe end\n"
    assert [path.name for path in run.folder.iterdir()] == ["rank-000000.skt"]
    (trace,) = run.traces
    assert trace.clean
    assert end(trace)["reason"] == FINALIZED
    assert len(trace.of("Barrier")) == 3


def test_mpi_may_be_asked_before_init_and_after_finalize(record: Record) -> None:
    run = record("endings", 1, "outside")
    assert (run.exit_code, run.output) == (0, "0 1 0\nthe end\n1 1 1\n")
    (trace,) = run.traces
    assert trace.clean
    assert [e.function for e in trace.events] == ["MPI_Init", "MPI_Finalize"]


def test_a_call_that_fails_is_recorded_with_its_error(record: Record) -> None:
    run = record("endings", 1, "errors")
    assert run.output == "failed 1\nthe end\n"
    (event,) = run.traces[0].of("Send")
    assert event.has(FAILED)
    assert event.error


@pytest.mark.families
def test_ever_changing_tags_stay_small_and_exact(record: Record) -> None:
    (trace,) = record("endings", 1, "many", "50000").traces
    sends = trace.of("Send")
    assert [e.tag for e in sends] == [i * 7919 % 30011 for i in range(50000)]
    assert len(trace.tables["shapes"]) < 300
    assert trace.bytes < 12 * 50000
