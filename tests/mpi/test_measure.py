"""Applications are executed for their phases and stopped, with real launchers."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.errors import ApplicationError, InputError, UsageError
from skelgen.launch.launch_method import NEAREST
from skelgen.phase_execution.plan import ExecutedExtent, ExecutionPlan, in_one_run
from skelgen.phases.store import load, save
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.types import Parameters
from skelgen.pipeline.measure import Measurement, measure
from skelgen.pipeline.phases import phases
from skelgen.pipeline.predict import predict
from skelgen.pipeline.record import record
from tests.c_warnings import WARNINGS
from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.processes import comes_true, processes_of

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

SOURCE = Path(__file__).parent / "ahead.c"
STEPS = 60


@pytest.fixture(scope="module", params=FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


@pytest.fixture(scope="module")
def launch(
    mpi: TestMpi, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., list[str]]:
    """Return a function that writes the launch of the program, compiled once."""
    program = tmp_path_factory.mktemp("program") / "ahead"
    line = [str(mpi.compiler), *WARNINGS, "-o", str(program), str(SOURCE)]
    subprocess.run(line, check=True)

    def command(*words: str, ranks: int = 2) -> list[str]:
        return [*mpi.launcher, "-n", str(ranks), str(program), *words]

    return command


@pytest.fixture(scope="module")
def unusual(mpi: TestMpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("unusual") / "measured"
    source = SOURCE.with_name("measured.c")
    line = [str(mpi.compiler), *WARNINGS, "-o", str(program), str(source)]
    subprocess.run(line, check=True)
    return program


@pytest.fixture(autouse=True)
def paying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let measuring pay: where so short a program spends its time is chance."""
    monkeypatch.setattr("skelgen.phase_execution.backends.check_pays", lambda *_: None)


def signature(command: Sequence[str], folder: Path) -> Path:
    record(command, folder / "run", quiet_output=True)
    # Phases by structure alone: times are those of a machine that does other things.
    structure = Parameters(time_similarity=0.0)
    phases(folder / "run", structure, output=folder / "sig")
    return folder / "sig"


