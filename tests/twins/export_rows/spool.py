"""Records of a fixed size in a file without a name: they need no memory."""

from __future__ import annotations

import mmap
import struct
import tempfile
from pathlib import Path

_FIRST_BYTES = 1 << 16
#: After so many accesses the pages that are in reach are let go.
_ACCESSES = 1 << 15


class RecordSpool:
    """Numbered records of zeros until something is put there.

    The file is mapped, so its pages are the system's cache; it is gone when the
    process is.

    Parameters
    ----------
    layout : str
        Of a record, as for `struct`.
    folder : Path
        Where the file is made: memory file systems would defeat its purpose.
    """

    def __init__(self, layout: str, folder: Path) -> None:
        self._record = struct.Struct(layout)
        self._size = _FIRST_BYTES
        self._accesses = 0
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(self._size)
            self._map = mmap.mmap(file.fileno(), self._size)

    def put(self, number: int, *values: int) -> None:
        """Write one record."""
        self._count()
        at = number * self._record.size
        if at + self._record.size > self._size:
            self._grow(at + self._record.size)
        self._record.pack_into(self._map, at, *values)

    def get(self, number: int) -> tuple[int, ...]:
        """Read one record."""
        self._count()
        at = number * self._record.size
        if at + self._record.size > self._size:
            return tuple(0 for _ in self._record.format.lstrip("<"))
        return self._record.unpack_from(self._map, at)

    def close(self) -> None:
        """Give the file back."""
        self._map.close()

    def _count(self) -> None:
        """Let pages go now and then; what they hold stays in the file."""
        self._accesses += 1
        if self._accesses == _ACCESSES:
            self._accesses = 0
            self._map.madvise(mmap.MADV_DONTNEED)

    def _grow(self, size: int) -> None:
        while self._size < size:
            self._size *= 2
        self._map.resize(self._size)
