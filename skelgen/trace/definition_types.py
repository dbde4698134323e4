"""What a rank file defines beside its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """An MPI function of a file: its name and what the recorder calls its kind."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """A datatype of a file.

    Attributes
    ----------
    size_bytes : int
        Of an element [bytes].
    name : str
    contiguous : bool
        Whether elements lie in memory without holes, inside and between them.
    predefined : bool
        Whether MPI defines it, not the program.
    piece_bytes : int
        Mean size of the pieces in which an element lies in memory [bytes]; 0 where MPI
        did not say, and in older traces.
    """

    size_bytes: int
    name: str
    contiguous: bool
    predefined: bool
    piece_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CommunicatorDefinition:
    """A communicator as one rank sees it.

    Attributes
    ----------
    kind : str
    parent : int
        Id of the communicator it was created from, -1 for none.
    sequence : int
        Collective creating calls that the parent had seen before.
    twin : int
        Communicators with exactly these groups that the rank had seen before.
    rank : int
        Own rank.
    members, remote : tuple of int
        World ranks; -1: a process outside MPI_COMM_WORLD.
    dims : tuple of int
    periods : tuple of bool
    sources, destinations : tuple of int
        Neighbours in a topology, in the order of neighbourhood collectives.
    """

    kind: str
    parent: int
    sequence: int
    twin: int
    rank: int
    members: tuple[int, ...]
    remote: tuple[int, ...]
    dims: tuple[int, ...]
    periods: tuple[bool, ...]
    sources: tuple[int, ...] = ()
    destinations: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClockSample:
    """Clocks that were read together.

    Attributes
    ----------
    place : str
        ``init``, ``finalize`` or ``other``.
    ticks : int
    monotonic_ns, realtime_ns, cpu_ns : int
        CLOCK_MONOTONIC, CLOCK_REALTIME and CPU time of the thread [ns].
    """

    place: str
    ticks: int
    monotonic_ns: int
    realtime_ns: int
    cpu_ns: int


@dataclass(frozen=True, slots=True)
class OffsetSample:
    """How far this host's CLOCK_MONOTONIC was from that of another rank.

    Attributes
    ----------
    ticks : int
        When [ticks].
    reference : int
        The other's world rank.
    offset_ns, error_ns : int
        The other's clock minus this one, and its error bound [ns].
    """

    ticks: int
    reference: int
    offset_ns: int
    error_ns: int


@dataclass(frozen=True, slots=True)
class End:
    """What a file's last record says.

    Attributes
    ----------
    reason : str
        ``finalize``, ``abort``, ``exit``, ``full``, ``limit``, ``thread``.
    code : int
        Of MPI_Abort.
    ticks : int
        When [ticks].
    events, requests, persistent : int
        How many were recorded.
    cost_ps : int
        Usual cost of recording one event, in the gap beside it [ps].
    unrecorded : int
        Calls that were not recorded because recording had stopped or was paused.
    inside_ps : int
        What recording adds to the duration of each call [ps].
    request_ps : int
        What making or completing one request adds after the call [ps].
    """

    reason: str
    code: int
    ticks: int
    events: int
    requests: int
    persistent: int
    cost_ps: int
    unrecorded: int
    inside_ps: int = 0
    request_ps: int = 0


@dataclass(frozen=True, slots=True)
class RankUnseen:
    """What a rank did from MPI_Init to MPI_Finalize that its events do not show.

    Attributes
    ----------
    time_ns : int
        Time between the two [ns].
    thread_ns, child_ns : int
        CPU time of further threads and of child processes [ns].
    children_left : bool
        Whether children ran on.
    file_ns, file_bytes : int
        Reading and writing files outside MPI [ns], [bytes].
    gpu : tuple of str
        GPU runtimes that were loaded.
    hidden : tuple of str
        Tools that hid calls, with the names of functions.
    """

    time_ns: int
    thread_ns: int
    child_ns: int
    children_left: bool
    file_ns: int
    file_bytes: int
    gpu: tuple[str, ...]
    hidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of different lengths.

    Attributes
    ----------
    first : (rows + 1,) int64 array
        Row i is ``values[first[i]:first[i + 1]]``.
    values : int64 array
    """

    first: NDArray[np.int64]
    values: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LoadTotals:
    """What kept the thread of a file from its core, in the gaps between its calls.

    Attributes
    ----------
    queued_us : int or None
        Of the time in which it did not run: in the run queue, where others had its
        core [us]; None when the kernel did not say.
    devices_us : int
        Not in the run queue, in gaps in which it moved blocks of files [us].
    all_queued_us : int
        In the run queue, in gaps and calls [us].
    pressure_us : int or None
        Time in which a thread of the machine waited for a core [us]; None when the
        kernel did not say.
    cores : int
        Those that the thread could use, a bit for each; 0 when the kernel did not say,
        of further threads of a rank, and in older traces.
    """

    queued_us: int | None
    devices_us: int
    all_queued_us: int
    pressure_us: int | None
    cores: int = 0


