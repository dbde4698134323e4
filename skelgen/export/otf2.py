"""OTF2: what Vampir, Score-P's tools and many others read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import CallKind
from skelgen.events.types import PROC_NULL, ROOT
from skelgen.export import otf2_library as otf2
from skelgen.export.columns import Columns
from skelgen.export.messages import Messages
from skelgen.export.otf2_archive import ARCHIVE_NAME, opened
from skelgen.export.otf2_definitions import Otf2Definitions, communicator_numbers
from skelgen.export.otf2_events import Otf2Events
from skelgen.export.otf2_library import check, library
from skelgen.export.run import TraceStreams
from skelgen.export.text import RecordRows
from skelgen.export.types import Batch, ExportRole, Written
from skelgen.export.volume import Volumes


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
        Otf2Definitions(run, definitions, counts).write()
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
        self.run, self.rank, self.messages = run, rank, messages
        self._volumes = Volumes(run)
        self._events = Otf2Events(archive, len(run.streams))
        for stream in run.streams_of(rank):
            self._events.open(stream.number)
        table, numbers = run.calls, communicator_numbers(run)
        regions = {name: i for i, name in enumerate(run.functions)}
        self._region = table.column(lambda call: regions[call.function])
        self._operation = table.column(
            lambda call: otf2.COLLECTIVE_NUMBERS.get(call.name, -1)
        )
        blocks = table.column(lambda call: call.kind is CallKind.COLLECTIVE)
        self._meets = (blocks != 0) & (self._operation >= 0)
        self._rooted = table.column(lambda call: call.rooted).astype(bool)
        communicator = table.column(lambda call: call.communicator)
        self._communicator = np.array([*numbers, 0], np.int64)[communicator]
        own = np.array([one.kind == "self" for one in run.communicators] + [False])
        self._is_self = own[communicator]

    @property
    def records(self) -> Counter[str]:
        """Return how many records of each kind there are."""
        return self._events.records

    def close(self) -> dict[int, int]:
        """Close the locations and return how many records each has."""
        return self._events.close()

    def write(self) -> None:
        """Write all events of the rank."""
        for batch in self.run.batches_of(self.rank):
            self._events.write(self._rows(batch))

    def _rows(self, batch: Batch) -> list[RecordRows]:
        """Return the records of a batch: in a call what it begins, then what ends."""
        events, key = batch.events, np.arange(len(batch.events))
        where, begin, end = (
            events[name] for name in ("stream", "enter_ns", "leave_ns")
        )
        region = self._region[events["call"]]
        some = np.flatnonzero(self._meets[events["call"]])
        place = where[some]
        met = self._collectives(events.at(some), "peer")
        return [
            RecordRows(key, otf2.ENTER, [where, begin, region]),
            RecordRows(some, otf2.COLLECTIVE_BEGIN, [place, begin[some]]),
            self._post_rows(batch),
            self._end_rows(batch),
            RecordRows(some, otf2.COLLECTIVE_END, [place, end[some], *met]),
            RecordRows(key, otf2.LEAVE, [where, end, region]),
        ]

    def _post_rows(self, batch: Batch) -> RecordRows:
        some, role = batch.posts, batch.posts["role"]
        requests, found = some["request"] > 0, some["peer"] >= 0
        kind = np.full(len(some), -1)
        known = self._operation[some["call"]] >= 0
        kind[(role == ExportRole.COLLECTIVE) & known] = otf2.COLLECTIVE_REQUEST
        kind[(role == ExportRole.RECEIVE) & requests] = otf2.IRECV_REQUEST
        sends = (role == ExportRole.SEND) & found
        kind[sends] = np.where(requests[sends], otf2.ISEND, otf2.SEND)
        event = some["event"]
        place, at = batch.events["stream"][event], batch.events["enter_ns"][event]
        columns = [place, at, *self._where(some), some["size_bytes"]]
        return RecordRows(event, kind, [*columns, self._request(some)])

    def _end_rows(self, batch: Batch) -> RecordRows:
        some, role = batch.ends, batch.ends["role"]
        requests, found = some["request"] > 0, some["peer"] >= 0
        kind = np.full(len(some), -1)
        meets = role == ExportRole.COLLECTIVE
        meets &= self._operation[some["call"]] >= 0
        kind[meets] = otf2.COLLECTIVE_COMPLETE
        kind[(role == ExportRole.SEND) & requests & found] = otf2.ISEND_COMPLETE
        receives = role == ExportRole.RECEIVE
        kind[receives & (some["peer"] == PROC_NULL)] = otf2.CANCELLED
        receives &= found
        kind[receives] = np.where(requests[receives], otf2.IRECV, otf2.RECV)
        others = self.messages.others(some)
        other = others["stream"] >= 0
        size = np.where(other, others["size_bytes"], some["size_bytes"])
        event = some["event"]
        place, at = batch.events["stream"][event], batch.events["leave_ns"][event]
        columns = [*self._where(some), size, self._request(some), np.zeros(len(some))]
        if meets.any():
            columns = [column.astype(np.int64) for column in columns]
            met = self._collectives(some.at(meets), "root")
            for column, values in zip((0, 1, 2, 3, 5), met[:4] + met[5:], strict=True):
                columns[column][meets] = values
        return RecordRows(event, kind, [place, at, *columns])

    def _request(self, some: Columns) -> NDArray[np.int64]:
        """Return a number of each request that no other one of the rank has."""
        number: NDArray[np.int64] = some["request"] * len(self.run.streams)
        number += some["stream"]
        return number

    def _where(self, some: Columns) -> tuple[NDArray[Any], ...]:
        """Return partner, communicator and tag."""
        communicator = self._communicator[some["call"]]
        return some["peer"], communicator, np.maximum(some["tag"], 0)

    def _collectives(self, some: Columns, root: str) -> tuple[NDArray[np.int64], ...]:
        """Return communicator, root, bytes sent and received, nothing, operation."""
        call, peer = some["call"], some[root]
        sent, received = self._volumes.volumes(
            self.rank, call, peer, some["size_bytes"], some["sides"]
        )
        rooted = self._rooted[call]
        number = np.where(rooted & (peer >= 0), peer, np.int64(otf2.ROOT_NONE))
        number[(number == 0) & self._is_self[call]] = otf2.ROOT_SELF
        number[rooted & (peer == ROOT)] = otf2.ROOT_THIS_GROUP
        nothing = np.zeros(len(some), np.int64)
        where = self._communicator[call]
        return where, number, sent, received, nothing, self._operation[call]
