"""Run a command so that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import Any, Self

from skelgen.errors import MachineError

logger = logging.getLogger(__name__)

#: Logging level of what users should know while they wait.
NOTE = 25

#: How long ranks may take to end after they were asked to [s].
GRACE_S = 3.0


class Output(Enum):
    """What happens to what a command writes."""

    KEEP = "keep"
    THROUGH = "through"  # it goes where skelgen's own output goes
    TO_STDERR = "to stderr"  # likewise, but all of it to stderr


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended.

    Attributes
    ----------
    arguments : tuple of str
    exit_code : int
        As a shell reports it: 128 + signal when a signal ended it.
    time_s : float
        Wall time, launching included [s].
    output, errors : str
        What it wrote, when that was captured.
    timed_out : bool
        Whether it was ended because its time was over.
    """

    arguments: tuple[str, ...]
    exit_code: int
    time_s: float
    output: str
    errors: str
    timed_out: bool = False

    @property
    def complaint(self) -> str:
        """Return the line of its output that says best what went wrong."""
        lines = [line.strip() for line in f"{self.errors}\n{self.output}".splitlines()]
        telling = [
            line
            for line in lines
            if any(char.isalpha() for char in line) and not line.startswith("=")
        ]
        return telling[0][:200] if telling else "it printed nothing"


def run(
    arguments: Sequence[str],
    *,
    output: Output = Output.KEEP,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Finished:
    """Run a command in a session of its own and wait for it.

    When the time is over, or skelgen itself is interrupted or ended, all processes
    that the command started are ended too.

    Parameters
    ----------
    arguments : sequence of str
    output : Output
        What happens to what it writes.
    timeout_s : float, optional
        Longest time it may take [s].
    environment : mapping, optional
        Variables in addition to those of skelgen.
    folder : Path, optional
        Working directory.

    Raises
    ------
    MachineError
        When the command cannot be started.
    """
    logger.debug("running %s", " ".join(arguments))
    keep = output is Output.KEEP
    with contextlib.ExitStack() as stack:
        # Files, not pipes: a process left behind cannot keep skelgen waiting.
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        interrupts = stack.enter_context(_Interrupts())
        begin = time.monotonic()
        try:
            process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.DEVNULL if keep else None,
                stdout=files[0] if keep else _stream(output),
                stderr=files[1] if keep else None,
                env=_environment(environment or {}),
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise MachineError(
                f"cannot run {arguments[0]}: {error.strerror or error}"
            ) from error
        timed_out = _wait(process, timeout_s, interrupts)
        time_s = time.monotonic() - begin
        for file in files:
            file.seek(0)
        texts = [file.read().decode(errors="replace") for file in files]
        code = _shell_code(process.returncode)
        return Finished(tuple(arguments), code, time_s, texts[0], texts[1], timed_out)


def _stream(output: Output) -> int | None:
    return sys.stderr.fileno() if output is Output.TO_STDERR else None


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return skelgen's own environment and more.

    Programs installed beside skelgen are found by their names in any case, but
    after those of the user.
    """
    inherited = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": f"{inherited}:{sys.prefix}/bin", **extra}


def _shell_code(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode


def _wait(
    process: subprocess.Popen[bytes],
    timeout_s: float | None,
    interrupts: _Interrupts,
) -> bool:
    """Wait for a process; return whether its time was over."""
    try:
        interrupts.let_through()
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        interrupts.hold_back()
        end_all(process, signal.SIGTERM)
        return True
    except BaseException:
        interrupts.hold_back()
        end_all(process, signal.SIGINT)
        raise
    finally:
        interrupts.hold_back()
    return False


def end_all(process: subprocess.Popen[bytes], first: signal.Signals) -> None:
    """End a process and everything it started, first kindly, then by force."""
    family = descendants(process.pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, first)
    # A launcher needs a moment to end ranks on other hosts.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    family |= descendants(process.pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid, started in family.items():
        if _started(pid) == started:  # the number may belong to another by now
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    process.wait()


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` that follow the name."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _started(pid: int) -> str:
    fields = _stat(pid)
    return fields[19] if fields else ""


def descendants(pid: int) -> dict[int, str]:
    """Return children, their children and so on, with their start times."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: dict[int, str] = {}
    waiting = list(parents.get(pid, []))
    while waiting:
        child = waiting.pop()
        if child not in found:
            found[child] = _started(child)
            waiting += parents.get(child, [])
    return found


class _Interrupts:
    """Signals that end skelgen, turned into an interrupt where that can be handled.

    While a command starts or ends they are held back: nothing may be left behind.
    """

    _KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self._through = False
        self._pending = ""
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = {
                kind: signal.signal(kind, self._receive) for kind in self._KINDS
            }
        return self

    def __exit__(self, *_: object) -> None:
        for kind, handler in self._previous.items():
            signal.signal(kind, handler)
        self._raise_pending()

    def let_through(self) -> None:
        """Interrupt from now on, and at once when a signal has come already."""
        self._through = True
        self._raise_pending()

    def hold_back(self) -> None:
        """Keep signals until the command has ended."""
        self._through = False

    def _receive(self, number: int, _: FrameType | None) -> None:
        self._pending = signal.Signals(number).name
        if self._through:
            self._raise_pending()

    def _raise_pending(self) -> None:
        if self._pending:
            name, self._pending = self._pending, ""
            raise KeyboardInterrupt(name)
