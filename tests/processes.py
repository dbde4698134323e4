"""Whether processes live, and waiting for what takes moments or half a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Say whether a process runs; one that nobody has collected yet does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def processes_of(program: Path | str) -> list[int]:
    """Return the processes that run a program."""
    found = []
    for path in Path("/proc").glob("[0-9]*/exe"):
        try:
            if str(path.readlink()) == str(program):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def comes_true(condition: Callable[[], bool]) -> bool:
    """Wait for a condition: a signal is not yet an end, and machines are busy."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
