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
import re
import stat
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.documents.system import writing
from skelgen.errors import InputError
from skelgen.store.locks import take
from skelgen.store.sharing import give, make_folder

logger = logging.getLogger(__name__)

#: Of files that are complete enough to be read.
SUFFIX = ".jsonl"
#: Before the name of a file that its writer has not locked yet.
_NEW = ".new-"
#: How old such a file is when nobody writes to it any more [s].
_OLD_S = 3600.0
#: The lock of the store.
LOCK = ".lock"
_UNNAMED = re.compile(r"[^A-Za-z0-9.-]")
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
_READ = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_BLOCK_BYTES = 1 << 20
#: A longer line is no row [bytes].
MOST_LINE_BYTES = 256 << 20


class SpoolFileError(InputError):
    """A file of a spool cannot be read; the others can."""


class SpoolWriter:
    """The file of this process in a spool.

    Parameters
    ----------
    folder : Path
    mode : int
        Permissions of its file.
    """

    def __init__(self, folder: Path, mode: int) -> None:
        self._folder = folder
        self._mode = mode
        self._handle = -1
        self._process = 0

    def append(self, lines: Sequence[str]) -> None:
        """Append lines, each complete with its end; all of them, or none.

        Raises
        ------
        UsageError
            When they cannot be written.
        MachineError
            When the disk is full.
        """
        content = "".join(lines).encode("ascii")
        with writing(self._folder):
            if self._handle < 0 or self._process != os.getpid():
                self._begin(content)
            else:
                _write(self._handle, content)

    def close(self) -> bool:
        """Leave the file to those that read it; say whether there is one."""
        ours = self._handle >= 0 and self._process == os.getpid()
        if ours:
            os.close(self._handle)
        self._handle = -1
        return ours

    def _begin(self, content: bytes) -> None:
        """Write the first lines to a new file; it gets its name when it is locked."""
        host = _UNNAMED.sub("_", os.uname().nodename)[:60]
        name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:12]}{SUFFIX}"
        make_folder(self._folder, self._mode)
        new = self._folder / f"{_NEW}{name}"
        handle = os.open(new, _WRITE, self._mode)
        try:
            give(handle, self._mode, self._folder)
            take(handle, new)
            _write(handle, content)
            new.rename(self._folder / name)
        except BaseException:
            os.close(handle)
            with contextlib.suppress(OSError):
                new.unlink()
            raise
        self._handle, self._process = handle, os.getpid()


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


def sweep(folder: Path) -> None:
    """Remove files that their writers were killed over before they had a name."""
    for new in folder.glob(f"{_NEW}*"):
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
    flags = _READ if lock else _READ & ~os.O_RDWR
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


def _write(handle: int, content: bytes) -> None:
    """Append bytes, or leave the file as it was."""
    before = os.fstat(handle).st_size
    left = memoryview(content)
    try:
        while left:
            left = left[os.write(handle, left) :]
    except BaseException:
        os.ftruncate(handle, before)
        raise
