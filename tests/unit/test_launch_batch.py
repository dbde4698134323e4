"""Jobs of a batch system, with commands that only look like Slurm's."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch.batch import BatchRun, BatchRunner, Patience
from skelgen.launch.batch_systems import Slurm
from skelgen.launch.hosts import Host
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.launchers import Hydra
from skelgen.launch.process import NO_RESULT, Finished
from tests import fake_mpi
from tests.processes import comes_true

TWO = (Host("n1"), Host("n2"))
#: Runs the job at once; its number is 7.
AT_ONCE = 'for word; do script=$word; done; "$script" >/dev/null; echo 7'


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a launcher and a Slurm that says what tests make it say."""
    folder = tmp_path / "bin"
    fake_mpi.hydra(folder)
    slurm(folder, sbatch="echo 7", squeue='echo "PENDING|Resources"')
    slurm(folder, scancel='echo "$*" >> "$0.log"', sinfo='echo "n1|idle\nn2|idle"')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def slurm(folder: Path, **bodies: str) -> None:
    """Write commands; whatever squeue would say, a cancelled job is gone."""
    gone = '[ -s "$(dirname "$0")/scancel.log" ] && { echo "CANCELLED|"; exit; }'
    for name, body in bodies.items():
        lines = [gone, body] if name == "squeue" else [body]
        fake_mpi.script(folder / name, "\n".join(lines))


