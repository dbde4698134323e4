"""How a command reaches a host: a remote shell, or a step of an allocation."""

import os
import sys
from pathlib import Path

import pytest

from skelgen.errors import MachineError, UsageError
from skelgen.launch.launchers import FluxRun, Srun
from skelgen.launch.remote import Remote, leave_running, on_each, remote
from skelgen.launch.way import Way
from tests.processes import comes_true

VARIABLES = ("SLURM_JOB_ID", "FLUX_URI", "PBS_JOBID", "SKELGEN_SSH")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path on which nothing is, outside any allocation."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def put(tools: Path, *names: str) -> None:
    for name in names:
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)


def test_a_remote_shell_gets_one_word_with_all_quotes() -> None:
    line = Remote(None, ("ssh", "-q")).command("n1", ["say", "a b"], {"X": "1 2"})
    assert line == ["ssh", "-q", "n1", "env 'X=1 2' say 'a b'"]
    assert Remote(None).command("n1", ["say"], {}) == ["ssh", "n1", "say"]


def test_a_step_gets_words() -> None:
    reach = Remote(Srun(("srun", "--overlap")))
    line = reach.command("n1", ["say", "a b"], {"X": "1"})
    assert line[-4:] == ["env", "X=1", "say", "a b"] and line[line.index("-w") + 1] == (
        "n1"
    )
    both = reach.together(["n1", "n2"], ["say"], {})
    assert both is not None and both[both.index("-w") + 1] == "n1,n2"
    assert both[-3:] == ["-n", "2", "say"]
    assert Remote(None).together(["n1"], ["say"], {}) is None


def test_ssh_never_asks_for_a_password(tools: Path) -> None:
    put(tools, "ssh")
    assert remote().shell == ("ssh", "-o", "BatchMode=yes")


def test_a_site_may_have_another_remote_shell(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKELGEN_SSH", "clush -w 'a b'")
    assert remote(Way.LOCAL).shell == ("clush", "-w", "a b")


def test_without_a_remote_shell_it_is_said_what_to_do(tools: Path) -> None:
    with pytest.raises(MachineError, match="no ssh on PATH; install it"):
        remote()


@pytest.mark.parametrize(
    ("variable", "submits", "kind"),
    [("SLURM_JOB_ID", "sbatch", Srun), ("FLUX_URI", "flux", FluxRun)],
)
def test_inside_an_allocation_commands_are_steps(
    tools: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    submits: str,
    kind: type,
) -> None:
    put(tools, submits, "ssh")
    monkeypatch.setenv(variable, "1")
    assert isinstance(remote().launcher, kind)
    assert remote(Way.LOCAL).launcher is None


def test_inside_an_allocation_of_pbs_a_remote_shell_is_used(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tools, "qsub", "ssh")
    monkeypatch.setenv("PBS_JOBID", "1")
    assert remote().launcher is None


def test_no_job_is_submitted_for_a_command(tools: Path) -> None:
    put(tools, "sbatch", "ssh")
    with pytest.raises(UsageError, match="--through slurm: this is no allocation"):
        remote(Way.SLURM)


def test_each_host_has_an_answer_in_the_order_of_the_question() -> None:
    commands = {f"n{n}": ["sh", "-c", f"exit {n % 3}"] for n in range(40)}
    found = on_each(commands, limit_s=60)
    assert list(found) == list(commands)
    assert [one.exit_code for one in found.values()] == [n % 3 for n in range(40)]


def test_a_host_that_does_not_answer_is_given_up() -> None:
    found = on_each({"n1": ["sleep", "600"], "n2": ["true"]}, limit_s=0.5)
    assert found["n1"].timed_out and found["n2"].exit_code == 0


def test_what_is_left_running_has_a_log_for_its_owner(tmp_path: Path) -> None:
    log = tmp_path / "log"
    before = os.umask(0)
    try:
        script = "echo said; echo wrong >&2; cut -d' ' -f6 /proc/$$/stat"
        pid = leave_running(["sh", "-c", script], log)
    finally:
        os.umask(before)
    assert comes_true(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid)
    assert log.read_text().split() == ["said", "wrong", str(pid)]
    assert log.stat().st_mode & 0o777 == 0o600
    with pytest.raises(MachineError, match="no nothing-of-this-name on PATH"):
        leave_running(["nothing-of-this-name"], log)


def test_words_that_commands_read_are_in_no_file_and_on_no_command_line() -> None:
    commands = {host: ["sh", "-c", "cat; readlink /proc/self/fd/0"] for host in "ab"}
    found = on_each(commands, limit_s=60, given="a secret\n")
    for one in found.values():
        secret, place = one.output.splitlines()
        assert secret == "a secret" and place.startswith("pipe:")
        assert not any("secret" in word for word in one.arguments)
