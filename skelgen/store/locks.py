"""A lock that one process at a time has, and that its death gives back."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from skelgen.documents.system import writing
from skelgen.errors import MachineError
from skelgen.store.sharing import give

#: Between two tries [s].
_PAUSE_S = 0.002
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


@contextlib.contextmanager
def locked(file: Path, mode: int, wait_s: float) -> Iterator[bool]:
    """Try to lock a file; give whether it is locked now.

    Parameters
    ----------
    file : Path
        Made when it is missing, and never removed.
    mode : int
        Permissions of a new one.
    wait_s : float
        How long to try; 0: once [s].

    Raises
    ------
    UsageError
        When it cannot be written.
    MachineError
        When the file system has no locks.
    """
    with writing(file):
        handle = os.open(file, _FLAGS, mode)
    try:
        if os.fstat(handle).st_mode & 0o777 != mode:  # the umask took some of it
            with contextlib.suppress(PermissionError):
                give(handle, mode, file.parent)
        taken = take(handle, file, wait_s)
        if taken:
            _sign(handle)
        yield taken
    finally:
        os.close(handle)


def take(handle: int, file: Path, wait_s: float = 0.0) -> bool:
    """Try to lock an open file; see `locked`."""
    end_s = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end_s:
                return False
            time.sleep(_PAUSE_S)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise MachineError(
                    f"{file}: this file system has no locks ({error.strerror}); put "
                    "the store on another one, or name a PostgreSQL database"
                ) from error
            raise
        else:
            return True


def is_locked(file: Path) -> bool:
    """Say whether a process has locked a file at this moment."""
    try:
        handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not take(handle, file)
    finally:
        os.close(handle)


def holder(file: Path) -> str:
    """Return who locked a file last, as ``process 123 on n1``; empty: nobody knows."""
    with contextlib.suppress(OSError, UnicodeError):
        return file.read_text(encoding="utf-8")[:200].partition("\n")[0]
    return ""


def _sign(handle: int) -> None:
    """Write who has the lock, for those that wait."""
    with contextlib.suppress(OSError):
        name = os.uname().nodename
        os.pwrite(handle, f"process {os.getpid()} on {name}\n".encode(), 0)
