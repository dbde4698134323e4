"""Types of the trace stage: files and runs; what files define stands beside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.definition_types import Definitions, Ragged
from skelgen.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Header:
    """What the beginning of a rank file says.

    Attributes
    ----------
    header_bytes : int
        Offset of the first record [bytes].
    run_id : int
        Equal in all files of one run.
    world_rank, world_size : int
    thread : int
        0: the thread that called ``MPI_Init``.
    thread_level : int
        Granted thread level, 0 single to 3 multiple.
    clock_kind : int
    unit_shift : int
        One time unit is 2^unit_shift ticks.
    ticks_per_s : int
        Nominal clock frequency [1/s].
    start_ticks : int
        Begin of the stream [ticks].
    start_realtime_ns : int
        Wall clock at that time [ns since 1970].
    pid : int
    mpi_family : str
        ``mpich``, ``openmpi`` or ``other``.
    mpi_library : str
        First line of the library's version.
    mpi_standard : int
        Version of the MPI standard: 100 x major + minor.
    host, boot_id, program : str
    seal : int
        Hash of the bytes that say this, in the process that read them.
    """

    header_bytes: int
    run_id: int
    world_rank: int
    world_size: int
    thread: int
    thread_level: int
    clock_kind: int
    unit_shift: int
    ticks_per_s: int
    start_ticks: int
    start_realtime_ns: int
    pid: int
    mpi_family: str
    mpi_library: str
    mpi_standard: int
    host: str
    boot_id: str
    program: str
    seal: int = field(default=0, compare=False)

    @property
    def unit_ns(self) -> float:
        """Return about how long a unit of the file's times is [ns]."""
        return float(2**self.unit_shift) * NS_PER_S / self.ticks_per_s


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a file stops making sense.

    Attributes
    ----------
    file : str
        Name of the file.
    rank, thread : int
    offset : int
        Of the first record that was not used [bytes].
    read, expected : str
    """

    file: str
    rank: int
    thread: int
    offset: int
    read: str
    expected: str

    def __str__(self) -> str:
        """Return one line for people."""
        return (
            f"{self.file} (rank {self.rank}), byte {self.offset}: read {self.read}, "
            f"expected {self.expected}; what stands before it is used, nothing else is"
        )


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """Counts and sums over the events of a file.

    Attributes
    ----------
    events, requests, persistent, polls, errors : int
        Events; requests and persistent requests that calls created; polls that
        found nothing; calls that returned an error.
    statuses, foreign, vectors, away : int
        Completed wildcard receives, completed requests of other threads, events
        with a count for each rank, gaps that say what kept the thread from its core.
    handled : int
        Requests that calls made, started or were given to complete.
    duration_units : int
        From the begin of the first event to the end of the last [units].
    overhead_units : int
        Part of the gaps spent in the recorder beyond its usual cost [units].
    compute_units, lost_us : int
        Time between calls and at work between polls [units], and how long of that the
        thread did not run [us].
    long_units : int
        Of the time between calls, gaps behind which the recorder may look at memory,
        without its own time [units].
    told_us, queued_us : int
        Of that: what the gaps say more of, and what of this others took [us].
    """

    events: int
    requests: int
    persistent: int
    polls: int
    errors: int
    statuses: int
    foreign: int
    vectors: int
    away: int
    handled: int
    duration_units: int
    overhead_units: int
    compute_units: int
    long_units: int
    lost_us: int
    told_us: int
    queued_us: int


@dataclass(frozen=True, slots=True, eq=False)
class RankFile:
    """One stream: what one thread of one rank did.

    Attributes
    ----------
    path : Path
    header : Header
    size_bytes : int
        Of the file [bytes].
    used_bytes : int
        Up to the end of the last complete record [bytes].
    checked_bytes : int
        Of these, those that a checksum covers: they are as they were written. 0 in
        files of an older recorder [bytes].
    definitions : Definitions
    shapes : structured array
        Call shapes, ``struct skelgen_call_shape`` of the kernel.
    facts : TraceFacts
    damage : Damage or None
    """

    path: Path
    header: Header
    size_bytes: int
    used_bytes: int
    checked_bytes: int
    definitions: Definitions
    shapes: NDArray[np.void]
    facts: TraceFacts
    damage: Damage | None

    @property
    def clean(self) -> bool:
        """Return whether the file ends as a file should."""
        return self.damage is None and self.definitions.end is not None

    def outline(self) -> RankFile:
        """Return the file without what only the decoding of its events needs."""
        nothing = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int64))
        known = replace(
            self.definitions, sites={}, types={}, lists=nothing, vectors=nothing
        )
        return replace(self, definitions=known, shapes=self.shapes[:0].copy())


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A recorded run: checked files whose events can be decoded.

    Attributes
    ----------
    folder : Path
    files : tuple of RankFile
        By rank, then thread.
    world_size : int
    missing : tuple of int
        World ranks without a usable file.
    warnings : tuple of str
        One line for each thing that is not as it should be.
    """

    folder: Path
    files: tuple[RankFile, ...]
    world_size: int
    missing: tuple[int, ...]
    warnings: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Return whether every rank is there and ended as it should."""
        return not self.missing and all(file.clean for file in self.files)

    @property
    def events(self) -> int:
        """Return the number of recorded events of all files."""
        return sum(file.facts.events for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Return the size of all files [bytes]."""
        return sum(file.size_bytes for file in self.files)
