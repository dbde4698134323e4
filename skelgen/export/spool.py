"""Records of a fixed size in a file without a name: they need no memory."""

from __future__ import annotations

import mmap
import struct
import tempfile
from pathlib import Path

_FIRST_BYTES = 1 << 16


class Spool:
    """Numbered records of zeros until something is put there.

    The file is mapped, so its pages belong to the system's cache and not to the
    process; it is gone when the process is.

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
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(self._size)
            self._map = mmap.mmap(file.fileno(), self._size)

    def put(self, number: int, *values: int) -> None:
        """Write one record."""
        at = number * self._record.size
        if at + self._record.size > self._size:
            self._grow(at + self._record.size)
        self._record.pack_into(self._map, at, *values)

    def get(self, number: int) -> tuple[int, ...]:
        """Read one record."""
        at = number * self._record.size
        if at + self._record.size > self._size:
            return tuple(0 for _ in self._record.format.lstrip("<"))
        return self._record.unpack_from(self._map, at)

    def close(self) -> None:
        """Give the file back."""
        self._map.close()

    def _grow(self, size: int) -> None:
        while self._size < size:
            self._size *= 2
        self._map.resize(self._size)
