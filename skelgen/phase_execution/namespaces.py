"""Namespaces of Linux in which an application is alone with its process numbers.

A restored process gets the numbers, addresses and shared memory back that it had. In
namespaces of its own nothing else can hold those, and all that runs there ends with
them.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.documents.system import refused
from skelgen.errors import MachineError
from skelgen.launch.process import lives
from skelgen.phase_execution import pid1

#: Of the processes of an application, and how far above them others begin.
FIRST_PID, _APART = 1000, 1000
#: How long Linux may take to end all processes [s].
_TO_END_S, _PAUSE_S = 10.0, 0.005


#: Number of the capability with which namespaces are made.
_CAP_SYS_ADMIN = 21
#: Settings of the system, with the value that forbids namespaces of users.
_SWITCHES = {
    "user/max_user_namespaces": "0",
    "kernel/unprivileged_userns_clone": "0",
    "kernel/apparmor_restrict_unprivileged_userns": "1",
}

_ENDED = (
    "the namespaces of the application were ended from outside, or for want of memory; "
    "try again, or use --backend live"
)


def privileged() -> bool:
    """Say whether this process may make namespaces without one of users."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> _CAP_SYS_ADMIN & 1)
    return False


def unshare_command() -> list[str]:
    """Return the command that makes the namespaces and runs their first process.

    Without the privilege they are inside a namespace of users, in which this user is
    root.
    """
    users = () if privileged() else ("--user", "--map-root-user")
    return [
        *("unshare", *users, "--pid", "--mount", "--net", "--ipc", "--uts", "--fork"),
        *("--kill-child", sys.executable, "-I", str(Path(pid1.__file__))),
    ]


def _forbidden() -> str:
    """Say what forbids namespaces of users here; empty where nothing is known to."""
    for name, forbids in _SWITCHES.items():
        with contextlib.suppress(OSError):
            if Path("/proc/sys", name).read_text().strip() == forbids:
                return f"{name.replace('/', '.')} is {forbids}"
    return ""


@dataclass(frozen=True, slots=True)
class Task:
    """A command to be started.

    Attributes
    ----------
    arguments : tuple of str
    environment : Mapping of str to str
        All its variables.
    folder, out, err : Path
        Working directory, and the files that take what it writes.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    out: Path
    err: Path


class Namespaces:
    """Pid, mount, network, ipc and uts namespaces, and what runs in them.

    Parameters
    ----------
    last_pid : int
        The largest process number that is to stay free for a restored application.

    Raises
    ------
    MachineError
        When they cannot be made.
    """

    def __init__(self, last_pid: int = FIRST_PID) -> None:
        self._init = 0
        with refused(MachineError, "cannot run unshare", "use --backend live"):
            self._process = subprocess.Popen(
                unshare_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                text=True,
            )
        with contextlib.ExitStack() as undo:
            undo.callback(self.end)
            if (trouble := self._answer()) is not None:
                raise MachineError(f"no namespaces for the application: {trouble}")
            self._ask(do="count", pid=last_pid + (last_pid > FIRST_PID) * _APART)
            self._init = _only_child(self._process.pid)
            undo.pop_all()

    def memory_folders(self) -> tuple[Path, ...]:
        """Return their own /dev/shm and /tmp as these are seen from here."""
        return tuple(
            Path(f"/proc/{self._init}/root{at}") for at in ("/dev/shm", "/tmp")
        )

    def start(self, task: Task) -> int:
        """Start a command; return its number in these namespaces."""
        return int(
            self._ask(
                do="start",
                arguments=list(task.arguments),
                environment=dict(task.environment),
                folder=str(task.folder),
                out=str(task.out),
                err=str(task.err),
            )
        )

    def poll(self, pid: int) -> int | None:
        """Return the exit code of a process; None while it runs."""
        answer = self._ask(do="poll", pid=pid)
        return None if answer is None else int(answer)

    def processes(self) -> tuple[Path, ...]:
        """Return the folders in /proc, as seen from here, of all but the first one."""
        found = []
        try:
            inside = Path(f"/proc/{self._init}/ns/pid").readlink()
        except OSError as error:
            raise MachineError(_ENDED) from error
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdecimal() and (folder / "ns/pid").readlink() == inside:
                    found.append(folder)
        return tuple(one for one in found if one.name != str(self._init))

    def end(self) -> None:
        """End them and all that runs in them; does no harm twice."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        # At the end of its input the first process ends, and Linux all others first.
        try:
            self._process.wait(_TO_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # It is the child of the one that was waited for, and may live a little longer.
        until_s = time.monotonic() + _TO_END_S
        while self._init and lives(self._init) and time.monotonic() < until_s:
            time.sleep(_PAUSE_S)

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise MachineError(_ENDED) from error
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        line = self._process.stdout.readline()
        if not line and self._init:
            raise MachineError(_ENDED)
        if not line:
            told = self._process.stderr.read().strip().splitlines()
            why = told[-1] if told else "they ended at once"
            if not privileged():
                setting = _forbidden() or "a container may forbid them"
                why += (
                    f"; without root they need user namespaces, which are off here "
                    f"({setting}): ask for them, run as root, or use --backend live"
                )
            raise MachineError(f"no namespaces for the application: {why}")
        return json.loads(line)


def _only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
