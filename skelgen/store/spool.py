"""Files of lines next to a store: what writers append while another one writes.

Each writer has a file of its own in ``STORE.spool``, which it keeps locked for as long
as it lives. Whoever has the lock of the store reads them, and removes a file when it
could lock it too: its writer is gone then.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import InputError
from skelgen.store.locks import take

logger = logging.getLogger(__name__)

#: Of files that are complete enough to be read.
SUFFIX = ".jsonl"
#: Before the name of a file that its writer has not locked yet.
NEW = ".new-"
#: How old such a file is when nobody writes to it any more [s].
_OLD_S = 3600.0
#: The lock of the store.
LOCK = ".lock"
#: How a file is opened to read it, and to lock it.
READ = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_BLOCK_BYTES = 1 << 20
#: A longer line is no row [bytes].
MOST_LINE_BYTES = 256 << 20
#: A spool is busy for so long after somebody appended to it [s].
_BUSY_S = 1.0


class SpoolFileError(InputError):
    """A file of a spool cannot be read; the others can."""


@dataclass(frozen=True, slots=True)
class SpoolFile:
    """A file of a spool, open for reading.

    Attributes
    ----------
    name : str
    handle : int
    ended : bool
        Whether its writer is gone.
    """

    name: str
    handle: int
    ended: bool

    def size(self) -> int:
        """Return its size [bytes]."""
        return os.fstat(self.handle).st_size

    def complete(self, begin: int, most: int = _BLOCK_BYTES) -> bytes:
        """Return lines from a place on: about so many bytes, up to a line's end.

        That is nothing when there is no complete line. What is too long for a line is
        returned without an end.
        """
        block = b""
        while len(block) < MOST_LINE_BYTES:
            more = os.pread(self.handle, max(most, len(block)), begin + len(block))
            block += more
            end = block.rfind(b"\n") + 1
            if end:
                return block[:end]
            if not more:
                return b""
        return block


def names(folder: Path) -> list[str]:
    """Return the names of the files of a spool; none when there is no such folder."""
    try:
        return sorted(
            name
            for name in os.listdir(folder)  # noqa: PTH208 -- the names are wanted
            if name.endswith(SUFFIX) and not name.startswith(".")
        )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except PermissionError:
        _say_closed(folder)
        return []


def is_busy(folder: Path, own: str) -> bool:
    """Say whether others appended to a spool within the last second.

    Clocks of servers that differ from this one's make a busy spool look quiet, never
    the other way for long.

    Parameters
    ----------
    folder : Path
    own : str
        Name of the file that does not count.
    """
    now = time.time()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and entry.name != own:
                    with contextlib.suppress(FileNotFoundError):
                        about = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(about.st_mode) and (
                            abs(now - about.st_mtime) < _BUSY_S
                        ):
                            return True
    except OSError:
        return False
    return False


def sweep(folder: Path) -> None:
    """Remove files that their writers were killed over before they had a name."""
    for new in folder.glob(f"{NEW}*"):
        with contextlib.suppress(OSError):
            if time.time() - new.stat().st_mtime > _OLD_S:
                new.unlink()


@contextlib.contextmanager
def opened(folder: Path, name: str, *, lock: bool = True) -> Iterator[SpoolFile | None]:
    """Open a file of a spool to read it; None when it is gone.

    Parameters
    ----------
    folder : Path
    name : str
    lock : bool
        Find out whether its writer is gone; else that is not known.

    Raises
    ------
    SpoolFileError
        When it is no regular file, or cannot be read.
    """
    path = folder / name
    flags = READ if lock else READ & ~os.O_RDWR
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise SpoolFileError(
            f"{path}: cannot be read ({error.strerror}); remove it, or change its "
            "permissions"
        ) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SpoolFileError(f"{path}: is no regular file; remove it")
        yield SpoolFile(name, handle, lock and take(handle, path))
    finally:
        os.close(handle)


@functools.cache
def _say_closed(folder: Path) -> None:
    logger.warning("%s cannot be read: newest rows of others may be missing", folder)
