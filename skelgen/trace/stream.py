"""The records of one file through the C kernel."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.columns import empty_column
from skelgen.trace.types import Header, TraceFacts
from skelgen.trace.workspace import Workspace, dtype, kernel, pointer, run

#: What a file holds, read or mapped.
FileBytes: TypeAlias = bytes | mmap.mmap
#: What is read of a file before its pages are let go [bytes].
_READ_BYTES = 1 << 26

#: Why reading stopped, beside the two good reasons 0 (data) and 1 (END record).
END_STOP = 1
GOOD_STOPS = (0, END_STOP)
#: The end of the data came amid a record: it may have been cut there.
SHORT_STOP = 16
DAMAGE = {
    SHORT_STOP: ("the beginning of a record", "all of it"),
    17: ("a number of more than 64 bits", "at most 64"),
    18: ("an event of an undefined call shape", "a defined one"),
    19: ("a definition out of order", "the next number"),
    20: ("a number that is too large", "one in the range of its field"),
    21: ("an unknown kind of extra", "one of this version"),
    22: ("an undefined list or vector", "a defined one"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """What walking through a file once finds.

    Attributes
    ----------
    stop : int
        ``enum skelgen_stop``.
    position : int
        Of the first record that was not taken [bytes].
    definitions : structured array
        ``struct skelgen_definition``: where the definitions other than shapes lie.
    shapes : structured array
        ``struct skelgen_call_shape``, with the values of the last event.
    facts : TraceFacts
    known_records : list of list of int, optional
        Where they were read for many files together.
    """

    stop: int
    position: int
    definitions: NDArray[np.void]
    shapes: NDArray[np.void]
    facts: TraceFacts
    known_records: list[list[int]] | None = None

    @property
    def records(self) -> list[list[int]]:
        """Return the rows of `definitions` as numbers."""
        if self.known_records is not None:
            return self.known_records
        return as_records(self.definitions)


def as_records(definitions: NDArray[np.void]) -> list[list[int]]:
    """Return the rows of ``struct skelgen_definition``: all columns are int64."""
    columns = len(definitions.dtype.names or ())
    rows: list[list[int]] = definitions.view(np.int64).reshape(-1, columns).tolist()
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class EventColumns:
    """Arrays that decoding fills, one element for each event.

    Attributes
    ----------
    variant, reference : uint32 arrays
        Row of `Decoded.variants`; requests as in the file.
    size_bytes, enter_ns, leave_ns, compute_ns : int64 arrays
    """

    variant: NDArray[np.uint32]
    reference: NDArray[np.uint32]
    size_bytes: NDArray[np.int64]
    enter_ns: NDArray[np.int64]
    leave_ns: NDArray[np.int64]
    compute_ns: NDArray[np.int64]

    @classmethod
    def of(cls, events: int) -> EventColumns:
        """Return new columns for so many events."""
        return cls(
            empty_column(events, np.uint32),
            empty_column(events, np.uint32),
            *(empty_column(events, np.int64) for _ in range(4)),
        )

    def part(self, begin: int, end: int) -> EventColumns:
        """Return the columns of a range of events; they share memory."""
        names = self.__slots__
        return EventColumns(*(getattr(self, name)[begin:end] for name in names))


@dataclass(frozen=True, slots=True)
class TimeScale:
    """How a stream's time becomes nanoseconds.

    Attributes
    ----------
    ns_per_unit : float
    origin_ns : int
        Time of the stream's start [ns].
    cost_ns : int
        What the recorder spends in each gap [ns].
    request_cost_ps : int
        And for each request of the event before it [ps].
    """

    ns_per_unit: float
    origin_ns: int
    cost_ns: int
    request_cost_ps: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """What decoding finds beside the columns.

    Attributes
    ----------
    events : int
        Number of events that were decoded.
    variants : structured array
        ``struct skelgen_variant``: a shape and one set of values that vary in it.
    statuses, foreign, vectors : structured arrays
        ``struct skelgen_status``, ``skelgen_foreign``, ``skelgen_vectors``.
    away : structured array
        ``struct skelgen_away``: events before which the thread was without its core,
        where the recording says why.
    implausible : int
        Sizes that were cut because no message is that large.
    """

    events: int
    variants: NDArray[np.void]
    statuses: NDArray[np.void]
    foreign: NDArray[np.void]
    vectors: NDArray[np.void]
    away: NDArray[np.void]
    implausible: int


def let_go(data: Any) -> None:
    """Tell the system that the pages of a file need not stay in memory."""
    if isinstance(data, mmap.mmap):
        data.madvise(mmap.MADV_DONTNEED)


def checksum(data: Any, begin: int, end: int, before: int = 0) -> int:
    """Return the CRC32C of some bytes.

    Parameters
    ----------
    data : bytes-like
    begin, end : int
        The part of it [bytes].
    before : int
        CRC32C of what stands in front of them, to go on with.

    Examples
    --------
    >>> f"{checksum(b'123456789', 0, 9):08x}"
    'e3069283'
    """
    ffi, lib = kernel().ffi, kernel().lib
    with ffi.from_buffer("uint8_t[]", data) as view:
        return int(lib.skelgen_checksum(before, view + begin, end - begin))


def _facts(stream: Any) -> TraceFacts:
    return TraceFacts(
        events=stream.event_count,
        requests=stream.request_count,
        persistent=stream.persistent_count,
        polls=stream.poll_count,
        errors=stream.error_count,
        statuses=stream.status_count,
        foreign=stream.foreign_count,
        vectors=stream.vector_count,
        away=stream.away_count,
        handled=stream.handled_count,
        duration_units=stream.time_units,
        overhead_units=stream.overhead_units,
        compute_units=stream.compute_units,
        long_units=stream.long_units,
        lost_us=stream.lost_us,
        told_us=stream.told_us,
        queued_us=stream.queued_us,
    )


def scan(
    data: Any, header: Header, end: int, workspace: Workspace | None = None
) -> Scan:
    """Walk through a file once: check its records and find its definitions.

    Parameters
    ----------
    data : bytes-like
        The file.
    header : Header
    end : int
        Nothing from here on is read [bytes].
    workspace : Workspace, optional
        Used again for many files.
    """
    workspace = workspace or Workspace()
    with workspace.opened(data, header.header_bytes, end) as stream:
        stream.ns_per_unit = header.unit_ns
        tables, stop = workspace.tables, kernel().lib.SKELGEN_STOP_PAUSE
        while stop == kernel().lib.SKELGEN_STOP_PAUSE:
            let_go(data)
            stream.pause = min(stream.position + _READ_BYTES, end)
            stop = run(stream, tables)
        return Scan(
            stop=stop,
            position=stream.position,
            definitions=tables.definitions[: stream.definition_count].copy(),
            shapes=tables.shapes[: stream.shape_count].copy(),
            facts=_facts(stream),
        )


def attach(
    stream: Any,
    columns: EventColumns,
    rows: Sequence[NDArray[np.void]],
    scale: TimeScale,
) -> None:
    """Tell the kernel where events go, their tables, and what time is.

    Parameters
    ----------
    stream : struct skelgen_stream
    columns : EventColumns
    rows : three structured arrays
        Room for statuses, foreign requests and vectors.
    scale : TimeScale
    """
    stream.event_capacity = len(columns.variant)
    for name in ("variant", "reference"):
        setattr(stream, name, pointer(getattr(columns, name), "uint32_t"))
    for name in ("size_bytes", "enter_ns", "leave_ns", "compute_ns"):
        setattr(stream, name, pointer(getattr(columns, name), "int64_t"))
    statuses, foreign, vectors = rows
    stream.statuses = pointer(statuses, "struct skelgen_status")
    stream.status_capacity = len(statuses)
    stream.foreign = pointer(foreign, "struct skelgen_foreign")
    stream.foreign_capacity = len(foreign)
    stream.vectors = pointer(vectors, "struct skelgen_vectors")
    stream.vector_capacity = len(vectors)
    stream.ns_per_unit = scale.ns_per_unit
    stream.origin_ns = scale.origin_ns
    stream.cost_ns = scale.cost_ns
    stream.request_cost_ps = scale.request_cost_ps


def decode(  # the inputs of one pass
    data: Any,
    header: Header,
    end: int,
    facts: TraceFacts,
    shapes: NDArray[np.void],
    columns: EventColumns,
    scale: TimeScale,
    workspace: Workspace | None = None,
) -> Decoded:
    """Decode the events of a file that `scan` has walked through.

    Parameters
    ----------
    data, header, end
        As for `scan`; `end` is the position where that stopped.
    facts : TraceFacts
        Those of the scan.
    shapes : structured array
        Those of the scan with ``rule``, ``own``, ``bytes_a`` and ``bytes_b`` set.
    columns : EventColumns
        Filled here.
    scale : TimeScale
    workspace : Workspace, optional
        Used again for many files.
    """
    workspace = workspace or Workspace()
    statuses = np.zeros(facts.statuses, dtype("status"))
    foreign = np.zeros(facts.foreign, dtype("foreign"))
    vectors = np.zeros(facts.vectors, dtype("vectors"))
    away = np.zeros(facts.away, dtype("away"))
    with workspace.opened(data, header.header_bytes, end) as stream:
        tables = workspace.tables
        tables.use(shapes)
        attach(stream, columns, (statuses, foreign, vectors), scale)
        stream.away = pointer(away, "struct skelgen_away")
        stream.away_capacity = len(away)
        run(stream, tables)
        return Decoded(
            events=stream.event_count,
            variants=tables.variants[: stream.variant_count].copy(),
            statuses=statuses[: stream.status_count],
            foreign=foreign[: stream.foreign_count],
            vectors=vectors[: stream.vector_count],
            away=away[: stream.away_count],
            implausible=stream.implausible_count,
        )
