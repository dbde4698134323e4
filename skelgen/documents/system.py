"""What the operating system refuses, as errors of one line with what to do.

Most of it is noticed where it happens to have a name. What is left comes to the command
line as it is and is told there in the same words.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from skelgen.errors import InputError, MachineError, SkelgenError, UsageError

_FULL = "free some room, or name a place on another disk"
_AGAIN = "try again, and ask who looks after that disk if it goes on"
#: What the machine lacks, and what to do.
_MACHINE = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
    errno.EIO: _AGAIN,
    errno.ESTALE: _AGAIN,
    errno.ENXIO: _AGAIN,
    errno.EMFILE: "allow more open files: ulimit -n",
    errno.ENFILE: "end other programs, which have all files of the machine open",
    errno.ENOMEM: "end other programs, or allow more memory: ulimit -v",
    errno.EAGAIN: "end other programs, or allow more processes: ulimit -u",
}
_GONE = "it was removed or renamed meanwhile, or never there; run the command again"
#: What is wrong with a file or folder, and what to do.
_FILE = {
    errno.ENOENT: _GONE,
    errno.ENOTDIR: _GONE,
    errno.EACCES: "change its permissions or those of the folders above it",
    errno.EPERM: "change its permissions or those of the folders above it",
    errno.EROFS: "its file system cannot be written",
}


def system_error(
    error: OSError, place: Path | str | None = None, *, writing: bool = False
) -> SkelgenError:
    """Return the error that says in one line what the system refused.

    Parameters
    ----------
    error : OSError
    place : Path or str, optional
        File or folder that the user knows; else that of the error.
    writing : bool
        Whether it was to be written: then the user can name another place.
    """
    names = dict.fromkeys(
        os.fsdecode(name)
        for name in (place, error.filename, error.filename2)
        if isinstance(name, str | bytes | os.PathLike)
    )
    where, *others = names or [""]
    number = error.errno or 0
    why = error.strerror or str(error) or type(error).__name__
    if others:
        why += f" ({', '.join(others)})"
    verb = "written" if writing else "used"
    text = f"{where} cannot be {verb}: {why}" if where else f"the system says: {why}"
    if number in _MACHINE:
        return MachineError(f"{text}; {_MACHINE[number]}")
    if writing:
        gone = "; it was removed meanwhile, or" if number == errno.ENOENT else ";"
        return UsageError(f"{text}{gone} name another place")
    if not where and number == errno.ENOENT and not _has_folder():
        return InputError("the working folder was removed; change to another one")
    if number in _FILE or where:
        return InputError(f"{text}; {_FILE.get(number, 'give another one')}")
    return MachineError(text)


def _has_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Say in one line that something cannot be written.

    Raises
    ------
    MachineError
        When the disk is full or broken.
    UsageError
        When it cannot be written there.
    """
    try:
        yield
    except OSError as error:
        raise system_error(error, place, writing=True) from error


@contextlib.contextmanager
def reading(place: Path) -> Iterator[None]:
    """Say in one line that something cannot be read.

    Raises
    ------
    InputError
        When it is not there, or not for this user.
    MachineError
        When the disk is broken, or the machine lacks something.
    """
    try:
        yield
    except OSError as error:
        raise system_error(error, place) from error


@contextlib.contextmanager
def refused(kind: type[SkelgenError], what: str, remedy: str) -> Iterator[None]:
    """Say in one line what the system's refusal means here, and what to do.

    Parameters
    ----------
    kind : type
        Of the error that is raised for what the system refuses.
    what : str
        What cannot be done; the system's reason follows.
    remedy : str
    """
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        if isinstance(error.filename, str) and error.filename not in what:
            why += f" ({error.filename})"
        raise kind(f"{what}: {why}; {remedy}") from error
