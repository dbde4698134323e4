"""An OTF2 archive that one process writes, with bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skelgen import __version__
from skelgen.errors import MachineError
from skelgen.export import otf2_library as otf2
from skelgen.export.otf2_library import check, interface, library

#: Of the archive; its anchor file is called so.
ARCHIVE_NAME = "traces"
#: Chunks of events that a location has before they are written out. The library's own
#: memory holds up to 128 MiB a location.
_MOST_CHUNKS = 2


class _Memory:
    """Gives the library memory; events that need more than a little are written."""

    def __init__(self) -> None:
        self._chunks: dict[tuple[int, int], list[Any]] = defaultdict(list)
        ffi = interface()
        self._functions = (
            ffi.callback(
                "void *(void *, uint8_t, uint64_t, void **, uint64_t)", self._allocate
            ),
            ffi.callback("void (void *, uint8_t, uint64_t, void **, bool)", self._free),
        )
        self.callbacks: Any = ffi.new("struct skelgen_otf2_memory *", self._functions)

    def _allocate(
        self, _: Any, file_type: int, location: int, __: Any, size: int
    ) -> Any:
        chunks = self._chunks[file_type, location]
        if file_type == otf2.EVENTS and len(chunks) == _MOST_CHUNKS:
            return interface().NULL
        chunks.append(interface().new("char[]", size))
        return chunks[-1]

    def _free(self, _: Any, file_type: int, location: int, __: Any, ___: bool) -> None:
        self._chunks.pop((file_type, location), None)


def _flush(*_: object) -> int:
    """Tell the library to write out what it has."""
    return otf2.FLUSH


@contextmanager
def opened(target: Path) -> Iterator[Any]:
    """Open an archive for writing by one process, and close it."""
    ffi, lib = interface(), library()
    archive = lib.OTF2_Archive_Open(
        str(target).encode(),
        ARCHIVE_NAME.encode(),
        otf2.WRITE,
        otf2.EVENT_CHUNK_BYTES,
        otf2.DEFINITION_CHUNK_BYTES,
        otf2.POSIX,
        otf2.NO_COMPRESSION,
    )
    if archive == ffi.NULL:
        raise MachineError(f"the OTF2 library cannot write to {target}")

    callbacks: Any = ffi.new("struct skelgen_otf2_flush *")
    flush = ffi.callback("uint8_t (void *, uint8_t, uint64_t, void *, bool)", _flush)
    callbacks.pre = flush
    memory = _Memory()
    try:
        check(lib.OTF2_Archive_SetMemoryCallbacks(archive, memory.callbacks, ffi.NULL))
        check(lib.OTF2_Archive_SetFlushCallbacks(archive, callbacks, ffi.NULL))
        check(lib.OTF2_Archive_SetSerialCollectiveCallbacks(archive))
        check(lib.OTF2_Archive_SetCreator(archive, f"skelgen {__version__}".encode()))
        yield archive
    finally:
        result = lib.OTF2_Archive_Close(archive)
    check(result)
