"""The global definitions of an OTF2 archive."""

from __future__ import annotations

from typing import Any

from skelgen.documents.text_of_bytes import printable
from skelgen.events.communicators import SELF
from skelgen.events.functions import (
    COLLECTIVES,
    RECEIVING,
    SENDING,
    CallKind,
    function_info,
)
from skelgen.events.shapes import plain_name
from skelgen.events.types import Communicator
from skelgen.export import otf2_library as otf2
from skelgen.export.otf2_library import check, interface, library
from skelgen.export.paraver_names import FILES, ONE_SIDED, event_type
from skelgen.export.run import TraceStreams
from skelgen.units import NS_PER_S

_POINT_TO_POINT = (
    *SENDING,
    *RECEIVING,
    CallKind.PROBE,
    CallKind.COMPLETE,
    CallKind.START,
)
_ROLES = {
    "barrier": otf2.BARRIER,
    "bcast": otf2.ONE_TO_ALL,
    "scatter": otf2.ONE_TO_ALL,
    "scatterv": otf2.ONE_TO_ALL,
    "gather": otf2.ALL_TO_ONE,
    "gatherv": otf2.ALL_TO_ONE,
    "reduce": otf2.ALL_TO_ONE,
    "scan": otf2.OTHER,
    "exscan": otf2.OTHER,
}


def region_role(function: str) -> int:
    """Return what kind of region a function is.

    Examples
    --------
    >>> region_role("MPI_Ibcast") == otf2.ONE_TO_ALL
    True
    """
    kind = function_info(function).kind
    by_type = {FILES: otf2.FILES, ONE_SIDED: otf2.ONE_SIDED}
    if (known := by_type.get(event_type(function))) is not None:
        return known
    if kind in COLLECTIVES:
        return _ROLES.get(plain_name(function), otf2.ALL_TO_ALL)
    if kind in _POINT_TO_POINT:
        return otf2.POINT_TO_POINT
    return otf2.FUNCTION


def communicator_numbers(run: TraceStreams) -> tuple[int, ...]:
    """Return OTF2's number of each communicator, without gaps.

    All MPI_COMM_SELF have one number, and both sides of an intercommunicator.
    """
    rows = [
        SELF if run.communicators[number].kind == "self" else number
        for number in run.canonical
    ]
    dense = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    return tuple(dense[row] for row in rows)


class Otf2Definitions:
    """Writes the global definitions.

    Parameters
    ----------
    run : TraceStreams
    writer : OTF2_GlobalDefWriter
    counts : sequence of int
        Events of each location.
    """

    def __init__(self, run: TraceStreams, writer: Any, counts: list[int]) -> None:
        self.run, self.writer, self.counts = run, writer, counts
        self._numbers = communicator_numbers(run)
        self._strings: dict[str, int] = {}
        self._groups: dict[tuple[int, ...], int] = {}

    def write(self) -> None:
        """Write all of them, each after what it refers to."""
        self._clock()
        self._call("Paradigm", otf2.MPI_PARADIGM, self._text("MPI"), otf2.PROCESS_CLASS)
        self._system()
        for number, function in enumerate(self.run.functions):
            self._region(number, function)
        self._communicators()

    def _call(self, name: str, *arguments: Any) -> None:
        write = getattr(library(), f"OTF2_GlobalDefWriter_Write{name}")
        check(write(self.writer, *arguments))

    def _text(self, text: str) -> int:
        text = printable(text)  # tools print it as it is
        if text not in self._strings:
            number = self._strings[text] = len(self._strings)
            self._call("String", number, text.encode())
        return self._strings[text]

    def _clock(self) -> None:
        streams = self.run.streams
        length = max(stream.end_ns for stream in streams) + 1
        origin = streams[0].file.header.start_realtime_ns
        self._call("ClockProperties", NS_PER_S, 0, length, max(origin, 0))

    def _system(self) -> None:
        """Write hosts, processes and threads."""
        root = self._text("machine")
        self._call("SystemTreeNode", 0, root, root, otf2.UNDEFINED)
        nodes: dict[str, int] = {}
        for stream in self.run.streams:
            host = stream.file.header.host
            if host not in nodes:
                node = nodes[host] = len(nodes) + 1
                self._call(
                    "SystemTreeNode", node, self._text(host), self._text("node"), 0
                )
        for rank in range(self.run.trace.world_size):
            streams = self.run.streams_of(rank)
            node = nodes[streams[0].file.header.host] if streams else 0
            name, nobody = self._text(f"rank {rank}"), otf2.UNDEFINED
            self._call("LocationGroup", rank, name, otf2.PROCESS, node, nobody)
        for stream in self.run.streams:
            self._thread(stream.number, stream.thread, stream.rank)
        for rank in self.run.trace.missing:
            self._thread(self._location(rank), 0, rank)

    def _thread(self, location: int, thread: int, rank: int) -> None:
        count = self.counts[location] if location < len(self.counts) else 0
        name = self._text(f"thread {thread}")
        self._call("Location", location, name, otf2.CPU_THREAD, count, rank)

    def _region(self, number: int, function: str) -> None:
        name, nothing = self._text(function), self._text("")
        role, flags = region_role(function), 0
        self._call(
            "Region",
            *(number, name, name, nothing, role, otf2.MPI_PARADIGM, flags),
            *(nothing, 0, 0),
        )

    def _communicators(self) -> None:
        """Write groups and communicators; a group's members are world ranks."""
        ranks = range(self.run.trace.world_size)
        locations = [self._location(rank) for rank in ranks]
        self._group(0, "", otf2.GROUP_COMM_LOCATIONS, locations)
        self._group(1, "MPI_COMM_SELF", otf2.GROUP_COMM_SELF, [])
        for number, one in enumerate(self.run.communicators):
            if self._numbers[number] not in self._numbers[:number]:
                self._communicator(self._numbers[number], one)

    def _location(self, rank: int) -> int:
        """Return the location of a rank; those of missing ranks hold nothing."""
        streams = self.run.streams_of(rank)
        missing = self.run.trace.missing
        return streams[0].number if streams else len(self.counts) + missing.index(rank)

    def _communicator(self, number: int, one: Communicator) -> None:
        name = self._text(_name(one, number))
        parent = one.parent
        above = otf2.UNDEFINED
        if parent >= 0:
            above = self._numbers[parent]
        if one.remote:
            first, second = self._members(one.members), self._members(one.remote)
            self._call("InterComm", number, name, first, second, above, 0)
            return
        group = 1 if one.kind == "self" else self._members(one.members)
        self._call("Comm", number, name, group, above, 0)

    def _members(self, members: tuple[int, ...]) -> int:
        """Return the group of some ranks; processes outside are left out."""
        inside = tuple(rank for rank in members if rank >= 0)
        if inside not in self._groups:
            number = self._groups[inside] = len(self._groups) + 2
            self._group(number, "", otf2.GROUP_COMM_GROUP, list(inside))
        return self._groups[inside]

    def _group(self, number: int, name: str, kind: int, members: list[int]) -> None:
        array = interface().new("uint64_t[]", members)
        text, count = self._text(name), len(members)
        paradigm = otf2.MPI_PARADIGM
        self._call("Group", number, text, kind, paradigm, 0, count, array)


def _name(one: Communicator, number: int) -> str:
    known = {"world": "MPI_COMM_WORLD", "self": "MPI_COMM_SELF"}
    return known.get(one.kind, f"{one.kind} {number}")
