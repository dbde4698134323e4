"""Running commands so that nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch.process import Finished, Started, run
from tests.processes import alive, comes_true

ROOT = Path(__file__).parents[2]


def _gone(pid: int) -> bool:
    return comes_true(lambda: not alive(pid))


def test_output_and_exit_code_are_kept():
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.output, done.errors, done.exit_code) == ("out\n", "err\n", 3)


def test_a_signal_is_reported_as_a_shell_does():
    assert run(["sh", "-c", "kill -9 $$"]).exit_code == 128 + 9


def test_a_command_that_does_not_exist_is_named():
    with pytest.raises(MachineError, match="/no/such/program"):
        run(["/no/such/program"])


def test_variables_are_added_to_the_environment(tmp_path: Path):
    done = run(["sh", "-c", 'echo "$A $PWD"'], environment={"A": "b"}, folder=tmp_path)
    assert done.output.split() == ["b", str(tmp_path)]


def test_all_processes_end_when_the_time_is_over(tmp_path: Path):
    """One child leaves the process group, another ignores the polite signal."""
    pids = tmp_path / "pids"
    body = (
        f"setsid sleep 600 & echo $! > {pids}; "
        f"(trap '' TERM INT; sleep 601 & echo $! >> {pids}; wait) & sleep 602"
    )
    started = Started(["sh", "-c", body], timeout_s=0.3)  # from when it is asked
    assert comes_true(lambda: len(_numbers(pids)) == 2)
    assert _ended(started).timed_out
    assert all(_gone(pid) for pid in _numbers(pids))


def _numbers(file: Path) -> list[int]:
    """Return the numbers of a file that are complete."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [int(line) for line in lines if line.endswith("\n")]


def _ended(started: Started) -> Finished:
    while (done := started.poll()) is None:
        time.sleep(0.01)
    return done


def test_a_started_command_is_asked_until_it_has_ended():
    started = Started(["sh", "-c", "read line; echo never"])
    both = _ended(started), started.poll()
    assert both[0] is both[1]
    assert both[0].output == "never\n"
    started.stop()


def test_a_started_command_ends_when_its_time_is_over_or_it_is_stopped(tmp_path: Path):
    for timeout_s in (0.3, None):
        pids = tmp_path / f"{timeout_s}"
        line = (
            f"setsid sleep 600 & echo $! > {pids}.new; mv {pids}.new {pids}; sleep 601"
        )
        started = Started(["sh", "-c", line], timeout_s=timeout_s)
        while not pids.exists():
            time.sleep(0.01)
        if timeout_s is None:
            assert started.poll() is None
            started.stop()
        assert _ended(started).timed_out is (timeout_s is not None)
        assert _gone(int(pids.read_text()))


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_nothing_remains_when_skelgen_is_interrupted(tmp_path: Path, kind):
    pid_file = tmp_path / "pid"
    code = (
        "from skelgen.launch.process import run\n"
        f"run(['sh', '-c', 'echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file};"
        " sleep 600'])"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    assert comes_true(pid_file.exists)
    program.send_signal(kind)
    _, errors = program.communicate()
    assert b"KeyboardInterrupt" in errors
    assert _gone(int(pid_file.read_text()))


@pytest.mark.parametrize("kind", ["SIGHUP", "SIGINT"])
def test_a_signal_that_is_ignored_ends_nothing(kind: str):
    """As below nohup when the user logs out, or in the background at Ctrl-C."""
    code = (
        "import signal\n"
        "from skelgen.launch.process import run\n"
        f"signal.signal(signal.{kind}, signal.SIG_IGN)\n"
        f"run(['sh', '-c', 'kill -{kind[3:]} $PPID'])"
    )
    line = [sys.executable, "-c", code]
    program = subprocess.run(line, check=False, stderr=subprocess.PIPE, cwd=ROOT)
    assert (program.returncode, program.stderr) == (0, b"")


def test_the_first_telling_line_is_the_complaint():
    errors = "=====\n=   BAD TERMINATION\n\nssh: Could not resolve hostname n9\n"
    done = Finished(("mpirun",), 255, 0.1, "", errors)
    assert done.complaint == "ssh: Could not resolve hostname n9"
    assert Finished(("a",), 1, 0.1, "", "").complaint == "it printed nothing"
    # The launcher's stderr comes first, and says less of what happened.
    said = "ERROR on proc 0: Cannot open input script in.lj: No such file or directory"
    done = Finished(("mpirun",), 1, 0.1, f"LAMMPS\n{said}\n", "Abort(1) on node 0\n")
    assert done.complaint == said


FOREIGN = """
#include <signal.h>
#include <stddef.h>
static void nothing(int number) { (void)number; }
__attribute__((constructor)) static void begin(void)
{
	signal(SIGINT, nothing);
	signal(SIGTERM, nothing);
}
"""


def test_handlers_of_a_preloaded_tool_are_no_obstacle(tmp_path: Path) -> None:
    """Python knows no handler where one in C was set before it began."""
    library, source = tmp_path / "libtool.so", tmp_path / "tool.c"
    source.write_text(FOREIGN)
    subprocess.run(
        ["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True
    )
    script = (
        "import signal; from skelgen.launch.process import run\n"
        "assert signal.getsignal(signal.SIGTERM) is None\n"
        "print(run(['echo', 'ran']).output)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("ran", 0), done.stderr
