"""One clock for all ranks: ticks become nanoseconds since the first call of the run."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.events.thresholds import LARGEST_CLOCK_ERROR, SHORTEST_CLOCK_SPAN_NS
from skelgen.trace import RankFile, TimeScale
from skelgen.trace.types import TraceFacts
from skelgen.units import NS_PER_S, format_seconds

_LATEST_NS = 1 << 61
#: What END records say of the recorder's cost, in the order of `RecordingCost`.
_COSTS = ("cost_ps", "inside_ps", "request_ps")

_HostKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Host:
    """The clock that the streams of one host share.

    Attributes
    ----------
    ns_per_tick : float
    ticks : int
        An instant [ticks].
    monotonic_ns : int
        CLOCK_MONOTONIC then [ns].
    realtime_ns : int
        Wall clock then [ns since 1970].
    """

    ns_per_tick: float
    ticks: int
    monotonic_ns: int
    realtime_ns: int

    def at(self, ticks: int) -> float:
        """Return CLOCK_MONOTONIC at an instant [ns]."""
        return self.monotonic_ns + (ticks - self.ticks) * self.ns_per_tick


def _host(files: Sequence[RankFile]) -> _Host:
    header = files[0].header
    nominal = NS_PER_S / header.ticks_per_s
    samples = sorted(
        (sample.ticks, sample.monotonic_ns, sample.realtime_ns)
        for file in files
        for sample in file.definitions.clocks
    )
    if not samples:
        ticks = min(file.header.start_ticks for file in files)
        realtime_ns = min(file.header.start_realtime_ns for file in files)
        return _Host(nominal, ticks, round(ticks * nominal), realtime_ns)
    first, last = samples[0], samples[-1]
    measured = nominal
    if last[1] - first[1] > SHORTEST_CLOCK_SPAN_NS and last[0] > first[0]:
        measured = (last[1] - first[1]) / (last[0] - first[0])
    if abs(measured / nominal - 1) > LARGEST_CLOCK_ERROR:
        measured = nominal
    return _Host(measured, *first)


def _offsets(
    key: _HostKey,
    hosts: dict[_HostKey, _Host],
    groups: dict[_HostKey, list[RankFile]],
    host_of_rank: dict[int, _HostKey],
) -> tuple[list[tuple[float, int]], int]:
    """Return (own clock, reference minus own) at some instants and the error [ns]."""
    points, errors = [], [0]
    for file in groups[key]:
        for sample in file.definitions.offsets:
            if host_of_rank.get(sample.reference) not in (None, key):
                points.append((hosts[key].at(sample.ticks), sample.offset_ns))
                errors.append(sample.error_ns)
    return points, max(errors)


def _line(points: list[tuple[float, int]]) -> tuple[float, float]:
    """Fit offset = value + slope x time."""
    times = np.array([time for time, _ in points])
    values = np.array([float(value) for _, value in points])
    span = float(times.max() - times.min())
    if span < SHORTEST_CLOCK_SPAN_NS:
        return float(np.median(values)), 0.0
    middle = float(times.mean())
    slope = float(((times - middle) * values).sum() / ((times - middle) ** 2).sum())
    if abs(slope) > LARGEST_CLOCK_ERROR:
        return float(np.median(values)), 0.0
    return float(values.mean()) - slope * middle, slope


@dataclass(frozen=True, slots=True)
class RecordingCost:
    """What the recorder took for itself in one file, by its own measurement.

    Attributes
    ----------
    gap_ps, inside_ps : int
        For each event: in the gap beside it, and in its own duration [ps].
    request_ps : int
        For each request that an event makes or completes, after it [ps].
    """

    gap_ps: int
    inside_ps: int
    request_ps: int

    def total_ns(self, facts: TraceFacts) -> float:
        """Return what all events of a file took, without rare overhead [ns]."""
        events_ps = facts.events * (self.gap_ps + self.inside_ps)
        of_requests_ps = facts.handled * self.request_ps
        return (events_ps + of_requests_ps) / 1000 + self.polls_ns(facts)

    def polls_ns(self, facts: TraceFacts) -> float:
        """Return what polls took that found nothing, as others before them [ns]."""
        return facts.polls * (self.gap_ps + self.inside_ps) / 1000


def recording_costs(files: Sequence[RankFile]) -> list[RecordingCost]:
    """Return what recording cost in each file.

    A file without END record does not say it; it gets the median of the others.
    """
    ends = [file.definitions.end for file in files]
    known = [end for end in ends if end is not None and end.cost_ps]
    usual = [
        round(statistics.median(getattr(end, name) for end in known)) if known else 0
        for name in _COSTS
    ]
    largest = 10_000_000  # anything above 10 us an event is damage
    stated = [
        [getattr(end, name) for name in _COSTS]
        if end is not None and end.cost_ps
        else usual
        for end in ends
    ]
    return [RecordingCost(*(min(cost, largest) for cost in row)) for row in stated]


def time_scales(files: Sequence[RankFile]) -> tuple[list[TimeScale], list[str]]:
    """Find for each file how its time units become nanoseconds.

    Streams of one host share a clock and its calibration. Other hosts' clocks are
    joined by the recorded offsets, or by the wall clock where there are none.

    Parameters
    ----------
    files : sequence of RankFile
        The first one's host is the reference.

    Returns
    -------
    scales : list of TimeScale
        The earliest stream begins at 0.
    warnings : list of str
    """
    groups: dict[_HostKey, list[RankFile]] = defaultdict(list)
    for file in files:
        groups[_key(file)].append(file)
    hosts = {key: _host(group) for key, group in groups.items()}
    host_of_rank = {file.header.world_rank: _key(file) for file in files}
    lines: dict[_HostKey, tuple[float, float]] = {}
    warnings = []
    reference = _key(files[0])
    for key, host in hosts.items():
        points, error_ns = _offsets(key, hosts, groups, host_of_rank)
        if key == reference:
            lines[key] = (0.0, 0.0)
        elif points:
            lines[key] = _line(points)
            if error_ns > 1_000_000:
                warnings.append(
                    f"the clock of {groups[key][0].header.host} is known to within "
                    f"{format_seconds(error_ns / NS_PER_S)} only"
                )
        else:
            base = hosts[reference]
            offset = (host.realtime_ns - base.realtime_ns) - (
                host.monotonic_ns - base.monotonic_ns
            )
            lines[key] = (float(offset), 0.0)
            warnings.append(
                f"the clock of {groups[key][0].header.host} was not compared with that "
                f"of {files[0].header.host}; their wall clocks are trusted"
            )
    return _scales(files, hosts, lines), warnings


def monotonic_origin_ns(files: Sequence[RankFile]) -> int:
    """Return what CLOCK_MONOTONIC read at the clock origin of a run on one host [ns].

    Parameters
    ----------
    files : sequence of RankFile
        All of one host.
    """
    host = _host(files)
    return round(min(host.at(_begin_ticks(file)) for file in files))


def _begin_ticks(file: RankFile) -> int:
    """Return when the stream begins, as its events count it [ticks]."""
    header = file.header
    return header.start_ticks >> header.unit_shift << header.unit_shift


def _key(file: RankFile) -> _HostKey:
    return file.header.boot_id or file.header.host, file.header.clock_kind


def _scales(
    files: Sequence[RankFile],
    hosts: dict[_HostKey, _Host],
    lines: dict[_HostKey, tuple[float, float]],
) -> list[TimeScale]:
    starts, speeds = [], []
    for file in files:
        key = _key(file)
        header = file.header
        value, slope = lines[key]
        own = hosts[key].at(_begin_ticks(file))
        starts.append(own + value + slope * own)
        speeds.append(hosts[key].ns_per_tick * 2**header.unit_shift * (1 + slope))
    earliest = min(starts)
    return [
        TimeScale(
            speed,
            min(round(start - earliest), _LATEST_NS),
            round(cost.gap_ps / 1000),
            cost.request_ps,
        )
        for speed, start, cost in zip(
            speeds, starts, recording_costs(files), strict=True
        )
    ]
