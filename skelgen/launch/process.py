"""Run a command so that nothing of it is left behind."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.secrets import hidden

logger = logging.getLogger(__name__)

#: What programs say of a file that they miss.
_NO_FILE = re.compile(r"no such file|(cannot|can't|could not|unable to) open", re.I)

#: How long ranks may take to end after they were asked to [s].
GRACE_S = 3.0


#: Exit code of a program of which nobody knows how it ended; its errors say why.
NO_RESULT = -1


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
        As a shell reports it: 128 + signal when a signal ended it; `NO_RESULT` when
        what should have run it did not.
    time_s : float
        Wall time, launching included [s].
    output, errors : str
        What it wrote, when that was captured.
    timed_out : bool
        Whether it was ended because its time was over.
    begun : bool
        False when it was given up before it was given any host.
    """

    arguments: tuple[str, ...]
    exit_code: int
    time_s: float
    output: str
    errors: str
    timed_out: bool = False
    begun: bool = True

    @property
    def complaint(self) -> str:
        """Return the line of its output that says best what went wrong."""
        return telling_line(f"{self.errors}\n{self.output}")


def telling_line(text: str) -> str:
    """Return the line that says best what went wrong.

    It tells of a file that is not there, or is the first one: what launchers say of the
    end may stand before what the program said.
    """
    lines = [line.strip() for line in text.splitlines()]
    telling = [
        line
        for line in lines
        if any(char.isalpha() for char in line) and not line.startswith("=")
    ] or ["it printed nothing"]
    return next(filter(_NO_FILE.search, telling), telling[0])[:200]


class Started:
    """A command that runs in a session of its own.

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
    private : bool
        Whether only the owner may read what it writes, whatever the umask.
    given : str
        A few words that it reads on its standard input, where its output is kept.

    Raises
    ------
    MachineError
        When the command cannot be started.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        output: Output = Output.KEEP,
        timeout_s: float | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        private: bool = False,
        given: str = "",
    ) -> None:
        logger.debug("running %s", " ".join(hidden(arguments)))
        keep = output is Output.KEEP
        self._arguments, self._timeout_s = tuple(arguments), timeout_s
        self._finished: Finished | None = None
        with contextlib.ExitStack() as stack:
            # Files, not pipes: a process left behind cannot keep skelgen waiting.
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
            reads = _pipe_with(given, stack) if given else subprocess.DEVNULL
            self._begin_s = time.monotonic()
            try:
                self._process = subprocess.Popen(
                    list(arguments),
                    stdin=reads if keep else None,
                    stdout=files[0] if keep else _stream(output),
                    stderr=files[1] if keep else None,
                    env=environment_with(environment or {}),
                    cwd=folder,
                    start_new_session=True,
                    umask=0o077 if private else -1,
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise MachineError(f"cannot run {arguments[0]}: {why}") from error
            self._files, self._opened = files, stack.pop_all()

    @property
    def pid(self) -> int:
        """Return the number of its first process."""
        return self._process.pid

    def poll(self) -> Finished | None:
        """Return how it ended, None while it runs; end it when its time is over."""
        if self._finished is None:
            left_s = self._left_s()
            if self._process.poll() is not None:
                self._finish()
            elif left_s is not None and left_s <= 0:
                end_all(self._process, signal.SIGTERM)
                self._finish(timed_out=True)
        return self._finished

    def wait(self, interrupts: Interrupts) -> Finished:
        """Wait until it ends; end it when skelgen is interrupted meanwhile."""
        try:
            interrupts.let_through()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(self._left_s())
            interrupts.hold_back()
        except BaseException:
            interrupts.hold_back()
            self.stop()
            raise
        finished = self.poll()
        assert finished is not None
        return finished

    def stop(self) -> None:
        """End it with all that it started; does no harm when it has ended."""
        if self._finished is None:
            end_all(self._process, signal.SIGINT)
            self._finish()

    def _left_s(self) -> float | None:
        if self._timeout_s is None:
            return None
        return self._begin_s + self._timeout_s - time.monotonic()

    def _finish(self, *, timed_out: bool = False) -> None:
        time_s = time.monotonic() - self._begin_s
        for file in self._files:
            file.seek(0)
        texts = [file.read().decode(errors="replace") for file in self._files]
        self._opened.close()
        code = _shell_code(self._process.returncode)
        self._finished = Finished(
            self._arguments, code, time_s, texts[0], texts[1], timed_out
        )


def run(
    arguments: Sequence[str],
    *,
    output: Output = Output.KEEP,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    private: bool = False,
) -> Finished:
    """Run a command in a session of its own and wait for it.

    When the time is over, or skelgen itself is interrupted or ended, all processes
    that the command started are ended too.

    See `Started` for what it takes and raises.
    """
    with Interrupts() as interrupts:
        started = Started(
            arguments,
            output=output,
            timeout_s=timeout_s,
            environment=environment,
            folder=folder,
            private=private,
        )
        return started.wait(interrupts)


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[None]:
    """Keep a command running meanwhile; it prints a line when it is ready.

    Raises
    ------
    MachineError
        When it ends before that.
    """
    with subprocess.Popen(
        list(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise MachineError(f"{arguments[0]} ended before it was ready")
            yield
        finally:
            end_all(process, signal.SIGTERM)


def _pipe_with(text: str, stack: contextlib.ExitStack) -> int:
    """Return a pipe from which a few words can be read; no file has them."""
    reading, writing = os.pipe()
    stack.callback(os.close, reading)
    with os.fdopen(writing, "w") as file:
        file.write(text)
    return reading


def _stream(output: Output) -> int | None:
    return sys.stderr.fileno() if output is Output.TO_STDERR else None


def environment_with(extra: Mapping[str, str]) -> dict[str, str]:
    """Return skelgen's own environment and more.

    Programs installed beside skelgen are found by their names in any case, but
    after those of the user.
    """
    inherited = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": f"{inherited}:{sys.prefix}/bin", **extra}


def _shell_code(returncode: int) -> int:
    return 128 - returncode if returncode < 0 else returncode


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


def lives(pid: int) -> bool:
    """Say whether a process runs; one that nobody has collected yet does not."""
    fields = _stat(pid)
    return bool(fields) and fields[0] not in "ZX"


def process_name(pid: int) -> str:
    """Return what tells a process from all others that have had its number.

    Empty where there is none.
    """
    if not (started := _started(pid)) or not lives(pid):
        return ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        boot = ""
    return f"{pid}:{started}:{boot}"


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
