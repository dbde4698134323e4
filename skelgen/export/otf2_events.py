"""Events of an OTF2 archive: rows of numbers through the library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skelgen.export import otf2_library as otf2
from skelgen.export.kernel import records
from skelgen.export.otf2_library import check, interface, library
from skelgen.export.text import RecordRows, RowGroups


class Otf2Events:
    """Writes events into some locations.

    Parameters
    ----------
    archive : OTF2_Archive
    locations : int
        How many there are in all.
    """

    def __init__(self, archive: Any, locations: int) -> None:
        ffi = records().ffi
        self._archive, self._open = archive, dict[int, Any]()
        self._kernel = ffi.new("struct skelgen_otf2 *")
        self._writers = ffi.new("void *[]", locations)
        self._kernel.writers, self._kernel.writer_count = self._writers, locations
        self._kernel.library = library()

    @property
    def records(self) -> Counter[str]:
        """Return how many records of each kind are written."""
        counts = zip(otf2.EVENT_NAMES, list(self._kernel.written), strict=True)
        return Counter({name: count for name, count in counts if count})

    def open(self, location: int) -> None:
        """Begin a location; columns name it by its number."""
        writer = library().OTF2_Archive_GetEvtWriter(self._archive, location)
        self._open[location] = writer
        self._writers[location] = writer

    def write(self, groups: Sequence[RecordRows]) -> None:
        """Write rows: location, time, and what the kernel gives to the library."""
        given = RowGroups(groups)
        lib = records().lib
        check(lib.skelgen_write_otf2(self._kernel, given.table, given.count))

    def close(self) -> dict[int, int]:
        """Close the locations and return how many records each has."""
        counts = {}
        for number, writer in self._open.items():
            count = interface().new("uint64_t *")
            check(library().OTF2_EvtWriter_GetNumberOfEvents(writer, count))
            counts[number] = int(count[0])
            check(library().OTF2_Archive_CloseEvtWriter(self._archive, writer))
        return counts
