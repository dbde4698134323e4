"""From definition records to `Definitions`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.text_of_bytes import printable
from skelgen.trace.definition_types import (
    ClockSample,
    CommunicatorDefinition,
    Definitions,
    End,
    FunctionDefinition,
    LoadTotals,
    Looks,
    OffsetSample,
    Ragged,
    RankUnseen,
    TouchedMemory,
    TypeDefinition,
)
from skelgen.trace.format import trace_format
from skelgen.trace.payload import Payload, PayloadError

_T = TypeVar("_T")
_LARGEST_SIZE = 2**44
_MOST_DIMENSIONS = 64
_MOST_FRAMES = 1024
#: Names in a record of what is not seen: the recorder writes 8 at most.
_MOST_NAMES, _LONGEST_NAME = 64, 600


class Collector:
    """Takes definition records one by one.

    Parameters
    ----------
    world_size : int
        Ranks in MPI_COMM_WORLD; groups with other ranks are damage.
    """

    def __init__(self, world_size: int) -> None:
        self.world_size = world_size
        self.functions: dict[int, FunctionDefinition] = {}
        self.modules: dict[int, str] = {}
        self.builds: dict[str, str] = {}
        self.sites: dict[int, tuple[tuple[str, int], ...]] = {}
        self.communicators: dict[int, CommunicatorDefinition] = {}
        self.types: dict[int, TypeDefinition] = {}
        self.lists: list[NDArray[np.int64]] = []
        self.vectors: list[NDArray[np.int64]] = []
        self.clocks: list[ClockSample] = []
        self.offsets: list[OffsetSample] = []
        self.passed: dict[int, int] = {}
        self.passed_units: dict[int, int] = {}
        self.usage_queries = 0
        self.load: LoadTotals | None = None
        self.touched: TouchedMemory | None = None
        self.windows: dict[int, int] = {}
        self.files: dict[int, str] = {}
        self.notes: list[str] = []
        self.unseen: RankUnseen | None = None
        self.end: End | None = None
        constants = trace_format()
        self._readers: dict[int, Callable[[Payload], None]] = {
            constants["REC_FUNCTION"]: self._function,
            constants["REC_MODULE"]: self._module,
            constants["REC_SITE"]: self._site,
            constants["REC_COMM"]: self._communicator,
            constants["REC_TYPE"]: self._type,
            constants["REC_LIST"]: self._list,
            constants["REC_VECTOR"]: self._vector,
            constants["REC_CLOCK"]: self._clock,
            constants["REC_OFFSET"]: self._offset,
            constants["REC_COUNT"]: self._count,
            constants["REC_NOTE"]: self._note,
            constants["REC_END"]: self._end,
            constants["REC_WINDOW"]: self._window,
            constants["REC_FILE"]: self._file,
            constants["REC_USAGE"]: self._usage,
            constants["REC_LOAD"]: self._load,
            constants["REC_UNSEEN"]: self._unseen,
            constants["REC_TOUCHED"]: self._touched,
        }

    def take(self, tag: int, payload: bytes) -> None:
        """Read one record; those of unknown tags are skipped.

        Raises
        ------
        PayloadError
            When the record does not read as what its tag says.
        """
        reader = self._readers.get(tag)
        if reader is not None:
            reader(Payload(payload))

    def result(self) -> Definitions:
        """Return what was taken so far."""
        return Definitions(
            functions=self.functions,
            sites=self.sites,
            builds=self.builds,
            communicators=self.communicators,
            types=self.types,
            lists=_ragged(self.lists),
            vectors=_ragged(self.vectors),
            clocks=tuple(self.clocks),
            offsets=tuple(self.offsets),
            passed=self.passed,
            passed_units=self.passed_units,
            usage_queries=self.usage_queries,
            load=self.load,
            touched=self.touched,
            windows=self.windows,
            files=self.files,
            notes=tuple(self.notes),
            unseen=self.unseen,
            end=self.end,
        )

    def _function(self, payload: Payload) -> None:
        number, function = payload.whole(_read_function)
        _once(self.functions, number, function)

    def _module(self, payload: Payload) -> None:
        number = payload.varint()
        path = payload.string()
        _once(self.modules, number, path)
        if payload.more:
            self.builds[path] = payload.bytes().hex()

    def _site(self, payload: Payload) -> None:
        number, frames = payload.whole(_read_site)
        for module, _ in frames:
            if module not in self.modules:
                raise PayloadError(f"a call site in the undefined module {module}")
        named = tuple((self.modules[module], offset) for module, offset in frames)
        _once(self.sites, number, named)

    def _communicator(self, payload: Payload) -> None:
        number = payload.varint(2**31)
        kind = trace_format().name("comm_kind", payload.varint())
        parent, sequence = payload.zigzag(2**31), payload.varint()
        twin, rank = payload.varint(), payload.zigzag(2**31)
        members = payload.group(self.world_size)
        remote = payload.group(self.world_size)
        dimensions = payload.varint(_MOST_DIMENSIONS)
        grid = [(payload.varint(2**31), payload.varint(1)) for _ in range(dimensions)]
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
            dims=tuple(size for size, _ in grid),
            periods=tuple(bool(periodic) for _, periodic in grid),
            sources=sources,
            destinations=destinations,
        )
        _once(self.communicators, number, definition)

    def _type(self, payload: Payload) -> None:
        _once(self.types, *payload.whole(_read_type))

    def _list(self, payload: Payload) -> None:
        self.lists.append(payload.whole(_read_list))

    def _vector(self, payload: Payload) -> None:
        payload.varint()
        vector = payload.varints(payload.varint())
        if len(vector) and vector.max() > _LARGEST_SIZE:
            raise PayloadError(f"a count of {int(vector.max())}")
        self.vectors.append(vector)

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

    def _load(self, payload: Payload) -> None:
        constants = trace_format()
        known = payload.varint()
        queue = known & constants["LOAD_QUEUE"]
        queued = [payload.varint(2**62) for _ in range(3 if queue else 0)]
        pressure = known & constants["LOAD_PRESSURE"]
        self.load = LoadTotals(
            queued_us=queued[0] if queue else None,
            devices_us=queued[1] if queue else 0,
            all_queued_us=queued[2] if queue else 0,
            pressure_us=payload.varint(2**62) if pressure else None,
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
        _once(self.windows, self._object(payload), payload.varint(2**62))

    def _file(self, payload: Payload) -> None:
        number = self._object(payload)
        payload.varint()  # how it was opened
        _once(self.files, number, payload.string())

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


def _read_function(payload: Payload) -> tuple[int, FunctionDefinition]:
    number, name = payload.varint(), payload.string()
    kind = trace_format().name("function_kind", payload.varint())
    if not name.startswith("MPI_") or not name.isidentifier():
        raise PayloadError(f"a function named {name[:40]!r}")
    return number, FunctionDefinition(name, kind)


def _read_site(payload: Payload) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Read a site and its frames: numbers of modules, and offsets in them."""
    number = payload.varint()
    frames = [(payload.varint(), payload.varint())]
    if payload.more:
        callers = payload.varint(_MOST_FRAMES)
        frames += [(payload.varint(), payload.varint()) for _ in range(callers)]
    return number, tuple(frames)


