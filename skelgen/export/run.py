"""A recorded run as streams of calls on one clock: what every format is made from."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from skelgen.events.clock import time_scales
from skelgen.events.communicators import one_number_each, unify
from skelgen.events.shapes import Names
from skelgen.events.types import Communicator
from skelgen.export.calls import ExportedCalls
from skelgen.export.follow import BatchRoom, Follower, PeerGroups, find_sources
from skelgen.export.kernel import dtype
from skelgen.export.spool import RecordSpool
from skelgen.export.stream import SidesTable, Stream
from skelgen.export.types import Batch
from skelgen.progress import Progress
from skelgen.trace import Trace

#: Events in memory at a time, over all streams that are read together; the least and
#: the most of one stream, and the most of one that is read alone.
_EVENTS_IN_MEMORY = 1 << 16
_LEAST_EVENTS = 512
_MOST_EVENTS = 1 << 13
_MOST_ALONE = 1 << 14
_BINS = 1 << 16


class TraceStreams:
    """All streams of a trace.

    Parameters
    ----------
    trace : Trace
    folder : Path
        Where files without names can be made.
    progress : Progress

    Attributes
    ----------
    trace, folder : as given
    communicators : tuple of Communicator
    canonical : tuple of int
        For each communicator the number of its first row: an intercommunicator has
        one for each of its sides.
    streams : tuple of Stream
        By rank, then thread.
    calls : ExportedCalls
    groups : PeerGroups
    sides : SidesTable
        Filled as events are read.
    sites : tuple of str
    warnings : tuple of str
    until_ns : int
        Events that begin later are left out [ns].
    """

    def __init__(self, trace: Trace, folder: Path, progress: Progress) -> None:
        self.trace, self.folder, self.progress = trace, folder, progress
        unified = unify(trace.files, trace.world_size)
        self.communicators: tuple[Communicator, ...] = unified.table
        self.canonical = one_number_each(unified.table)
        scales, warnings = time_scales(trace.files)
        self.warnings = tuple(warnings)
        names = Names()
        self.sides = SidesTable()
        self.streams = tuple(
            Stream(i, file, unified, names, scale, self.sides)
            for i, (file, scale) in enumerate(zip(trace.files, scales, strict=True))
        )
        self.functions = tuple(names.functions)
        self.sites = tuple(names.sites)
        self.calls = ExportedCalls()
        for stream in self.streams:
            stream.number_calls(self.calls, list(self.functions))
        self.groups = _groups(self.communicators)
        self.until_ns = 1 << 62
        self._room = BatchRoom(_block_events(1))
        self._sources: dict[int, RecordSpool] = {}
        _allow_files(2 * len(self.streams) + 64)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that have a file."""
        return tuple(dict.fromkeys(stream.rank for stream in self.streams))

    def streams_of(self, rank: int) -> tuple[Stream, ...]:
        """Return the streams of a rank, by thread."""
        return tuple(stream for stream in self.streams if stream.rank == rank)

    def followers(self) -> list[Follower]:
        """Return what follows the requests of each rank, to be read in turn.

        Of the events of their batches there are only the times.
        """
        together = len(self.streams)
        return [
            self._follower(self.streams_of(rank), together, only_times=True)
            for rank in self.ranks
        ]

    def batches_of(self, rank: int) -> Iterator[Batch]:
        """Return the events of a rank, all threads, in order of time."""
        streams = self.streams_of(rank)
        return self.counted(self._follower(streams, len(streams)).batches())

    def batches_alone(self, stream: Stream, *, count: bool = True) -> Iterator[Batch]:
        """Return the events of one stream; what other threads end is not in them.

        All streams may be read together.

        Parameters
        ----------
        stream : Stream
        count : bool
            Whether it is one of the passes that progress is told of.
        """
        batches = self._follower([stream], len(self.streams)).batches()
        return self.counted(batches) if count else batches

    def counted(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Return batches and say how far they are."""
        for batch in batches:
            yield batch
            self.progress.advance(len(batch.events))

    def limit(self, most_events: int) -> int:
        """Leave out the end of the run when it holds more events than these.

        Returns
        -------
        int
            Events that are left out.
        """
        total = self.trace.events
        if total <= most_events:
            return 0
        latest = max(stream.end_ns for stream in self.streams)
        width = latest // _BINS + 1
        counts = np.zeros(_BINS, np.int64)
        for stream in self.streams:
            for block in self._enters(stream):
                counts += np.bincount(block // width, minlength=_BINS)
        below = np.cumsum(counts)
        bins = int(np.searchsorted(below, most_events, side="right"))
        self.until_ns = bins * width - 1
        return total - int(below[bins - 1] if bins else 0)

    def _enters(self, stream: Stream) -> Iterator[np.ndarray]:
        return stream.enter_ns(_block_events(1))

    def _follower(
        self, streams: Sequence[Stream], together: int, *, only_times: bool = False
    ) -> Follower:
        """Return what follows some streams when so many are read at the same time."""
        self._find_sources(streams)
        return Follower(
            streams,
            self.calls,
            self.groups,
            self._room,
            _block_events(together),
            self.until_ns,
            self._sources,
            only_times=only_times,
        )

    def _find_sources(self, streams: Sequence[Stream]) -> None:
        """Find what wildcards received when it is first needed."""
        for stream in streams:
            if stream.file.facts.statuses and stream.number not in self._sources:
                spool = RecordSpool(dtype("half_source").itemsize, self.folder)
                find_sources(stream, self.calls, spool, _block_events(1))
                self._sources[stream.number] = spool


def _block_events(together: int) -> int:
    """Return how many events of a stream are in memory when so many are read."""
    most = _MOST_ALONE if together == 1 else _MOST_EVENTS
    return min(max(_LEAST_EVENTS, _EVENTS_IN_MEMORY // together), most)


def _groups(communicators: Sequence[Communicator]) -> PeerGroups:
    groups = [one.remote or one.members for one in communicators]
    first = np.cumsum([0, *map(len, groups)], dtype=np.int64)
    ranks = np.array([rank for group in groups for rank in group], np.int32)
    return PeerGroups(first, ranks)


def _allow_files(wanted: int) -> None:
    """Raise the number of files that may be open, as far as that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
