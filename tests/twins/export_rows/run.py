"""A recorded run as streams of calls on one clock: what every format is made from."""

from __future__ import annotations

import heapq
import resource
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np

from skelgen.events.clock import time_scales
from skelgen.events.communicators import one_number_each, unify
from skelgen.events.shapes import Names
from skelgen.events.types import Communicator
from skelgen.progress import Progress
from skelgen.trace import Trace
from tests.twins.export_rows.follow import Follower, Sources, find_sources, follow
from tests.twins.export_rows.spool import RecordSpool
from tests.twins.export_rows.stream import Raw, Stream
from tests.twins.export_rows.types import Event

#: Events in memory at a time, over all streams, and the least of one stream.
_EVENTS_IN_MEMORY = 1 << 16
_LEAST_EVENTS = 128
#: Progress is told of so many events at a time.
_STEP = 1 << 12
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
        self.streams = tuple(
            Stream(i, file, unified, names, scale)
            for i, (file, scale) in enumerate(zip(trace.files, scales, strict=True))
        )
        self.functions = tuple(names.functions)
        self.sites = tuple(names.sites)
        self.until_ns = 1 << 62
        share = _EVENTS_IN_MEMORY // len(self.streams)
        self._block_events = max(_LEAST_EVENTS, share)
        self._sources: dict[int, Sources] = {}
        _allow_files(2 * len(self.streams) + 64)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that have a file."""
        return tuple(dict.fromkeys(stream.rank for stream in self.streams))

    def streams_of(self, rank: int) -> tuple[Stream, ...]:
        """Return the streams of a rank, by thread."""
        return tuple(stream for stream in self.streams if stream.rank == rank)

    def events_of(self, rank: int) -> Iterator[Event]:
        """Return the events of a rank, all threads, in order of time."""
        streams = self.streams_of(rank)
        followers = {
            stream.thread: Follower(stream, self._sources_of(stream))
            for stream in streams
        }
        raws = [self._bounded(stream) for stream in streams]
        merged = raws[0] if len(raws) == 1 else heapq.merge(*raws, key=itemgetter(0))
        return follow(merged, followers)

    def events_alone(self, stream: Stream) -> Iterator[Event]:
        """Return the events of one stream; what other threads end is not in them."""
        follower = Follower(stream, self._sources_of(stream))
        return follow(self._bounded(stream), {stream.thread: follower})

    def events(self) -> Iterator[Event]:
        """Return the events of all ranks in order of time."""
        ranks = [self.events_of(rank) for rank in self.ranks]
        return heapq.merge(*ranks, key=itemgetter(0))

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
        return stream.enter_ns(self._block_events)

    def _bounded(self, stream: Stream) -> Iterator[Raw]:
        until, done = self.until_ns, 0
        for raw in stream.raw_events(self._block_events):
            if raw.enter_ns > until:
                break
            done += 1
            if done == _STEP:
                self.progress.advance(done)
                done = 0
            yield raw
        self.progress.advance(done)

    def _sources_of(self, stream: Stream) -> Sources | None:
        """Return what wildcards received, found when it is first needed."""
        if not stream.file.facts.statuses:
            return None
        if stream.number not in self._sources:
            spool = RecordSpool(Sources.LAYOUT, self.folder)
            found = find_sources(stream, spool, self._block_events)
            self._sources[stream.number] = found
        return self._sources[stream.number]


def _allow_files(wanted: int) -> None:
    """Raise the number of files that may be open, as far as that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