def _read_type(payload: Payload) -> tuple[int, TypeDefinition]:
    number, size = payload.varint(), payload.varint(_LARGEST_SIZE)
    payload.zigzag()  # lower bound
    payload.zigzag()  # extent
    payload.varint()  # combiner
    contiguous = bool(payload.varint())
    return number, TypeDefinition(size, payload.string(), contiguous)


def _read_list(payload: Payload) -> NDArray[np.int64]:
    payload.varint()  # the kernel has checked that it is the next one
    steps = payload.zigzags(payload.varint())
    if len(steps) and np.abs(steps).max() > 2**32:
        raise PayloadError(f"an age of {int(np.abs(steps).max())} requests")
    ages: NDArray[np.int64] = np.cumsum(steps)
    return ages


def _neighbours(payload: Payload, size: int) -> tuple[int, ...]:
    """Read the ranks of the neighbours in a communicator of some size."""
    neighbours = payload.varints(payload.varint())
    if len(neighbours) and neighbours.max() >= size:
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


def _once(known: dict[int, _T], number: int, what: _T) -> None:
    if number in known:
        raise PayloadError(f"a second definition of number {number}")
    known[number] = what


def _ragged(rows: list[NDArray[np.int64]]) -> Ragged:
    first = np.fromiter(accumulate(map(len, rows), initial=0), np.int64)
    values = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Ragged(first, values.astype(np.int64, copy=False))
