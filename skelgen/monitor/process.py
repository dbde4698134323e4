"""One process that is watched: what it has used, and how it ended.

Its files in ``/proc`` are kept open: when it ends, a few reads must be done before its
parent collects it. A handle of the kernel (pidfd) says at once that it ended, and on
Linux 6.15 and newer how, even when it has been collected.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from dataclasses import dataclass

#: Where fields of ``/proc/PID/stat`` are, behind the name.
_STATE, _PARENT, _USER, _CHILDREN, _START, _EXIT = 0, 1, 11, 13, 19, 49
#: ``ioctl`` that asks a handle about its process: PIDFD_GET_INFO of linux/pidfd.h, with
#: a structure of 64 bytes; the bit asks how it ended.
_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
_INFO_EXIT = 1 << 3
_CODE_AT = 60


@dataclass(frozen=True, slots=True)
class Figures:
    """What a process has used since it began.

    Attributes
    ----------
    cpu_s : float
        By itself [s].
    all_cpu_s : float
        With its children that have ended and that it has waited for [s].
    memory_bytes : int
        Most that it had in memory [bytes].
    read_bytes, written_bytes : int
        From and to storage, with those children [bytes].
    """

    cpu_s: float = 0.0
    all_cpu_s: float = 0.0
    memory_bytes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Stat:
    """What ``/proc/PID/stat`` says.

    Attributes
    ----------
    state : str
        ``Z``: it has ended, and nobody has collected it yet.
    parent : int
    cpu_s, children_s : float
        CPU time of its own, and of its children that it waited for [s].
    start : int
        When it began [ticks since the machine was started].
    code : int
        How it ended, as ``wait`` says it; 0 as long as it runs.
    """

    state: str
    parent: int
    cpu_s: float
    children_s: float
    start: int
    code: int


def stat_of(text: str, ticks_per_s: float) -> Stat:
    """Read ``/proc/PID/stat``.

    Raises
    ------
    ValueError, IndexError
        When it is something else.

    Examples
    --------
    >>> fields = ["Z", "7", *"0" * 9, "150", "50", "30", "20", *"0" * 4, "900"]
    >>> stat_of(f"9 (a b) {' '.join([*fields, *'0' * 29, '256', '0'])}", 100.0)
    Stat(state='Z', parent=7, cpu_s=2.0, children_s=0.5, start=900, code=256)
    """
    fields = text.rpartition(")")[2].split()
    return Stat(
        fields[_STATE],
        int(fields[_PARENT]),
        (int(fields[_USER]) + int(fields[_USER + 1])) / ticks_per_s,
        (int(fields[_CHILDREN]) + int(fields[_CHILDREN + 1])) / ticks_per_s,
        int(fields[_START]),
        int(fields[_EXIT]) if len(fields) > _EXIT else 0,
    )


def status_of(code: int | None) -> str:
    """Return how a process ended, from what ``wait`` says; None: nobody knows.

    Examples
    --------
    >>> status_of(0), status_of(3 << 8), status_of(9), status_of(None)
    ('ok', 'exit 3', 'signal 9', 'unknown')
    """
    if code is None:
        return "unknown"
    if code & 0x7F:
        return f"signal {code & 0x7F}"
    return f"exit {code >> 8 & 0xFF}" if code >> 8 & 0xFF else "ok"


class Process:
    """A process that is watched.

    Its ``looked`` says whether it was looked at when it had ended.

    Parameters
    ----------
    pid : int
    proc : str
        Where the kernel shows processes.
    ticks_per_s : float

    Raises
    ------
    OSError
        When there is none.
    """

    def __init__(self, pid: int, proc: str, ticks_per_s: float) -> None:
        self.pid, self._ticks = pid, ticks_per_s
        self._folder = f"{proc}/{pid}"
        self._files: dict[str, int] = {}
        self.handle = -1
        self.figures = Figures()
        self.code: int | None = None
        self._may = self.looked = False
        try:
            self._files["stat"] = os.open(f"{self._folder}/stat", os.O_RDONLY)
            with contextlib.suppress(OSError):  # more than we may have, an old kernel
                self.handle = handle_of(pid)
            for name in ("io", "status"):
                with contextlib.suppress(OSError):
                    self._files[name] = os.open(f"{self._folder}/{name}", os.O_RDONLY)
            stat = self._stat()
            if stat.state in "ZX":
                raise ProcessLookupError(f"process {pid} has ended")
        except (OSError, ValueError, IndexError):
            self.close()
            raise
        self.start, self.parent = stat.start, stat.parent

    def close(self) -> None:
        """Close its files."""
        for handle in self._files.values():
            os.close(handle)
        self._files.clear()
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1

    def look(self) -> bool:
        """Read what it has used so far; return whether it still runs.

        Of one that has ended, and that its parent has not collected yet, that is all it
        used but its memory, and how it ended.
        """
        try:
            stat = self._stat()
        except (OSError, ValueError, IndexError):
            return False
        if stat.state in "ZX":
            self._account(stat)
            self.looked = True
            if self._may or stat.code:
                self.code = stat.code
            return False
        memory = self._counts("status", ("VmHWM:",))[0] * 1024
        self._account(stat, memory)
        return True

    def cpu_s(self) -> float:
        """Return the CPU time that it has had by now, or at the last look [s]."""
        try:
            return self._stat().cpu_s
        except (OSError, ValueError, IndexError):
            return self.figures.cpu_s

    def collected(self) -> None:
        """Ask how it ended, where it had been collected before it was looked at."""
        if self.code is None and self.handle >= 0:
            self.code = code_of(self.handle)

    def _account(self, stat: Stat, memory: int = 0) -> None:
        before = self.figures
        read, written = self._counts("io", ("read_bytes:", "write_bytes:"))
        self._may = self._may or read >= 0
        self.figures = Figures(
            max(before.cpu_s, stat.cpu_s),
            max(before.all_cpu_s, stat.cpu_s + stat.children_s),
            max(before.memory_bytes, memory),
            max(before.read_bytes, read),
            max(before.written_bytes, written),
        )

    def _stat(self) -> Stat:
        return stat_of(self._read("stat"), self._ticks)

    def _counts(self, file: str, names: tuple[str, ...]) -> list[int]:
        """Return counts in a file of lines, -1 where there is none."""
        try:
            text = self._read(file)
        except (OSError, KeyError):
            return [-1] * len(names)
        found = dict.fromkeys(names, -1)
        for line in text.splitlines():
            name, _, rest = line.partition(":")
            if f"{name}:" in found:
                with contextlib.suppress(ValueError, IndexError):
                    found[f"{name}:"] = int(rest.split()[0])
        return list(found.values())

    def _read(self, name: str) -> str:
        return os.pread(self._files[name], 1 << 14, 0).decode("ascii", "replace")


def handle_of(pid: int) -> int:
    """Return a handle of a process that can be waited for.

    Raises
    ------
    OSError
    """
    opened = getattr(os, "pidfd_open", None)
    if opened is None:
        raise OSError("no handles of processes")
    return int(opened(pid))


def code_of(handle: int) -> int | None:
    """Return how a process ended that has been collected, as ``wait`` says it.

    None where the kernel is older than Linux 6.15, or nobody has collected it yet.
    """
    asked = bytearray(64)
    struct.pack_into("Q", asked, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(handle, _GET_INFO, asked)
    except OSError:
        return None
    (known,) = struct.unpack_from("Q", asked)
    (code,) = struct.unpack_from("i", asked, _CODE_AT)
    return int(code) if known & _INFO_EXIT else None
