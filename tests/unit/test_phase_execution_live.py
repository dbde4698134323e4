"""What an execution says of ranks that did not come to its end, without any MPI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import ApplicationError
from skelgen.launch.command import LaunchCommand
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.phase_execution import Application, WantedOccurrence, live
from skelgen.phase_execution.live import LiveRun

ENDED = Finished(("mpirun",), 0, 1.5, "", "")
WANTED = WantedOccurrence(
    phase=4,
    occurrence=1,
    begin=np.array([10, 20]),
    end=np.array([30, 40]),
    warm=np.array([0, 0]),
    calls=("MPI_Waitall", "MPI_Send", "MPI_Recv"),
)
GOOD = (
    "10 1000000 MPI_Send\n30 3000000 MPI_Send\nstopped 30\n",
    "20 1000000 MPI_Recv\n40 5000000 MPI_Recv\nstopped 40\n",
)


class Made:
    """Runs whose ranks write what a test says."""

    def __init__(self, texts: tuple[str, ...], ends: Finished | None) -> None:
        self.texts, self.ends = texts, ends
        self.stopped = False
        self.folder = Path()

    def start(self, program: list[str], **_: object) -> Made:
        (setting,) = (word for word in program if word.startswith("SKELGEN_PHASES="))
        self.folder = Path(setting.partition("=")[2])
        for rank, text in enumerate(self.texts):
            if text:
                (self.folder / f"rank-{rank:06}.times").write_text(text)
        return self

    def poll(self) -> Finished | None:
        return ENDED if self.stopped else self.ends

    def stop(self) -> None:
        self.stopped = True


Run = Callable[..., tuple[LiveRun, Made]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Run]:
    monkeypatch.setattr("skelgen.phase_execution.marks.mpi_of", lambda _: None)
    monkeypatch.setattr(
        "skelgen.phase_execution.marks.shim", lambda _: Path("/shim.so")
    )

    def start(*texts: str, ends: Finished | None = ENDED) -> tuple[LiveRun, Made]:
        made = Made(texts, ends)
        command = LaunchCommand((), None, (), 2, ("/bin/app",), None)
        application = Application(command, 2, runner=made, workspace=tmp_path)
        return LiveRun(application, [WANTED], 60.0), made

    yield start
    assert not list(tmp_path.iterdir())


def test_times_count_whatever_the_launcher_says_in_the_end(run: Run):
    execution, _ = run(*GOOD, ends=replace(ENDED, exit_code=134))
    execution.wait()
    (one,) = execution.measured()
    assert (one.phase, one.occurrence) == (4, 1)
    assert one.time_s == pytest.approx(0.003)


def test_a_launcher_that_does_not_end_is_ended(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "_TO_END_S", 0.0)
    execution, made = run(*GOOD, ends=None)
    execution.wait()
    assert made.stopped
    assert execution.measured()


def test_a_rank_that_never_comes_is_named(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "_TO_FOLLOW_S", 0.0)
    execution, made = run(GOOD[0], "", ends=None)
    execution.wait()
    assert made.stopped
    with pytest.raises(ApplicationError, match="rank 1 of app did not come"):
        execution.measured()


@pytest.mark.parametrize(
    ("texts", "ends", "text"),
    [
        ((), replace(ENDED, exit_code=139, errors="boom"), "exit code 139 .*boom"),
        ((GOOD[0], ""), replace(ENDED, timed_out=True), "within 1.5 s .rank 1"),
        ((), ENDED, "2 ranks wrote no times"),
        (
            (),
            replace(ENDED, exit_code=NO_RESULT, errors="no n7"),
            "app did not run: no",
        ),
        ((GOOD[0], ""), replace(ENDED, errors="Node failure on n2"), "whole: .* on n2"),
        (("no-marks 3\n",) * 2, ENDED, "3 ranks were launched, .* is of 2; launch 2"),
        (("no-marks 2\n", ""), ENDED, "hosts do not share the folder"),
        ((GOOD[0], "20 1 MPI_Recv\nfinalized 33\n"), ENDED, "after 33 calls of rank 1"),
        (
            (GOOD[0], "40 5000000 MPI_Recv\nstopped 40\n"),
            ENDED,
            "fewer times than they",
        ),
        ((GOOD[0].replace("Send", "Bcast"), GOOD[1]), ENDED, "called MPI_Bcast where"),
    ],
)
def test_what_went_wrong_is_said_in_one_line(
    run: Run, texts: tuple[str, ...], ends: Finished, text: str
):
    execution, _ = run(*texts, ends=ends)
    execution.wait()
    with pytest.raises(ApplicationError, match=text) as caught:
        execution.measured()
    assert "\n" not in str(caught.value)


def test_times_that_were_not_written_whole_are_told_of_a_full_disk(run: Run):
    execution, made = run(GOOD[0], "")
    (made.folder / "rank-000001.times.part").touch()
    execution.wait()
    with pytest.raises(ApplicationError, match=r"rank 1 wrote no times: .* disk full"):
        execution.measured()


def test_an_execution_that_is_given_up_leaves_nothing(run: Run):
    execution, made = run(ends=None)
    execution.stop()
    execution.stop()
    assert made.stopped
