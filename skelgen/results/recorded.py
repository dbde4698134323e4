"""The answer of info: what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from skelgen.events.objects import ObjectSummary
from skelgen.events.sites import SiteSummary
from skelgen.events.summary import CommunicatorSummary, FunctionSummary
from skelgen.events.touched_memory import Touched
from skelgen.results.base import Result

if TYPE_CHECKING:
    from skelgen.trust.recording_doubts import Unseen, Used

if TYPE_CHECKING:
    from skelgen.events.summary import RunSummary
    from skelgen.pipeline.info import RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRanks:
    """A host of the run.

    Attributes
    ----------
    name : str
        As the system calls it.
    ranks : int
        Ranks on it.
    """

    name: str
    ranks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenTime:
    """Time of something that is no event.

    Attributes
    ----------
    seconds : float
        All ranks [s].
    share : float
        Of the time of all ranks [0 to 1].
    """

    seconds: float
    share: float

    @classmethod
    def of(cls, one: Used) -> Self:
        """Return what is said of such a time."""
        return cls(seconds=one.time_s, share=one.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenWork:
    """What the ranks did that no event shows.

    Attributes
    ----------
    threads : UnseenTime
        CPU time of threads that computed next to the recorded one.
    children : UnseenTime
        CPU time of processes that the ranks started.
    files : UnseenTime
        Time in files outside MPI.
    file_bytes : int
        Read and written then [bytes].
    children_left : int
        1 when children ran on when the recording ended.
    gpu : sequence of str
        GPU runtimes that were loaded.
    hidden : sequence of str
        Tools in front of the recorder, with the functions whose calls they hid.
    """

    threads: UnseenTime
    children: UnseenTime
    files: UnseenTime
    file_bytes: int
    children_left: int
    gpu: Sequence[str]
    hidden: Sequence[str]

    @classmethod
    def of(cls, found: Unseen | None) -> Self | None:
        """Return what is said of it, None where the recorder did not look."""
        if found is None:
            return None
        return cls(
            threads=UnseenTime.of(found.threads),
            children=UnseenTime.of(found.children),
            files=UnseenTime.of(found.files),
            file_bytes=found.file_bytes,
            children_left=int(found.children_left),
            gpu=found.gpu,
            hidden=found.hidden,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoResult(Result):
    """What was recorded.

    Attributes
    ----------
    program, mpi, started : str
        Program, MPI library, and when the run began (ISO, UTC).
    ranks, threads : int
        Threads that made calls, all ranks.
    hosts : sequence of HostRanks
        Where it ran.
    events : int
        MPI calls and gaps, all ranks.
    application_s : float
        From the first return from MPI_Init to the last begin of MPI_Finalize [s].
    mpi_share : float
        Time inside MPI calls / time of all ranks [0 to 1].
    trace_bytes : int
        Size of the files [bytes].
    bytes_per_event : float
        Without the space that a killed rank had reserved [bytes].
    unchecked_bytes : int
        Of what was used, what no checksum covers [bytes].
    functions : sequence of FunctionSummary
        Longest time first.
    communicators : sequence of CommunicatorSummary
        As created.
    objects : sequence of ObjectSummary
        Windows and files, longest time first.
    sites : sequence of SiteSummary
        Call sites, longest time first.
    matrix_bytes : sequence of (sequence of int)
        Bytes in messages from each rank to each other [bytes].
    passed : mapping of str to int
        Calls of functions that communicate but were passed on unrecorded.
    passed_s : mapping of str to float
        Time inside these [s].
    local : mapping of str to int
        Calls of functions that do not communicate.
    clock : str
        What the time was taken with.
    clocks : int
        Clocks that differ: one for each host.
    clock_error_s : float or None
        Bound of the error of their offsets [s].
    computed_s : float
        Time between MPI calls and at work between polls, all ranks [s].
    lost_share : float
        Part of that in which the ranks did not have a core [0 to 1].
    queued_s, devices_s, slept_s, unknown_s : float
        Of that, what they waited for a core, for devices, slept, and what the system
        did not explain [s].
    pressure : float or None
        Share of the time in which a task of the host waited for a core [0 to 1].
    usage_queries : int
        Questions of the application for its CPU time.
    touched : Touched or None
        What memory computation touches; None where the recorder saw nothing of it.
    unseen : UnseenWork or None
        What the ranks did that no event shows; None where the recorder did not look.
    recorder_s, recorder_share : float
        What recording cost, all ranks [s], and of their time [0 to 1].
    clean : bool
        Whether all ranks are there and ended as they should.
    warnings : sequence of str
        What is wrong with the recording.
    page : Path or None
        Its page; None where none was written.
    """

    result: ClassVar[str] = "info"

    program: str
    mpi: str
    started: str
    ranks: int
    threads: int
    hosts: Sequence[HostRanks]
    events: int
    application_s: float
    mpi_share: float
    trace_bytes: int
    bytes_per_event: float
    unchecked_bytes: int
    functions: Sequence[FunctionSummary]
    communicators: Sequence[CommunicatorSummary]
    objects: Sequence[ObjectSummary]
    sites: Sequence[SiteSummary]
    matrix_bytes: Sequence[Sequence[int]]
    passed: Mapping[str, int]
    passed_s: Mapping[str, float]
    local: Mapping[str, int]
    clock: str
    clocks: int
    clock_error_s: float | None
    computed_s: float
    lost_share: float
    queued_s: float
    devices_s: float
    slept_s: float
    unknown_s: float
    pressure: float | None
    usage_queries: int
    touched: Touched | None
    unseen: UnseenWork | None
    recorder_s: float
    recorder_share: float
    clean: bool
    warnings: Sequence[str]
    page: Path | None

    @classmethod
    def of(cls, found: RunInfo) -> Self:
        """Return the answer to what was found in a run."""
        return cls.of_summary(found.summary, found.page)

    @classmethod
    def of_summary(cls, one: RunSummary, page: Path | None = None) -> Self:
        """Return the answer to the summary of a run."""
        same = {name: getattr(one, name) for name in _SAME}
        taken = {name: getattr(one.taken, name) for name in _TAKEN}
        return cls(
            **same,
            **taken,
            hosts=tuple(HostRanks(name=name, ranks=many) for name, many in one.hosts),
            matrix_bytes=one.matrix.astype(np.int64).tolist(),
            passed={each.name: each.calls for each in one.passed},
            passed_s={each.name: each.time_s for each in one.passed},
            local={each.name: each.calls for each in one.local},
            unseen=UnseenWork.of(one.unseen),
            page=page,
        )


#: Fields that the summary of a run has under the same name, and those of its
#: conditions.
_SAME = (
    *("program", "mpi", "started", "ranks", "threads", "events", "application_s"),
    *("mpi_share", "trace_bytes", "bytes_per_event", "unchecked_bytes", "functions"),
    *("communicators", "objects", "sites", "recorder_s", "recorder_share", "clean"),
    "warnings",
)
_TAKEN = (
    *("clock", "clocks", "clock_error_s", "computed_s", "lost_share", "queued_s"),
    *("devices_s", "slept_s", "unknown_s", "pressure", "usage_queries"),
    "touched",
)
