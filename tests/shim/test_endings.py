"""Nothing recorded is lost, and the program never notices, however it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.shim.conftest import Lab, Record, preloaded
from tests.shim.reader import FAILED, read_run

pytestmark = pytest.mark.mpi

FINALIZED, ABORTED, EXITED, FULL, LIMIT = range(5)


def end(trace: object) -> dict:
    (row,) = trace.tables["ends"].values()
    return row


def singleton(lab: Lab, folder: Path, *arguments: str, **options) -> subprocess.Popen:
    """Start one rank without a launcher."""
    environment = dict(os.environ)
    preloaded(environment, str(lab.shim), folder / "run")
    return subprocess.Popen(
        [str(lab.compile("endings")), *arguments],
        env=environment,
        cwd=folder,
        text=True,
        **options,
    )


@pytest.mark.parametrize("delay", ["1", "50"])
def test_after_a_kill_every_completed_call_is_there(
    lab: Lab, tmp_path: Path, delay: str
) -> None:
    for trial in range(3):
        folder = tmp_path / f"trial{trial}"
        folder.mkdir()
        counter = folder / "counter"
        program = singleton(lab, folder, "counted", str(counter), delay)
        while not counter.exists() or not any(counter.read_bytes()):
            assert program.poll() is None
            time.sleep(0.01)
        time.sleep(random.Random(trial).uniform(0, 0.05))
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
        done = int.from_bytes(counter.read_bytes()[:8], "little")
        (trace,) = read_run(folder / "run")
        sends = trace.of("Send")
        assert not trace.clean
        assert done - 1 <= len(sends) <= done + 1
        assert [e.tag for e in sends] == [i % 1000 for i in range(len(sends))]


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


def test_abort_ends_the_file_with_its_code(record: Record) -> None:
    run = record("endings", 1, "abort")
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


def test_a_forked_child_leaves_the_parents_file_alone(record: Record) -> None:
    (trace,) = record("endings", 1, "fork").traces
    assert trace.clean
    assert end(trace)["reason"] == FINALIZED
    assert len(trace.of("Barrier")) == 1


def test_a_call_that_fails_is_recorded_with_its_error(record: Record) -> None:
    run = record("endings", 1, "errors")
    assert run.output == "failed 1\nthe end\n"
    (event,) = run.traces[0].of("Send")
    assert event.has(FAILED)
    assert event.error


def test_an_unwritable_folder_costs_one_line_only(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    run = lab.launch(
        2,
        [str(lab.compile("endings")), "many", "100"],
        tmp_path,
        preload=str(lab.shim),
    )
    assert (run.exit_code, run.output) == (0, "the end\n")
    lines = [x for x in run.errors.splitlines() if x.startswith("skelgen:")]
    assert len(lines) == 1
    assert "cannot record into" in lines[0]
    assert "Not a directory" in lines[0]


def test_a_full_disk_costs_one_line_only(record: Record) -> None:
    run = record("endings", 1, "many", "80000", "400000")
    assert (run.exit_code, run.output) == (0, "the end\n")
    assert run.errors.count("skelgen:") == 1
    assert "File too large" in run.errors
    (trace,) = run.traces
    assert trace.clean
    assert end(trace)["reason"] == FULL
    assert 300_000 < trace.bytes <= 400_000


def test_a_limit_on_the_size_stops_recording_cleanly(record: Record) -> None:
    run = record("endings", 1, "many", "50000", SKELGEN_MAX_BYTES="100000")
    assert (run.exit_code, run.output) == (0, "the end\n")
    assert run.errors.count("skelgen:") == 1
    (trace,) = run.traces
    assert trace.clean
    assert end(trace)["reason"] == LIMIT
    assert 50_000 < trace.bytes <= 100_000


def test_ever_changing_tags_stay_small_and_exact(record: Record) -> None:
    (trace,) = record("endings", 1, "many", "50000").traces
    sends = trace.of("Send")
    assert [e.tag for e in sends] == [i * 7919 % 30011 for i in range(50000)]
    assert len(trace.tables["shapes"]) < 300
    assert trace.bytes < 12 * 50000
