"""Run a short command on each of some hosts, by ssh or as steps of an allocation."""

from __future__ import annotations

import os
import shlex
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import MachineError, UsageError
from skelgen.launch.hosts import Host
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.launch_method import allocation
from skelgen.launch.launchers import FluxRun, Launcher, Srun
from skelgen.launch.mpi import program
from skelgen.launch.process import Finished, Started
from skelgen.launch.way import Way

#: Hosts that are asked at the same time.
_AT_ONCE = 32
_PAUSE_S = 0.01


@dataclass(frozen=True, slots=True)
class Remote:
    """How a command reaches a host.

    Attributes
    ----------
    launcher : Launcher or None
        Starts steps of an allocation; None for a remote shell.
    shell : tuple of str
        The remote shell.
    """

    launcher: Launcher | None
    shell: tuple[str, ...] = ("ssh",)

    def command(
        self, host: str, words: Sequence[str], variables: Mapping[str, str]
    ) -> list[str]:
        """Return the command that runs another on a host, with variables set."""
        line = _with_variables(words, variables)
        if self.launcher is None:
            return [*self.shell, host, shlex.join(line)]
        return self.launcher.arguments(line, ranks=1, hosts=[Host(host)])

    def together(
        self, hosts: Sequence[str], words: Sequence[str], variables: Mapping[str, str]
    ) -> list[str] | None:
        """Return the command that runs one on all hosts, as long as these live there.

        None for a remote shell: what it starts can stay when it has ended.
        """
        if self.launcher is None:
            return None
        line = _with_variables(words, variables)
        places = [Host(host) for host in hosts]
        return self.launcher.arguments(line, ranks=len(places), hosts=places)


def _with_variables(words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """Return a command that sets variables first."""
    named = [f"{name}={value}" for name, value in variables.items()]
    return ["env", *named, *words] if named else list(words)


def remote(way: Way = Way.AUTO) -> Remote:
    """Choose how commands reach hosts.

    Inside an allocation of Slurm or Flux they are steps of it; else the remote shell
    starts them: ``SKELGEN_SSH``, or ssh.

    Raises
    ------
    UsageError
        When a batch system shall do it outside its allocation.
    MachineError
        When there is no ssh.
    """
    here = allocation()
    way = (here or Way.LOCAL) if way is Way.AUTO else way
    if way not in (here, Way.LOCAL):
        raise UsageError(
            f"--through {way.value}: this is no allocation of it; put the command into "
            "the job script, or leave the option out to use ssh"
        )
    if way is Way.SLURM:
        return Remote(Srun(("srun", "--overlap", "--kill-on-bad-exit=0")))
    if way is Way.FLUX:
        return Remote(FluxRun(("flux", "run")))
    if named := os.environ.get("SKELGEN_SSH"):
        return Remote(None, tuple(shlex.split(named)))
    if program("ssh") is None:
        raise MachineError(
            "no ssh on PATH; install it, name another remote shell in SKELGEN_SSH, or "
            "run the command on each host"
        )
    return Remote(None, ("ssh", "-o", "BatchMode=yes"))


def on_each(
    commands: Mapping[str, Sequence[str]], *, limit_s: float, given: str = ""
) -> dict[str, Finished]:
    """Run a command for each host, several at a time.

    Parameters
    ----------
    commands : mapping of str to sequence of str
        By host.
    limit_s : float
        Longest time of one [s].
    given : str
        A few words that each reads on its standard input.
    """
    waiting = deque(commands.items())
    running: dict[str, Started] = {}
    ended: dict[str, Finished] = {}
    with Interrupts() as interrupts:
        try:
            while waiting or running:
                while waiting and len(running) < _AT_ONCE:
                    host, command = waiting.popleft()
                    running[host] = Started(command, timeout_s=limit_s, given=given)
                interrupts.pause(_PAUSE_S)
                for host, one in list(running.items()):
                    if (done := one.poll()) is not None:
                        ended[host] = done
                        del running[host]
        finally:
            for one in running.values():
                one.stop()
    return {host: ended[host] for host in commands}


def leave_running(
    command: Sequence[str], log: Path, variables: Mapping[str, str] | None = None
) -> int:
    """Start a command that goes on when this process has ended; return its number.

    Parameters
    ----------
    command : sequence of str
    log : Path
        For what it writes; only the owner can read it.
    variables : mapping of str to str, optional
        Set for it in addition to those of skelgen.

    Raises
    ------
    MachineError
        When it cannot be started.
    """
    path = program(command[0])
    if path is None:
        raise MachineError(f"no {command[0]} on PATH")
    writes = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), writes, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    try:
        return os.posix_spawn(
            path,
            list(command),
            {**os.environ, **(variables or {})},
            file_actions=actions,
            setsid=True,
        )
    except OSError as error:
        raise MachineError(f"cannot run {command[0]}: {error.strerror}") from error
