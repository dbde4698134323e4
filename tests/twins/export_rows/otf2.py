"""OTF2: what Vampir, Score-P's tools and many others read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

from skelgen.events.functions import CallKind
from skelgen.events.types import PROC_NULL, ROOT
from skelgen.export import otf2_library as otf2
from skelgen.export.otf2_archive import ARCHIVE_NAME, opened
from skelgen.export.otf2_definitions import Otf2Definitions, communicator_numbers
from skelgen.export.otf2_library import check, interface, library
from tests.twins.export_rows.messages import Messages
from tests.twins.export_rows.run import TraceStreams
from tests.twins.export_rows.types import (
    Event,
    ExportedCall,
    ExportRole,
    Half,
    Sides,
    Written,
)
from tests.twins.export_rows.volume import volume


def write(run: TraceStreams, target: Path) -> Written:
    """Write an archive into a folder: one location for each stream."""
    library()  # says what is missing before the long work
    messages = Messages(run)
    records: Counter[str] = Counter()
    with opened(target) as archive:
        counts = [0] * len(run.streams)
        check(library().OTF2_Archive_OpenEvtFiles(archive))
        for rank in run.ranks:
            writer = _Writer(run, rank, archive, messages)
            writer.write()
            records += writer.records
            for number, count in writer.close().items():
                counts[number] = count
        _leave_empty(run, archive)
        check(library().OTF2_Archive_CloseEvtFiles(archive))
        _local_definitions(run, archive)
        definitions = library().OTF2_Archive_GetGlobalDefWriter(archive)
        Otf2Definitions(cast(Any, run), definitions, counts).write()
        check(library().OTF2_Archive_CloseGlobalDefWriter(archive, definitions))
    note = (
        f"{messages.alone} halves of messages are without the other: such a receive "
        "states its capacity"
    )
    anchor = target / f"{ARCHIVE_NAME}.otf2"
    return Written(
        (anchor,), dict(sorted(records.items())), (note,) if messages.alone else ()
    )


def _leave_empty(run: TraceStreams, archive: Any) -> None:
    """Write the empty files of missing ranks that readers expect."""
    for location in range(len(run.streams), _locations(run)):
        writer = library().OTF2_Archive_GetEvtWriter(archive, location)
        check(library().OTF2_Archive_CloseEvtWriter(archive, writer))


def _locations(run: TraceStreams) -> int:
    return len(run.streams) + len(run.trace.missing)


def _local_definitions(run: TraceStreams, archive: Any) -> None:
    """Write the empty files of local definitions that readers expect."""
    lib = library()
    check(lib.OTF2_Archive_OpenDefFiles(archive))
    for location in range(_locations(run)):
        writer = lib.OTF2_Archive_GetDefWriter(archive, location)
        check(lib.OTF2_Archive_CloseDefWriter(archive, writer))
    check(lib.OTF2_Archive_CloseDefFiles(archive))


class _Writer:
    """Writes the locations of one rank."""

    def __init__(
        self, run: TraceStreams, rank: int, archive: Any, messages: Messages
    ) -> None:
        self.run, self.rank, self.archive = run, rank, archive
        self.messages = messages
        self.records: Counter[str] = Counter()
        self._numbers = communicator_numbers(cast(Any, run))
        self._regions = {name: i for i, name in enumerate(run.functions)}
        self._writers = {
            stream.number: library().OTF2_Archive_GetEvtWriter(archive, stream.number)
            for stream in run.streams_of(rank)
        }
        self._put = _functions()
        self._writer: Any = None
        self._stream = 0

    def close(self) -> dict[int, int]:
        """Close the locations and return how many records each has."""
        counts = {}
        for number, writer in self._writers.items():
            count = interface().new("uint64_t *")
            check(library().OTF2_EvtWriter_GetNumberOfEvents(writer, count))
            counts[number] = int(count[0])
            check(library().OTF2_Archive_CloseEvtWriter(self.archive, writer))
        return counts

    def write(self) -> None:
        """Write all events of the rank."""
        for event in self.run.events_of(self.rank):
            self._stream, self._writer = event.stream, self._writers[event.stream]
            region = self._regions[event.call.function]
            self._record("Enter", event.enter_ns, region)
            blocks = event.call.kind is CallKind.COLLECTIVE
            if blocks and event.call.name in otf2.COLLECTIVE_NUMBERS:
                self._record("MpiCollectiveBegin", event.enter_ns)
            for half in event.posts:
                self._post(half, event)
            for half in event.ends:
                self._end(half, event)
            if blocks and event.call.name in otf2.COLLECTIVE_NUMBERS:
                what = self._collective(event.call, event.size_bytes, event.sides)
                self._record("MpiCollectiveEnd", event.leave_ns, *what)
            self._record("Leave", event.leave_ns, region)

    def _record(self, name: str, time_ns: int, *values: int) -> None:
        self.records[name] += 1
        result = self._put[name](self._writer, interface().NULL, time_ns, *values)
        if result:
            check(result)

    def _post(self, half: Half, event: Event) -> None:
        at, request = event.enter_ns, self._request(half)
        if (
            half.role == ExportRole.COLLECTIVE
            and half.call.name in otf2.COLLECTIVE_NUMBERS
        ):
            self._record("NonBlockingCollectiveRequest", at, request)
        elif half.role == ExportRole.RECEIVE and half.request:
            self._record("MpiIrecvRequest", at, request)
        elif half.role == ExportRole.SEND and half.peer >= 0:
            where = self._where(half)
            if half.request:
                self._record("MpiIsend", at, *where, half.size_bytes, request)
            else:
                self._record("MpiSend", at, *where, half.size_bytes)

    def _end(self, half: Half, event: Event) -> None:
        at, request = event.leave_ns, self._request(half)
        if (
            half.role == ExportRole.COLLECTIVE
            and half.call.name in otf2.COLLECTIVE_NUMBERS
        ):
            what = self._collective(half.call, half.size_bytes, half.sides)
            self._record("NonBlockingCollectiveComplete", at, *what, request)
        elif half.role == ExportRole.SEND and half.request and half.peer >= 0:
            self._record("MpiIsendComplete", at, request)
        elif half.role == ExportRole.RECEIVE and half.peer >= 0:
            found = self.messages.other(half)
            size = half.size_bytes if found is None else found.size_bytes
            if half.request:
                self._record("MpiIrecv", at, *self._where(half), size, request)
            else:
                self._record("MpiRecv", at, *self._where(half), size)
        elif half.role == ExportRole.RECEIVE and half.peer == PROC_NULL:
            self._record("MpiRequestCancelled", at, request)

    def _request(self, half: Half) -> int:
        """Return a number that no other request of the rank has."""
        return half.request * len(self.run.streams) + half.stream

    def _where(self, half: Half) -> tuple[int, int, int]:
        """Return partner, communicator and tag."""
        communicator = self._numbers[half.call.communicator]
        return half.peer, communicator, max(half.tag, 0)

    def _collective(
        self, call: ExportedCall, size_bytes: int, sides: Sides | None
    ) -> tuple[int, int, int, int, int]:
        table = self.run.communicators
        sent, received = volume(call, size_bytes, sides, table, self.rank)
        root = call.root if call.root >= 0 else otf2.ROOT_NONE
        if call.root == ROOT:
            root = otf2.ROOT_THIS_GROUP
        elif root == 0 and table[call.communicator].kind == "self":
            root = otf2.ROOT_SELF
        communicator = self._numbers[call.communicator]
        operation = otf2.COLLECTIVE_NUMBERS[call.name]
        return operation, communicator, root, sent, received


def _functions() -> dict[str, Any]:
    """Return the library's functions by the name of what they write."""
    names = (
        "Enter Leave MpiSend MpiIsend MpiIsendComplete MpiIrecvRequest MpiRecv "
        "MpiIrecv MpiCollectiveBegin MpiCollectiveEnd NonBlockingCollectiveRequest "
        "NonBlockingCollectiveComplete MpiRequestCancelled"
    ).split()
    return {name: getattr(library(), f"OTF2_EvtWriter_{name}") for name in names}
