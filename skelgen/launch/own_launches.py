"""The launches that this user has made with skelgen, as they were typed.

Files say how a run was launched; they may be anybody's. What is executed is what
stands in this list, which skelgen keeps for each user and trusts for its owner alone:
a launch in a file is one's own when it is in the list, and then the list's words are
executed, never the file's.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.documents import json_field, sealed_json
from skelgen.errors import InputError, MachineError
from skelgen.launch.secrets import hidden, hidden_values

logger = logging.getLogger(__name__)

LIST = "launches.jsonl"
_FIELDS = ("command", "folder", "environment", "files")
#: Size of the list before its older half is forgotten, and of one launch [bytes].
_MOST_BYTES, _MOST_OF_ONE = 4 << 20, 256 << 10

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """How an application is launched.

    Attributes
    ----------
    command : tuple of str
    folder : str
        Working directory; empty where nobody said it.
    environment : tuple of (str, str)
        Variables that change how MPI behaves.
    files : tuple of (str, str)
        Path and SHA-256 of the program and of the files that its arguments name.
    """

    command: tuple[str, ...]
    folder: str
    environment: Pairs = ()
    files: Pairs = ()

    @property
    def as_written(self) -> tuple[tuple[str, ...], str, Pairs]:
        """Return what files say of it: without secrets."""
        pairs = tuple(sorted(hidden_values(self.environment)))
        return tuple(hidden(self.command)), self.folder, pairs


def own(launch: OwnLaunch) -> OwnLaunch | None:
    """Return the user's own launch that a file describes, None when there is none.

    Parameters
    ----------
    launch : OwnLaunch
        As a file says it. Without a folder the newest launch of its command is meant.
    """
    wanted = launch.as_written
    for known in reversed(_all()):
        found = known.as_written
        if found == wanted or (not launch.folder and found[0] == wanted[0]):
            return known
    return None


def remember(launch: OwnLaunch) -> None:
    """Add a launch to the list; what cannot be kept is only told."""
    content = {
        "command": launch.command,
        "folder": launch.folder,
        "environment": dict(launch.environment),
        "files": dict(launch.files),
    }
    line = sealed_json(content, indent=None).encode()
    if len(line) > _MOST_OF_ONE:
        logger.warning("this launch is not remembered: its command is too long")
        return
    try:
        _paths.state().mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(os.O_RDWR | os.O_CREAT | os.O_APPEND) as file:
            _lock(file, fcntl.LOCK_EX)
            before = _read(file)
            lines = before.splitlines(keepends=True)
            if lines and lines[-1] == line:
                return
            if len(before) + len(line) > _MOST_BYTES:
                lines = lines[len(lines) // 2 :]
                os.ftruncate(file, 0)
                os.write(file, b"".join(lines))
            os.write(file, line)
    except (OSError, MachineError) as error:
        logger.warning("this launch is not remembered: %s", error)


def _all() -> list[OwnLaunch]:
    """Return the launches, the oldest first; a list of somebody else is not read."""
    try:
        with _opened(os.O_RDONLY) as file:
            _lock(file, fcntl.LOCK_SH)
            text = _read(file)
    except FileNotFoundError:
        return []
    except (OSError, MachineError) as error:
        logger.warning("your list of launches is not used: %s", error)
        return []
    return [one for line in text.splitlines() if (one := _launch(line)) is not None]


@contextlib.contextmanager
def _opened(flags: int) -> Iterator[int]:
    """Open the list in its folder, both of which only this user may write.

    Raises
    ------
    MachineError
        When somebody else may.
    """
    with contextlib.ExitStack() as stack:
        home = _paths.state()
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, folder)
        _check(folder, home)
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        file = os.open(LIST, flags, 0o600, dir_fd=folder)
        stack.callback(os.close, file)
        _check(file, home / LIST)
        yield file


def _check(opened: int, path: Path) -> None:
    about = os.fstat(opened)
    if about.st_uid != os.geteuid():
        raise MachineError(
            f"{path} belongs to user {about.st_uid}, expected {os.geteuid()}; set "
            "SKELGEN_STATE to a folder of your own"
        )
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise MachineError(f"others may write {path}; run: chmod go-w {path}")
    if not stat.S_ISDIR(about.st_mode) and not stat.S_ISREG(about.st_mode):
        raise MachineError(f"{path} is no file; remove it")


def _lock(file: int, how: int) -> None:
    with contextlib.suppress(OSError):  # not every file system has locks
        fcntl.flock(file, how)


def _read(file: int) -> bytes:
    """Return the newest part of the list, whole lines."""
    size = os.fstat(file).st_size
    text = os.pread(file, 2 * _MOST_BYTES, max(0, size - 2 * _MOST_BYTES))
    return text[: text.rfind(b"\n") + 1]


def _launch(line: bytes) -> OwnLaunch | None:
    """Read a line; None when it was not written by this or an earlier skelgen."""
    try:
        fields = json_field(line.decode(), Path(LIST)).mapping(_FIELDS, None)
        return OwnLaunch(
            fields["command"].texts(),
            fields["folder"].text(),
            fields["environment"].pairs(),
            fields["files"].pairs(),
        )
    except (InputError, UnicodeDecodeError):
        return None