@pytest.fixture(scope="module")
def stored(
    launch: Callable[..., list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a signature for tests that do not look at what the program wrote."""
    folder = tmp_path_factory.mktemp("stored")
    return signature(launch(str(STEPS), str(folder)), folder)


def lines(folder: Path) -> list[list[str]]:
    return [(folder / f"rank-{rank}").read_text().split() for rank in (0, 1)]


def measured_as_planned(known: PhaseSignature, done: Measurement) -> ExecutionPlan:
    """Check that the loop is a phase and that what was to be measured was."""
    assert max(one.phase.weight for one in known.phases) > STEPS // 2
    plan = in_one_run(known, ExecutedExtent(share=0.0))
    measured = {phase.number for phase in done.estimate.phases}
    assert measured == {one.phase for one in plan.wanted}
    return plan


@pytest.mark.parametrize("how", [(), ("ahead",)], ids=["complete", "open-request"])
def test_a_run_is_stopped_behind_its_phases_and_was_right_until_then(
    launch: Callable[..., list[str]], tmp_path: Path, how: tuple[str, ...]
) -> None:
    command = launch(str(STEPS), str(tmp_path), *how)
    stored = signature(command, tmp_path)
    whole = lines(tmp_path)
    done = measure(stored, extent=ExecutedExtent(share=0.0))
    begun = lines(tmp_path)
    known = load(stored)
    until = measured_as_planned(known, done).wanted[-1].end
    for rank in (0, 1):  # a last phase that was interrupted may be worth its way
        assert len(begun[rank]) <= 2 + STEPS * until[rank] / known.counts[rank]
        # What was not flushed yet may be cut within its last number.
        assert begun[rank][:-1] == whole[rank][: max(len(begun[rank]) - 1, 0)]
    assert done.estimate.time_s.p5 <= done.estimate.time_s.p50
    assert done.estimate.time_s.p50 <= done.estimate.time_s.p95
    assert done.set_s > 0
    assert done.aet_s is not None
    program = command[-(2 + len(how)) - 1]
    assert comes_true(lambda: not processes_of(program))


def test_a_phase_signature_predicts_as_a_skeleton_does(stored: Path) -> None:
    found = predict(stored, [()], budget_s=0.1, interval_bound=0.9, through=NEAREST)
    (one,) = found.predictions
    assert not found.failures
    assert one.ratio == 1.0
    assert len(one.runs_s) == 3
    assert not any(doubt.code == "uncalibrated" for doubt in one.doubts)


@pytest.mark.parametrize(
    "way", ["persistent", "window", "pcontrol", "group", "jump", "session"]
)
def test_phases_of_unusual_programs_are_measured_where_they_were_recorded(
    mpi: TestMpi, unusual: Path, tmp_path: Path, way: str
) -> None:
    """The program checks what it receives, and fails where that is wrong."""
    if way == "session" and (mpi.standard < 4 or len(mpi.launcher) > 1):
        pytest.skip("sessions came with MPI 4; of Open MPI 5 they were not tried")
    if way == "window" and mpi.compiler.name == "mpicc.mpich":
        pytest.skip("the program fails with Debian's MPICH 4.0, also unrecorded")
    command = [*mpi.launcher, "-n", "2", str(unusual), str(STEPS), way]
    stored = signature(command, tmp_path)
    done = measure(stored, extent=ExecutedExtent(share=0.0))
    measured_as_planned(load(stored), done)
    assert comes_true(lambda: not processes_of(str(unusual)))
    if way == "session":  # it comes to its end, where it does not find the phase
        with pytest.raises(ApplicationError, match=r"less work than then|called MPI_"):
            measure(stored, [*command[:-2], "1", way])


def test_less_work_than_was_recorded_is_named(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path
) -> None:
    with pytest.raises(ApplicationError, match="less work than then"):
        measure(stored, launch("1", str(tmp_path)))


def test_a_launch_of_several_programs_is_refused(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path
) -> None:
    one = launch("2", str(tmp_path), ranks=1)
    with pytest.raises(UsageError, match="launches several programs"):
        measure(stored, [*one, ":", "-n", "1", "./other"])


def test_a_program_that_fails_is_named_with_its_exit_code(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path
) -> None:
    with pytest.raises(ApplicationError, match=r"failed with exit code .* input in /"):
        measure(stored, launch("10", str(tmp_path / "missing")))


def test_input_that_is_not_there_is_named_before_anything_runs(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path
) -> None:
    known = load(stored)
    files = (*known.files, ("/recorded/in.lj", 64 * "0"))
    save(replace(known, files=files), tmp_path / "phases.yaml")
    with pytest.raises(InputError, match=r"in.lj is missing, .* copy it there"):
        measure(tmp_path, launch("10", str(tmp_path), "here/in.lj"))
    with pytest.raises(InputError, match=r"in.lj is missing; put back"):
        measure(tmp_path)
    assert not list(tmp_path.glob("rank-*"))


def test_another_number_of_ranks_is_refused(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="3 ranks, the phase signature is of 2"):
        measure(stored, launch("10", str(tmp_path), ranks=3))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_launch_that_does_not_say_its_other_number_of_ranks_is_refused(
    launch: Callable[..., list[str]], stored: Path, tmp_path: Path, ranks: int
) -> None:
    script = tmp_path / "mpirun"
    words = shlex.join(launch("10", str(tmp_path), ranks=ranks)[:-3])
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    hidden = [str(script), *launch("10", str(tmp_path))[-3:]]
    with pytest.raises(ApplicationError, match=f"{ranks} ranks were launched, .* of 2"):
        measure(stored, hidden)
    assert not list(tmp_path.glob("rank-*"))


def test_a_file_that_the_program_writes_is_no_change_of_it(
    launch: Callable[..., list[str]], tmp_path: Path
) -> None:
    command = launch(str(STEPS), str(tmp_path), str(tmp_path / "rank-0"))
    stored = signature(command, tmp_path)
    assert [Path(name).name for name, _ in load(stored).files] == ["ahead"]
    for words in ((), command):  # the second finds what the first wrote
        done = measure(stored, words)
        assert not any(one.code == "other-files" for one in done.estimate.doubts)


def test_a_program_that_changed_since_the_recording_is_refused(
    launch: Callable[..., list[str]], tmp_path: Path
) -> None:
    command = launch(str(STEPS), str(tmp_path))
    copy = tmp_path / "copy"
    copy.write_bytes(Path(command[-3]).read_bytes())
    copy.chmod(0o755)
    command[-3] = str(copy)
    stored = signature(command, tmp_path)
    with copy.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(InputError, match="changed since the recording"):
        measure(stored)
