"""Rank files that the recorder writes on each node before they go to the run's folder.

``SKELGEN_TMPDIR`` names a folder on a disk of the node. Each process makes a folder of
its own in it, that nobody else may enter, and copies its files from there when they
end; what a killed rank left behind is brought from this host's disk. All may write to
such a place: nothing in it is followed, moved or removed but what is this user's.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

logger = logging.getLogger(__name__)

#: What the user may set for the recorder, beside the folders.
_SETTINGS = (
    "SKELGEN_MAX_BYTES",
    "SKELGEN_CALLSTACK",
    "SKELGEN_CLOCK",
    "SKELGEN_CPU_TIME",
)
#: The folder of a process, and of which world of the run it is.
_OF_PROCESS = re.compile(r"skelgen-[0-9a-f]{16}(?:-(world-\d+))?")
_RANK_FILE = re.compile(r"rank-\d+(\.t\d+)?\.skt")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """The folder of one run below ``SKELGEN_TMPDIR``.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        """Return the folder for a run that is recorded into `folder`, if one is set.

        Its name cannot be guessed, so that nobody can put something there before.
        """
        base = os.environ.get("SKELGEN_TMPDIR", "")
        if not base:
            return None
        name = f"skelgen-{folder.name.strip('.')}-{secrets.token_hex(8)}"
        return cls(Path(base).absolute() / name)

    def bring(self, folder: Path) -> None:
        """Move what killed ranks left on this host, and remove the node's folders."""
        try:
            with _opened(self.path, None, _FOLDER) as own:
                for name in _names(own):
                    match = _OF_PROCESS.fullmatch(name)
                    if match:
                        self._bring_process(own, name, folder / (match[1] or ""))
            self.path.rmdir()
        except FileNotFoundError:
            return  # all ranks ran elsewhere
        except OSError as error:
            logger.warning("%s stays where it is: %s", self.path, error.strerror)

    def _bring_process(self, own: int, name: str, target: Path) -> None:
        """Move the files of one process."""
        with _opened(name, own, _FOLDER) as process:
            for file in _names(process):
                if _RANK_FILE.fullmatch(file):
                    _move(file, process, target)
        os.rmdir(name, dir_fd=own)


def _names(place: int) -> list[str]:
    with os.scandir(place) as entries:
        return sorted(entry.name for entry in entries)


@contextmanager
def _opened(path: Path | str, place: int | None, flags: int) -> Iterator[int]:
    """Open what this user owns, never through a symbolic link.

    Raises
    ------
    OSError
        Where it is another user's.
    """
    number = os.open(path, flags, dir_fd=place)
    try:
        if os.fstat(number).st_uid != os.geteuid():
            raise PermissionError(1, f"{path} belongs to another user")
        yield number
    finally:
        os.close(number)


def _move(name: str, place: int, target: Path) -> None:
    """Move a rank file into the run's folder, over the empty one of rank 0."""
    target.mkdir(mode=0o700, exist_ok=True)
    part = target / f".{name}.{secrets.token_hex(8)}.part"
    with _opened(name, place, _FILE) as source:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise OSError(1, f"{name} is no file")
        try:
            with (
                os.fdopen(os.open(part, _NEW_FILE, 0o600), "wb") as written,
                os.fdopen(source, "rb", closefd=False) as read,
            ):
                shutil.copyfileobj(read, written)
            part.replace(target / name)
        finally:
            part.unlink(missing_ok=True)
    os.unlink(name, dir_fd=place)


def recorder_settings(node: NodeFolder | None) -> dict[str, str]:
    """Return the variables that ranks need to record as the user wants it."""
    settings = {name: os.environ[name] for name in _SETTINGS if name in os.environ}
    if node is not None:
        settings["SKELGEN_TMPDIR"] = str(node.path)
    return settings
