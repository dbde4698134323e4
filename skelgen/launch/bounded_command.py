"""Run a command that may take no more than its bounds, and ends with who started it."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO

from skelgen.errors import MachineError
from skelgen.launch import bounded_child
from skelgen.launch.process import end_all, environment_with

#: How often it is asked whether a command is to stop [s].
_LOOK_S = 0.2
#: Bytes that are read at once, and bytes of a line of errors.
_READ, _LONGEST_LINE = 1 << 16, 4096


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a command may take.

    Attributes
    ----------
    time_s : float
        Wall time, and processor time of each of its processes [s].
    memory_bytes : int
        Of addresses of each of its processes.
    output_bytes : int
        Of what it writes on its standard output.
    niceness : int
        Added to that of who starts it.
    """

    time_s: float = 600.0
    memory_bytes: int = 3 << 30
    output_bytes: int = 4 << 20
    niceness: int = 10


class EndedBy(StrEnum):
    """What ended a command."""

    ITSELF = "itself"
    TIME = "time"
    OUTPUT = "output"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class BoundedEnd:
    """How a command ended.

    Attributes
    ----------
    exit_code : int
        As a shell reports it: 128 + signal when a signal ended it.
    output : bytes
    last_line : str
        Of its errors; empty where it wrote none.
    ended_by : EndedBy
    """

    exit_code: int
    output: bytes
    last_line: str
    ended_by: EndedBy

    @property
    def said(self) -> str:
        """Return the last line as a command of ours means it: its error alone."""
        return self.last_line.removeprefix("skelgen: ").removeprefix("error: ")


@dataclass(slots=True)
class _Written:
    """What a command has written so far."""

    said: Callable[[str], None]
    output: bytearray = field(default_factory=bytearray)
    begun: bytes = b""
    last_line: str = ""

    def errors(self, part: bytes) -> None:
        """Take a part of its errors; tell of each line that is complete."""
        *lines, rest = (self.begun + part).split(b"\n")
        self.begun = rest[:_LONGEST_LINE]
        for line in lines:
            self._line(line)

    def close(self) -> None:
        """Take the last line, which may have no end."""
        self._line(self.begun)
        self.begun = b""

    def _line(self, line: bytes) -> None:
        text = line[:_LONGEST_LINE].decode(errors="replace").strip()
        if text:
            self.last_line = text
            self.said(text)


#: A command within bounds has one core: others work on this machine, too.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def own_command(module: str, *words: str) -> list[str]:
    """Return what runs a module of ours, and none of the folder that it runs in."""
    return [sys.executable, "-P", "-m", module, *words]


def run_bounded(
    arguments: Sequence[str],
    bounds: Bounds,
    *,
    environment: Mapping[str, str],
    folder: Path,
    began: Callable[[int], None],
    said: Callable[[str], None],
    stop: Callable[[], bool],
) -> BoundedEnd:
    """Run a command and wait for it, in the thread that calls.

    It ends, too, when this thread does: nobody is left to read what it writes.

    Parameters
    ----------
    arguments : sequence of str
        The program by its path first.
    bounds : Bounds
    environment : mapping of str to str
        Variables in addition to those of skelgen.
    folder : Path
        Where it runs.
    began : callable
        Gets the number of its process.
    said : callable
        Gets each line of its errors.
    stop : callable
        Says whether it is to be ended.

    Raises
    ------
    MachineError
        When it cannot be started.
    """
    process = _started(arguments, bounds, environment, folder)
    try:
        began(process.pid)
        written = _Written(said)
        ended_by = _read(process, written, bounds, stop)
    except BaseException:
        end_all(process, signal.SIGTERM)
        raise
    if ended_by is not EndedBy.ITSELF:
        end_all(process, signal.SIGTERM)
    written.close()
    code = process.wait()
    return BoundedEnd(
        128 - code if code < 0 else code,
        bytes(written.output),
        written.last_line,
        ended_by,
    )


def _started(
    arguments: Sequence[str],
    bounds: Bounds,
    environment: Mapping[str, str],
    folder: Path,
) -> subprocess.Popen[bytes]:
    limits = (os.getpid(), int(bounds.time_s), bounds.memory_bytes, bounds.niceness)
    script = [sys.executable, "-I", "-S", bounded_child.__file__, *map(str, limits)]
    try:
        return subprocess.Popen(
            [*script, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment_with(environment),
            cwd=folder,
            start_new_session=True,
            umask=0o077,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise MachineError(f"cannot run {arguments[0]}: {why}") from error


def _read(
    process: subprocess.Popen[bytes],
    written: _Written,
    bounds: Bounds,
    stop: Callable[[], bool],
) -> EndedBy:
    """Read what a command writes until it ends, or has to."""
    assert process.stdout is not None
    assert process.stderr is not None
    end_s = time.monotonic() + bounds.time_s
    with (
        selectors.DefaultSelector() as opened,
        process.stdout as output,
        process.stderr as errors,
    ):
        opened.register(output, selectors.EVENT_READ, written.output.extend)
        opened.register(errors, selectors.EVENT_READ, written.errors)
        while opened.get_map():
            for key, _ in opened.select(_LOOK_S):
                _take(opened, key)
            if len(written.output) > bounds.output_bytes:
                return EndedBy.OUTPUT
            if time.monotonic() > end_s:
                return EndedBy.TIME
            if stop():
                return EndedBy.STOP
            if process.poll() is not None and not opened.select(0):
                break  # what it started may keep its output open
    return _last(process, end_s, stop)


def _take(opened: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    file: IO[bytes] = key.fileobj  # type: ignore[assignment]
    part = file.read1(_READ)  # type: ignore[attr-defined]
    if part:
        key.data(part)
    else:
        opened.unregister(file)


def _last(
    process: subprocess.Popen[bytes], end_s: float, stop: Callable[[], bool]
) -> EndedBy:
    """Wait for a command that has closed its output."""
    while process.poll() is None:
        if time.monotonic() > end_s:
            return EndedBy.TIME
        if stop():
            return EndedBy.STOP
        time.sleep(_LOOK_S / 10)
    return EndedBy.ITSELF
