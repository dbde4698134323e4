"""From definition records to `Definitions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from skelgen.documents.text_of_bytes import printable
from skelgen.trace.definition_types import (
    ClockSample,
    CommunicatorDefinition,
    Definitions,
    End,
    LoadTotals,
    Looks,
    OffsetSample,
    RankUnseen,
    TouchedMemory,
    sum_of_gaps,
)
from skelgen.trace.format import trace_format
from skelgen.trace.payload import Payload, PayloadError, once
from skelgen.trace.shared_definitions import (
    ListReader,
    NamedThings,
    NameReader,
    NumberLists,
    Readers,
    Record,
    SharedDefinitions,
    bound,
)
from skelgen.trace.stream import FileBytes

_MOST_DIMENSIONS = 64
#: Own and other group of a communicator, its grid, and which ways that is periodic.
_Groups: TypeAlias = tuple[
    tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[bool, ...]
]
#: Names in a record of what is not seen: the recorder writes 8 at most.
_MOST_NAMES, _LONGEST_NAME = 64, 600


def read_definitions(
    data: FileBytes,
    records: Sequence[Record],
    world_size: int,
    shared: SharedDefinitions,
) -> tuple[Definitions, tuple[int, str] | None]:
    """Read the definition records of a file.

    Parameters
    ----------
    data : bytes or mmap
        The file.
    records : sequence of Record
        In their order.
    world_size : int
        Ranks in MPI_COMM_WORLD; groups with other ranks are damage.
    shared : SharedDefinitions
        Extended here.

    Returns
    -------
    definitions : Definitions
    problem : (int, str) or None
        Where the first record stands that makes no sense, and what was read; then the
        definitions are those before it.
    """
    own, names, lists = OwnReader(world_size), NameReader(), ListReader()
    keys = shared.names.key(data, records), shared.lists.key(data, records)
    named, listed = shared.names.get(keys[0]), shared.lists.get(keys[1])
    readers = own.readers()
    readers |= names.readers() if named is None else {}
    readers |= lists.readers() if listed is None else {}
    problem = _take(data, records, readers)
    if named is None:
        named = names.result()
        if problem is None:
            shared.names.add(keys[0], named)
    if listed is None:
        listed = lists.result()
        if problem is None:
            shared.lists.add(keys[1], listed)
    return own.result(named, listed), problem


def _take(
    data: FileBytes, records: Sequence[Record], readers: Readers
) -> tuple[int, str] | None:
    """Read records; those of other tags are skipped."""
    for offset, begin, length, tag in records:
        reader = readers.get(tag)
        if reader is None:
            continue
        try:
            reader(Payload(data[begin : begin + length]))
        except PayloadError as error:
            return offset, str(error)
    return None


class OwnReader:
    """Takes the records of what each rank says of itself one by one.

    Parameters
    ----------
    world_size : int
        Ranks in MPI_COMM_WORLD; groups with other ranks are damage.
    """

    def __init__(self, world_size: int) -> None:
        self.world_size = world_size
        self.communicators: dict[int, CommunicatorDefinition] = {}
        self.clocks: list[ClockSample] = []
        self.offsets: list[OffsetSample] = []
        self.passed: dict[int, int] = {}
        self.passed_units: dict[int, int] = {}
        self.usage_queries = 0
        self.usage_gaps: tuple[int, ...] = ()
        self.load: LoadTotals | None = None
        self.touched: TouchedMemory | None = None
        self.windows: dict[int, int] = {}
        self.files: dict[int, str] = {}
        self.notes: list[str] = []
        self.unseen: RankUnseen | None = None
        self.end: End | None = None

    def readers(self) -> Readers:
        """Return what reads its records."""
        return bound(self, _own_tags())

    def result(self, named: NamedThings, listed: NumberLists) -> Definitions:
        """Return what was taken so far, with what is shared."""
        return Definitions(
            functions=named.functions,
            sites=named.sites,
            builds=named.builds,
            communicators=self.communicators,
            types=named.types,
            lists=listed.lists,
            vectors=listed.vectors,
            clocks=tuple(self.clocks),
            offsets=tuple(self.offsets),
            passed=self.passed,
            passed_units=self.passed_units,
            usage_queries=self.usage_queries,
            usage_gaps=self.usage_gaps,
            load=self.load,
            touched=self.touched,
            windows=self.windows,
            files=self.files,
            notes=tuple(self.notes),
            unseen=self.unseen,
            end=self.end,
        )

    def _communicator(self, payload: Payload) -> None:
        number = payload.varint(2**31)
        kind = trace_format().name("comm_kind", payload.varint())
        parent, sequence = payload.zigzag(2**31), payload.varint()
        twin, rank = payload.varint(), payload.zigzag(2**31)
        members, remote, dims, periods = payload.next(_groups_in(self.world_size))
        if not 0 <= rank < len(members):
            raise PayloadError(f"own rank {rank} among {len(members)}")
        around = [_neighbours(payload, len(members)) for _ in range(2) if payload.more]
        sources, destinations = around if len(around) == 2 else ((), ())
        known = parent in (0, 1) or parent in self.communicators
        definition = CommunicatorDefinition(
            kind=kind,
            parent=parent if known else -1,
            sequence=sequence,
            twin=twin,
            rank=rank,
            members=members,
            remote=remote,
            dims=dims,
            periods=periods,
            sources=sources,
            destinations=destinations,
        )
        once(self.communicators, number, definition)

    def _clock(self, payload: Payload) -> None:
        place = trace_format().name("clock_place", payload.varint())
        times = [payload.varint(2**63) for _ in range(4)]
        self.clocks.append(ClockSample(place, *times))

    def _offset(self, payload: Payload) -> None:
        payload.varint()
        self.offsets.append(
            OffsetSample(
                ticks=payload.varint(2**63),
                reference=payload.varint(2**31),
                offset_ns=payload.zigzag(2**62),
                error_ns=payload.varint(2**62),
            )
        )

    def _count(self, payload: Payload) -> None:
        functions = []
        for _ in range(payload.varint()):
            functions.append(payload.varint())
            _add(self.passed, functions[-1], payload.varint())
        for function in functions if payload.more else ():
            _add(self.passed_units, function, payload.varint(2**63))

    def _usage(self, payload: Payload) -> None:
        self.usage_queries += payload.varint(2**62)
        lengths = trace_format()["QUERY_GAPS"] if payload.more else 0
        gaps = tuple(payload.varint(2**62) for _ in range(lengths))
        self.usage_gaps = sum_of_gaps([self.usage_gaps, gaps])

    def _load(self, payload: Payload) -> None:
        constants = trace_format()
        known = payload.varint()
        queue = known & constants["LOAD_QUEUE"]
        queued = [payload.varint(2**62) for _ in range(3 if queue else 0)]
        pressure = known & constants["LOAD_PRESSURE"]
        cores = known & constants["LOAD_CORES"]
        self.load = LoadTotals(
            queued_us=queued[0] if queue else None,
            devices_us=queued[1] if queue else 0,
            all_queued_us=queued[2] if queue else 0,
            pressure_us=payload.varint(2**62) if pressure else None,
            cores=int.from_bytes(payload.bytes(), "little") if cores else 0,
        )

    def _touched(self, payload: Payload) -> None:
        looking_us = payload.varint(2**62)
        narrow, broad = (
            Looks(*(payload.varint(2**62) for _ in range(3))) for _ in range(2)
        )
        self.touched = TouchedMemory(looking_us, narrow, broad)

    def _unseen(self, payload: Payload) -> None:
        numbers = [payload.varint(2**62) for _ in range(6)]
        gpu = [_printable(payload) for _ in range(payload.varint(_MOST_NAMES))]
        hidden = [_hidden(payload) for _ in range(payload.varint(_MOST_NAMES))]
        self.unseen = RankUnseen(
            time_ns=numbers[0],
            thread_ns=numbers[1],
            child_ns=numbers[2],
            children_left=bool(numbers[3]),
            file_ns=numbers[4],
            file_bytes=numbers[5],
            gpu=tuple(gpu),
            hidden=tuple(hidden),
        )

    def _window(self, payload: Payload) -> None:
        once(self.windows, self._object(payload), payload.varint(2**62))

    def _file(self, payload: Payload) -> None:
        number = self._object(payload)
        payload.varint()  # how it was opened
        once(self.files, number, payload.string())

    def _object(self, payload: Payload) -> int:
        number = payload.varint(2**31)
        if number not in self.communicators:
            raise PayloadError(f"a window or file of the undefined group {number}")
        return number

    def _note(self, payload: Payload) -> None:
        self.notes.append(" ".join(payload.string().split()))

    def _end(self, payload: Payload) -> None:
        reason = trace_format().name("end", payload.varint())
        code = payload.zigzag()
        numbers = [payload.varint() for _ in range(6)]
        numbers += [payload.varint() for _ in range(2) if payload.more]
        self.end = End(reason, code, *numbers)


@cache
def _own_tags() -> dict[int, str]:
    names = {
        "COMM": "communicator",
        "CLOCK": "clock",
        "OFFSET": "offset",
        "COUNT": "count",
        "NOTE": "note",
        "END": "end",
        "WINDOW": "window",
        "FILE": "file",
        "USAGE": "usage",
        "LOAD": "load",
        "UNSEEN": "unseen",
        "TOUCHED": "touched",
    }
    return {trace_format()[f"REC_{tag}"]: f"_{name}" for tag, name in names.items()}


@cache
def _groups_in(world_size: int) -> Callable[[Payload], _Groups]:
    """Return what reads the groups and the grid of a communicator of a run."""

    def read(payload: Payload) -> _Groups:
        members, remote = (payload.group(world_size) for _ in range(2))
        dimensions = payload.varint(_MOST_DIMENSIONS)
        grid = [(payload.varint(2**31), payload.varint(1)) for _ in range(dimensions)]
        dims = tuple(size for size, _ in grid)
        return members, remote, dims, tuple(bool(periodic) for _, periodic in grid)

    return read


def _neighbours(payload: Payload, size: int) -> tuple[int, ...]:
    """Read the ranks of the neighbours in a communicator of some size."""
    count = payload.varint()
    if not count:
        return ()
    neighbours = payload.varints(count)
    if neighbours.max() >= size:
        raise PayloadError(f"a neighbour {int(neighbours.max())} among {size}")
    return tuple(neighbours.tolist())


def _hidden(payload: Payload) -> str:
    """Read a tool and the functions whose calls it hid."""
    tool, functions, named = _printable(payload), payload.varint(), _printable(payload)
    more = functions - len(named.split(", "))
    return f"{tool} ({named}{f' and {more} more functions' if more > 0 else ''})"


def _printable(payload: Payload) -> str:
    """Read the name of a file, which may be odd."""
    return printable(payload.string()[:_LONGEST_NAME])


def _add(sums: dict[int, int], key: int, value: int) -> None:
    sums[key] = sums.get(key, 0) + value
