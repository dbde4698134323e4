"""Tests that judge speeds have the machine to themselves.

Two locks, which all workers of a run share: who waits to be alone keeps the gate, so
that no other test begins meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(path: Path, operation: int) -> Iterator[None]:
    """Keep a lock on a file, which is made."""
    with path.open("w") as file:
        fcntl.flock(file, operation)
        try:
            yield
        finally:  # processes that a test left behind have the file open as well
            fcntl.flock(file, fcntl.LOCK_UN)


@contextlib.contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Run a test when its turn has come: beside others, or alone.

    Parameters
    ----------
    folder : Path
        Of the locks.
    alone : bool
        Whether no other may run meanwhile.
    """
    with contextlib.ExitStack() as room:
        with locked(folder / "gate", fcntl.LOCK_EX):
            kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
            room.enter_context(locked(folder / "room", kind))
        yield


def folder_of_run(temporary: Path) -> Path:
    """Return the folder of the locks of this run, which all its workers find.

    Parameters
    ----------
    temporary : Path
        Where all of them have temporary files.
    """
    worker = "PYTEST_XDIST_WORKER" in os.environ
    run = os.getppid() if worker else os.getpid()
    made = temporary / f"skt-turns-{os.getuid()}-{run}"
    made.mkdir(mode=0o700, exist_ok=True)
    return made
