"""Append lines to a spool, without waiting for anybody.

A writer takes over a file that its writer has left, or makes a new one.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import uuid
from collections.abc import Sequence
from pathlib import Path

from skelgen.documents.system import writing
from skelgen.store.locks import take
from skelgen.store.sharing import give, make_folder
from skelgen.store.spool import NEW, READ, SUFFIX, names

_UNNAMED = re.compile(r"[^A-Za-z0-9.-]")
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
#: A file that is longer is not taken over [bytes].
_LONG_BYTES = 64 << 20


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
        #: Name of its file; empty: it has none yet.
        self.name = ""

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
        """Write the first lines to a file that nobody has, or to a new one."""
        host = _UNNAMED.sub("_", os.uname().nodename)[:60]
        make_folder(self._folder, self._mode)
        left = _taken_over(self._folder, f"{host}-")
        if left is None:
            name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:12]}{SUFFIX}"
            left = name, self._new(name, content)
            content = b""
        self.name, self._handle = left
        self._process = os.getpid()
        _write(self._handle, content)

    def _new(self, name: str, content: bytes) -> int:
        """Write lines to a new file; it gets its name when it is locked."""
        new = self._folder / f"{NEW}{name}"
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
        return handle


def _taken_over(folder: Path, begins: str) -> tuple[str, int] | None:
    """Lock a file of a spool that its writer has left; None: there is none.

    So there are about as many files as there are writers at a time, however many there
    were. One that ends in half a line is left to the next reader.
    """
    for name in names(folder):
        if name.startswith(begins):
            handle = _left_by_its_writer(folder / name)
            if handle is not None:
                return name, handle
    return None


def _left_by_its_writer(path: Path) -> int | None:
    """Return a file that is locked and may be appended to; None: it may not."""
    try:
        handle = os.open(path, READ | os.O_APPEND)
    except OSError:
        return None
    try:
        about = os.fstat(handle)
        size = about.st_size
        if (
            stat.S_ISREG(about.st_mode)
            and about.st_uid == os.geteuid()
            and size < _LONG_BYTES
            and take(handle, path)
            and os.path.samestat(about, path.stat())  # nobody has removed it
            and os.pread(handle, 1, max(0, os.fstat(handle).st_size - 1)) == b"\n"
        ):
            return handle
    except OSError:
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


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