@dataclass(frozen=True, slots=True)
class Looks:
    """What the recorder saw when it looked which memory was touched.

    Attributes
    ----------
    count : int
    kib : int
        Memory that was touched, sum of all looks [KiB].
    time_us : int
        In so much time [us].
    """

    count: int
    kib: int
    time_us: int


@dataclass(frozen=True, slots=True)
class TouchedMemory:
    """What memory the computation of a rank touched.

    Attributes
    ----------
    looking_us : int
        Processor time that looking took [us].
    narrow : Looks
        Each at one gap between two calls.
    broad : Looks
        Each at some 20 ms, calls and waits among them.
    """

    looking_us: int
    narrow: Looks
    broad: Looks


@dataclass(frozen=True, slots=True)
class Definitions:
    """Everything that a file defines beside its call shapes.

    Attributes
    ----------
    functions : dict of int to FunctionDefinition
    sites : dict of int to tuple of (str, int)
        Path of the module and offset in it [bytes], the call's own first, then
        those of its callers where they were recorded.
    builds : dict of str to str
        Build id of each module in hexadecimal digits, empty where it has none; not of
        all in older traces.
    communicators : dict of int to CommunicatorDefinition
    types : dict of int to TypeDefinition
    lists, vectors : Ragged
        Row i has the id i + 1.
    clocks : tuple of ClockSample
    offsets : tuple of OffsetSample
    passed : dict of int to int
        Calls of functions that were passed on without an event, by function.
    passed_units : dict of int to int
        Time inside those that communicate [units]; empty in older traces.
    usage_queries : int
        How often the program asked for its CPU time outside MPI, all threads; 0 in
        older traces.
    usage_gaps : tuple of int
        Gaps between these queries, by length: number b counts those of 2^(b-1) to 2^b
        us, the last one parts of 2^(b-1) us of longer ones. Long calls are no part of
        gaps. Empty where there are no queries, and in older traces.
    load : LoadTotals or None
        None in older traces, and when the process was killed.
    touched : TouchedMemory or None
        None where the kernel does not say, in older traces, and of killed processes.
    windows, files : dict of int to int, dict of int to str
        Of their communicators: own memory [bytes], name.
    notes : tuple of str
    unseen : RankUnseen or None
        None in older traces, and when the process was killed.
    end : End or None
        None when the process was killed.
    """

    functions: dict[int, FunctionDefinition]
    sites: dict[int, tuple[tuple[str, int], ...]]
    builds: dict[str, str]
    communicators: dict[int, CommunicatorDefinition]
    types: dict[int, TypeDefinition]
    lists: Ragged
    vectors: Ragged
    clocks: tuple[ClockSample, ...]
    offsets: tuple[OffsetSample, ...]
    passed: dict[int, int]
    passed_units: dict[int, int]
    usage_queries: int
    usage_gaps: tuple[int, ...]
    load: LoadTotals | None
    touched: TouchedMemory | None
    windows: dict[int, int]
    files: dict[int, str]
    notes: tuple[str, ...]
    unseen: RankUnseen | None
    end: End | None


def sum_of_gaps(gaps: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Add up counts of gaps between queries; those without any add nothing."""
    return tuple(map(sum, zip(*filter(None, gaps), strict=True)))