class Clock:
    """Time that passes between answers only, however long a busy machine takes."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def started(
    folder: Path, program: str, *, limit_s: float | None = None, **patience: float
) -> BatchRun:
    runner = BatchRunner(
        Slurm(),
        Hydra((str(folder / "mpirun"),)),
        folder.parent,
        Patience(**{"queue_s": 600.0, "files_s": 10.0, **patience}),
        Clock(),
    )
    line = ["sh", "-c", program]
    given = {"COLOUR": "light 'blue'"}
    return runner.start(line, ranks=2, hosts=TWO, environment=given, limit_s=limit_s)


def ended(run: BatchRun) -> Finished:
    assert isinstance(run._clock, Clock)
    while (done := run.poll()) is None:
        if run._asking is None:
            run._clock.now_s += 0.1
        else:
            time.sleep(0.005)
    return done


def jobs_left(folder: Path) -> list[Path]:
    return list(folder.parent.glob("job-*"))


def test_a_job_gives_output_errors_and_exit_code_of_its_program(tools: Path) -> None:
    slurm(tools, sbatch=AT_ONCE)
    done = ended(started(tools, 'echo "in $COLOUR"; echo why >&2; exit 3'))
    assert (done.exit_code, done.output) == (3, "in light 'blue'\n")
    assert done.errors == "why\n" and not done.timed_out
    assert jobs_left(tools) == []
    again = started(tools, "echo fine")
    assert ended(again).exit_code == 0
    assert again.poll() is again.poll()  # asked again it answers the same


def test_the_end_is_seen_in_files_when_the_queue_forgets_jobs(tools: Path) -> None:
    says = 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'
    slurm(tools, sbatch=f"({AT_ONCE} & sleep 0.3) | tail -n 1; echo 7", squeue=says)
    assert ended(started(tools, "echo 5")).output == "5\n"


def test_a_refused_job_names_the_hosts_that_are_the_cause(tools: Path) -> None:
    refusal = "sbatch: error: Batch job submission failed: Invalid node name specified"
    slurm(tools, sbatch=f"echo '{refusal}' >&2; exit 1", sinfo='echo "n1|idle"')
    done = ended(started(tools, "true"))
    assert done.exit_code == NO_RESULT
    assert done.errors == f"Slurm refused the job: {refusal}; host n2 is unknown"


def test_a_job_that_can_never_run_is_not_waited_for(tools: Path) -> None:
    slurm(tools, squeue='echo "PENDING|PartitionNodeLimit"')
    done = ended(started(tools, "true"))
    assert done.errors == "Slurm job 7 can never run (PartitionNodeLimit)"
    assert (tools / "scancel.log").read_text() == "7\n"


@pytest.mark.parametrize("state", ["down*", "drained"])
def test_a_job_that_waits_for_a_failed_host_is_not_waited_for(
    tools: Path, state: str
) -> None:
    slurm(tools, sinfo=f'echo "n1|idle\nn2|{state}"')
    done = ended(started(tools, "true"))
    assert done.errors == f"Slurm job 7 can never run (Resources); host n2 is {state}"
    assert (tools / "scancel.log").read_text() == "7\n"
    assert jobs_left(tools) == []


def test_a_host_that_has_not_told_its_state_yet_is_waited_for(tools: Path) -> None:
    slurm(tools, sinfo='echo "n1|unknown\nn2|idle*"')
    done = ended(started(tools, "true", queue_s=8.0))
    assert "still waited after 8 s" in done.errors
    assert done.errors.endswith("; host n1 is unknown; host n2 is idle*")


def test_a_job_waits_in_the_queue_only_as_long_as_allowed(tools: Path) -> None:
    done = ended(started(tools, "true", queue_s=8.0))
    assert done.errors == (
        "Slurm job 7 still waited after 8 s (Resources) and was cancelled; raise "
        "--queue-limit to wait longer"
    )
    assert not done.timed_out
    assert (tools / "scancel.log").read_text() == "7\n"
    assert jobs_left(tools) == []


def test_time_in_the_queue_is_not_time_of_the_run(tools: Path) -> None:
    waits = 'n=$(cat "$0.n" 2>/dev/null | wc -l); echo >> "$0.n"; '
    slurm(tools, squeue=waits + '[ $n -gt 3 ] && echo "RUNNING|" || echo "PENDING|"')
    done = ended(started(tools, "true", limit_s=2.0))
    assert done.timed_out
    assert len((tools / "squeue.n").read_text()) >= 5
    assert (tools / "scancel.log").read_text() == "7\n"


@pytest.mark.parametrize(
    ("word", "timed_out"),
    [("CANCELLED", False), ("NODE_FAIL", False), ("TIMEOUT", True)],
)
def test_a_job_that_is_ended_from_outside_says_how(
    tools: Path, word: str, timed_out: bool
) -> None:
    slurm(tools, squeue=f'echo "{word}|None"', sinfo='echo "n1|idle\nn2|down*"')
    done = ended(started(tools, "true"))
    why = f"Slurm job 7 was ended from outside ({word})"
    assert done.errors == (why if timed_out else f"{why}; host n2 is down*")
    assert (done.exit_code, done.timed_out) == (NO_RESULT, timed_out)


def test_a_missing_output_file_says_where_it_was_expected(tools: Path) -> None:
    slurm(
        tools,
        sbatch='for word; do script=$word; done; echo "No space left" '
        '> "$(dirname $script)/log"; echo 7',
        squeue='echo "COMPLETED|None"',
    )
    done = ended(started(tools, "true"))
    assert "Slurm job 7 ended without a result (COMPLETED): No space" in done.errors
    assert f"{tools.parent}/job-" in done.errors
    assert "a disk that the hosts share" in done.errors


SILENT = (
    'echo "$*" >> "$0.log"; echo "{}: error: Unable to contact slurm controller '
    '(connect failure)" >&2; exit 1'
)


def test_a_silent_system_is_asked_again_until_it_answers(tools: Path) -> None:
    says = SILENT.format("sbatch")
    slurm(tools, sbatch=f'[ -e "$0.log" ] && {{ {AT_ONCE}; exit; }}; {says}')
    assert ended(started(tools, "echo 5")).output == "5\n"


@pytest.mark.parametrize("silent", ["sbatch", "squeue"])
def test_a_system_that_stays_silent_is_given_up_after_a_stated_time(
    tools: Path, silent: str
) -> None:
    slurm(tools, **{silent: SILENT.format(silent)})
    done = ended(started(tools, "true", silence_s=6.0))
    assert done.errors == (
        f"Slurm has not answered for 6 s: {silent}: error: Unable to contact slurm "
        "controller (connect failure)"
    )
    assert len((tools / f"{silent}.log").read_text().splitlines()) > 2


def test_a_question_that_fails_gives_the_complaint(tools: Path) -> None:
    slurm(tools, squeue='echo "squeue: error: Munge encode failed" >&2; exit 1')
    done = ended(started(tools, "true", silence_s=6.0))
    why = "Slurm has not answered for 6 s: squeue: error: Munge encode failed"
    assert done.errors == why
    assert (tools / "scancel.log").read_text() == "7\n"


def test_what_could_not_be_cancelled_is_named(tools: Path) -> None:
    says = "echo 'down' >&2; exit 1"
    slurm(tools, squeue=SILENT.format("squeue"), scancel=says)
    done = ended(started(tools, "true", silence_s=6.0))
    assert done.errors.endswith("; job 7 may still run: scancel 7: down")


@pytest.mark.parametrize("answers", [3, 999])
def test_a_cancelled_job_is_waited_for_until_it_is_gone(
    tools: Path, answers: int, caplog: pytest.LogCaptureFixture
) -> None:
    fake_mpi.script(
        tools / "squeue",
        f"""cd "${{0%/*}}"
        [ -e scancel.log ] || {{ echo "PENDING|PartitionNodeLimit"; exit; }}
        echo >> asked
        [ $(wc -l < asked) -gt {answers} ] && echo "CANCELLED|" || echo "COMPLETING|"
        """,
    )
    run = started(tools, "true")
    assert ended(run).errors == "Slurm job 7 can never run (PartitionNodeLimit)"
    assert len((tools / "asked").read_text()) == 4 or answers > 4
    assert ("was cancelled and still runs" in caplog.text) == (answers > 4)


TIMED_OUT = (
    'echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv '
    'operation" >&2; exit 1'
)
#: Keeps the script of each submission; `RUN` runs the first of them.
KEEP = 'for word; do script=$word; done; echo "$script" >> "$0.log"'
RUN = 'sh "$(head -n 1 "${0%/*}/sbatch.log")" >/dev/null 2>&1; echo "RUNNING|"'


def test_a_job_whose_number_was_lost_is_looked_for_not_submitted_again(
    tools: Path,
) -> None:
    slurm(
        tools,
        sbatch=f"{KEEP}; {TIMED_OUT}",
        squeue=f'case "$*" in *--name*) echo "$*" > "$0.log"; echo 9;; '
        f'*" 9 "*) {RUN};; esac',
    )
    run = started(tools, "echo 5")
    assert ended(run).output == "5\n"
    assert len((tools / "sbatch.log").read_text().splitlines()) == 1
    assert f"--name {run._job.name} " in (tools / "squeue.log").read_text()
    assert run._job.name != started(tools, "true")._job.name


def test_a_number_counts_whatever_else_the_submission_says(tools: Path) -> None:
    slurm(tools, sbatch=f"{KEEP}; echo 7; {TIMED_OUT}")
    done = ended(started(tools, "true", queue_s=2.0))
    assert done.errors.startswith("Slurm job 7 still waited after 2 s (Resources)")
    assert len((tools / "sbatch.log").read_text().splitlines()) == 1


def test_a_run_that_is_stopped_before_its_number_is_known_is_looked_for(
    tools: Path,
) -> None:
    slurm(tools, sbatch=TIMED_OUT, squeue='case "$*" in *--name*) echo 9;; esac')
    run = started(tools, "true")
    run.poll()
    run.stop()
    assert (tools / "scancel.log").read_text() == "9\n"


def test_a_job_that_was_submitted_twice_runs_once(tools: Path) -> None:
    twice = '"$script" >/dev/null 2>&1 & "$script" >/dev/null 2>&1; wait; echo 7'
    slurm(tools, sbatch=f"{KEEP}; {twice}")
    assert ended(started(tools, f"echo >> {tools}/runs")).exit_code == 0
    assert (tools / "runs").read_text() == "\n"


def test_of_two_jobs_of_a_run_the_one_that_began_is_followed(tools: Path) -> None:
    """The first is not found at once; the second, number 9, ends as it begins."""
    slurm(
        tools,
        sbatch=f'{KEEP}; [ $(wc -l < "$0.log") -gt 1 ] && {{ echo 9; exit; }}; '
        f"{TIMED_OUT}",
        squeue=f'case "$*" in *" 9 "*) : > "$0.9"; echo "FAILED|NonZeroExitCode";; '
        f'*" 8 "*) {RUN};; *--name*) [ -e "$0.9" ] && echo 8; exit 0;; esac',
    )
    assert ended(started(tools, "echo 5")).output == "5\n"
    assert len((tools / "sbatch.log").read_text().splitlines()) == 2


def test_a_full_disk_is_named(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(MachineError, match=r"cannot write into .*: No space left"):
        started(tools, "true")


def test_runs_after_a_long_silence_do_not_wait_as_long_again(tools: Path) -> None:
    slurm(tools, sbatch=SILENT.format("sbatch"))
    first = started(tools, "true", silence_s=6.0)
    ended(first)
    asked = len((tools / "sbatch.log").read_text().splitlines())
    second = BatchRun(first._system, first._job, (), first._patience, first._clock)
    assert "has not answered" in ended(second).errors
    assert len((tools / "sbatch.log").read_text().splitlines()) == asked + 1


def test_a_stopped_run_is_cancelled_even_before_its_number_is_known(
    tools: Path,
) -> None:
    slurm(tools, sbatch="sleep 0.3; echo 7")
    run = started(tools, "true")
    run.poll()
    run.stop()
    run.stop()
    assert (tools / "scancel.log").read_text() == "7\n"
    assert run.poll() is not None
    assert jobs_left(tools) == []


def test_a_second_interrupt_leaves_no_job_behind(tools: Path) -> None:
    """It comes while the first of two jobs is cancelled."""
    slurm(tools, scancel='kill -INT $PPID; echo "$*" >> "$0.log"')
    runs = [started(tools, "true") for _ in range(2)]
    for run in runs:
        assert comes_true(lambda run=run: run.poll() is None and bool(run._number))
    with pytest.raises(KeyboardInterrupt), Interrupts():
        for run in runs:
            run.stop()
    assert (tools / "scancel.log").read_text() == "7\n7\n"
    assert jobs_left(tools) == []


def test_a_folder_that_cannot_be_written_is_named(tools: Path) -> None:
    runner = BatchRunner(Slurm(), Hydra(("mpirun",)), Path("/proc/1"), Patience(1.0))
    with pytest.raises(MachineError, match=r"cannot write into /proc/1: .*; jobs of"):
        runner.start(["true"], ranks=1, hosts=(), environment={}, limit_s=None)
