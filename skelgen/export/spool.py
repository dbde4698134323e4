"""Records of a fixed size in a file without a name: they need no memory."""

from __future__ import annotations

import mmap
import tempfile
from pathlib import Path
from typing import Any

from skelgen.export.kernel import halves

_FIRST_BYTES = 1 << 16


class RecordSpool:
    """Numbered records of zeros until a kernel puts something there.

    The file is mapped, so its pages are the system's cache; it is gone when the
    process is.

    Parameters
    ----------
    record_bytes : int
        Size of a record [bytes].
    folder : Path
        Where the file is made: memory file systems would defeat its purpose.

    Attributes
    ----------
    capacity : int
        Records that there is room for.
    """

    def __init__(self, record_bytes: int, folder: Path) -> None:
        self._record_bytes = record_bytes
        self._size = _FIRST_BYTES
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(self._size)
            self._map = mmap.mmap(file.fileno(), self._size)

    @property
    def capacity(self) -> int:
        """Return how many records there is room for."""
        return self._size // self._record_bytes

    def make_room(self, records: int) -> bool:
        """Make room for so many records; whether they lie elsewhere now."""
        size = self._size
        while size < records * self._record_bytes:
            size *= 2
        grows = size > self._size
        if grows:
            self._map.resize(size)
            self._size = size
        return grows

    def rows(self, kind: str) -> Any:
        """Return where the records lie until there is more room, as a C pointer."""
        ffi = halves().ffi
        with ffi.from_buffer(self._map) as view:
            return ffi.cast(f"{kind} *", ffi.cast("uintptr_t", view))

    def let_go(self) -> None:
        """Let pages go that are in reach; what they hold stays in the file."""
        self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Give the file back."""
        self._map.close()
