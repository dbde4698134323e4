"""What a recorded run holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.clock import recording_costs
from skelgen.events.conditions import Conditions, conditions
from skelgen.events.objects import ObjectSummary, is_object, summarise_objects
from skelgen.events.sites import SiteSummary, call_sites
from skelgen.events.thresholds import COSTLY_S, COSTLY_SHARE
from skelgen.events.totals import RunTotals, ShapeSums, totals_of
from skelgen.events.types import Events
from skelgen.events.uncounted_calls import PassedOn, passed_on
from skelgen.events.unrecorded_work import unseen_of
from skelgen.trace import RankFile, Trace
from skelgen.trust.recording_doubts import Unseen, unseen_doubts
from skelgen.units import NS_PER_S, format_seconds, seconds

#: Name, calls and time inside them [s] of functions.
RecordedCalls = tuple[tuple[str, int, float], ...]


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """The calls of one function, all ranks.

    Attributes
    ----------
    name : str
    calls : int
        Polls that found nothing count each.
    time_s : float
        Time inside [s].
    sent_bytes : int
        What the calls send [bytes].
    """

    name: str
    calls: int
    time_s: float
    sent_bytes: int


@dataclass(frozen=True, slots=True)
class CommunicatorSummary:
    """Communicators of one kind and size.

    Attributes
    ----------
    kind : str
    size : int
        Ranks in each.
    count : int
    calls : int
        Calls on them, all ranks.
    """

    kind: str
    size: int
    count: int
    calls: int


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
    """What ``skelgen info`` tells about a recorded run.

    Attributes
    ----------
    program, mpi, started : str
        Started as ISO date, UTC.
    ranks, threads : int
        Threads that made calls, all ranks.
    hosts : tuple of (str, int)
        Name and ranks of each host.
    events : int
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
    older_files : int
        Files of an older recorder, which have no checksum at all.
    functions : tuple of FunctionSummary
        Longest time first.
    communicators : tuple of CommunicatorSummary
        As created.
    objects : tuple of ObjectSummary
        Windows and files, longest time first.
    sites : tuple of SiteSummary
        Longest time first.
    matrix : (ranks, ranks) float64 array
        Bytes in messages from each rank to each other [bytes].
    messages : (ranks, ranks) uint32 array
        Their number; (0, 0) where there is no matrix.
    passed : tuple of PassedOn
        Functions that communicate but were passed on unrecorded.
    local : tuple of PassedOn
        Functions that do not communicate and become no event.
    taken : Conditions
        Clocks and load.
    unseen : Unseen or None
        What the ranks did that no event shows; None where the recorder did not look.
    recorder_s : float
        What recording cost by its own account, all ranks [s].
    recorder_share : float
        Of the time of all ranks [0 to 1].
    clean : bool
        Whether all ranks are there and ended as they should.
    warnings : tuple of str
    """

    program: str
    mpi: str
    started: str
    ranks: int
    threads: int
    hosts: tuple[tuple[str, int], ...]
    events: int
    application_s: float
    mpi_share: float
    trace_bytes: int
    bytes_per_event: float
    unchecked_bytes: int
    older_files: int
    functions: tuple[FunctionSummary, ...]
    communicators: tuple[CommunicatorSummary, ...]
    objects: tuple[ObjectSummary, ...]
    sites: tuple[SiteSummary, ...]
    matrix: NDArray[np.float64]
    messages: NDArray[np.uint32]
    passed: tuple[PassedOn, ...]
    local: tuple[PassedOn, ...]
    taken: Conditions
    unseen: Unseen | None
    recorder_s: float
    recorder_share: float
    clean: bool
    warnings: tuple[str, ...]

    def with_sites(self, sites: Sequence[SiteSummary]) -> RunSummary:
        """Return it with other call sites, such as those with source lines."""
        return replace(self, sites=tuple(sites))


def summarise_run(trace: Trace, events: Events) -> RunSummary:
    """Describe a recorded run that was read as a whole.

    Parameters
    ----------
    trace : Trace
    events : Events
        What `collect` made of it.
    """
    return summary_of(trace, totals_of(events))


def summary_of(trace: Trace, totals: RunTotals) -> RunSummary:
    """Describe a recorded run.

    Parameters
    ----------
    trace : Trace
    totals : RunTotals
        Of its calls.
    """
    run = totals.run
    first = trace.files[0].header
    hosts = {file.header.world_rank: file.header.host for file in trace.files}
    elapsed_ns = float((run.end_ns - run.begin_ns).sum())
    inside_ns = float(totals.inside_ns.sum())
    others = passed_on(trace.files)
    passed = tuple(one for one in others if one.communicates)
    taken = conditions(trace.files)
    unseen = unseen_of(trace.files)
    recorder_s, rare_s, polls_s = _recorder_s(trace.files)
    recorder_share = recorder_s * NS_PER_S / elapsed_ns if elapsed_ns else 0.0
    costly = _costly(trace, recorder_s, rare_s, polls_s, recorder_share)
    return RunSummary(
        program=first.program,
        mpi=first.mpi_library,
        started=_date(first.start_realtime_ns),
        ranks=trace.world_size,
        threads=len(trace.files),
        hosts=tuple(Counter(hosts.values()).items()),
        events=trace.events,
        application_s=seconds(run.application_ns),
        mpi_share=min(inside_ns / elapsed_ns, 1.0) if elapsed_ns else 0.0,
        trace_bytes=trace.size_bytes,
        bytes_per_event=sum(f.used_bytes for f in trace.files) / max(trace.events, 1),
        unchecked_bytes=sum(f.used_bytes - f.checked_bytes for f in trace.files),
        older_files=sum(not f.checked_bytes for f in trace.files),
        functions=_functions(totals),
        communicators=_communicators(totals),
        objects=summarise_objects(totals),
        sites=call_sites(totals),
        matrix=totals.sent.matrix,
        messages=totals.sent.messages,
        passed=passed,
        local=tuple(one for one in others if not one.communicates),
        taken=taken,
        unseen=unseen,
        recorder_s=recorder_s,
        recorder_share=recorder_share,
        clean=trace.clean,
        warnings=(
            *trace.warnings,
            *run.warnings,
            *taken.warnings,
            *costly,
            *map(_not_recorded, passed),
            *map(str, unseen_doubts(unseen)),
        ),
    )


def _not_recorded(one: PassedOn) -> str:
    return (
        f"{one.calls} calls of {one.name} ({format_seconds(one.time_s)}) communicate "
        "but are not recorded; a skeleton does not have them"
    )


def _date(realtime_ns: int) -> str:
    try:
        return datetime.fromtimestamp(realtime_ns // NS_PER_S, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return "unknown"


def recorded_calls(events: Events) -> dict[str, tuple[int, int]]:
    """Count the calls of each function of some ranks, as `summarise_run` does.

    Returns
    -------
    dict of str to (int, int)
        Calls, and time inside them [ns]: whole, so that sums are the same in any order.
    """
    sums, shapes = ShapeSums(), events.calls.shapes
    for begin, end in pairwise(events.calls.first.tolist()):
        own = slice(begin, end)
        inside = events.leave_ns[own] - events.enter_ns[own]
        sums.add(shapes, events.calls.shape[own], events.calls.size_bytes[own], inside)
    number, functions = shapes["function"], events.calls.functions
    calls = np.bincount(number, weights=sums.count, minlength=len(functions))
    inside_ns = np.bincount(number, weights=sums.time_ns, minlength=len(functions))
    return {
        name: (int(calls[i]), int(inside_ns[i]))
        for i, name in enumerate(functions)
        if calls[i]
    }


def added_calls(parts: Iterable[dict[str, tuple[int, int]]]) -> RecordedCalls:
    """Add up the calls of parts of a run; longest time first."""
    calls: Counter[str] = Counter()
    time_ns: Counter[str] = Counter()
    for part in parts:
        for name, (count, inside_ns) in part.items():
            calls[name] += count
            time_ns[name] += inside_ns
    rows = [(name, calls[name], seconds(time_ns[name])) for name in calls]
    return tuple(sorted(rows, key=lambda row: (-row[2], row[0])))


def _functions(totals: RunTotals) -> tuple[FunctionSummary, ...]:
    calls = totals.run.calls
    number, sent = calls.shapes["function"], totals.sent.function_bytes
    functions = len(calls.functions)
    calls_of = np.bincount(number, weights=totals.count, minlength=functions)
    time_of = np.bincount(number, weights=totals.time_ns, minlength=functions)
    rows = [
        FunctionSummary(name, int(calls_of[i]), seconds(time_of[i]), int(sent[i]))
        for i, name in enumerate(calls.functions)
        if calls_of[i]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.time_s, row.name)))


def _communicators(found: RunTotals) -> tuple[CommunicatorSummary, ...]:
    calls = found.run.calls
    calls_on = np.bincount(
        calls.shapes["communicator"] + 1,
        weights=found.used,
        minlength=len(calls.communicators) + 1,
    )[1:]
    counts: Counter[tuple[str, int]] = Counter()
    totals: Counter[tuple[str, int]] = Counter()
    for one, number in zip(calls.communicators, calls_on.tolist(), strict=True):
        if is_object(one) or (one.kind == "self" and not number):
            continue
        key = (one.kind, len(one.members) + len(one.remote))
        counts[key] += 1
        totals[key] += int(number)
    return tuple(
        CommunicatorSummary(kind, size, count, totals[kind, size])
        for (kind, size), count in counts.items()
    )


def _recorder_s(files: Sequence[RankFile]) -> tuple[float, float, float]:
    """Return what recording cost; of it what was out of the ordinary, and polls [s]."""
    usual_ns = rare_ns = polls_ns = 0.0
    for file, cost in zip(files, recording_costs(files), strict=True):
        usual_ns += cost.total_ns(file.facts)
        rare_ns += file.facts.overhead_units * file.header.unit_ns
        polls_ns += cost.polls_ns(file.facts)
    return seconds(usual_ns + rare_ns), seconds(rare_ns), seconds(polls_ns)


def _costly(
    trace: Trace, total_s: float, rare_s: float, polls_s: float, share: float
) -> tuple[str, ...]:
    """Say what made recording take a share of the run that matters, and what helps."""
    if share <= COSTLY_SHARE or total_s <= COSTLY_S:
        return ()
    said = f"recording took {format_seconds(total_s)}, {share:.1%} of the ranks' time"
    pause = "MPI_Pcontrol(0) pauses recording around parts that do not matter"
    callers = any(
        len(frames) > 1 for f in trace.files for frames in f.definitions.sites.values()
    )
    if callers:
        cause = "the callers of each call were looked up"
        pause = f"record with a smaller SKELGEN_CALLSTACK; {pause}"
    elif 2 * rare_s > total_s:
        cause = (
            f"{format_seconds(rare_s)} of it defined calls that were new: datatypes, "
            "communicators, sizes, tags or orders of completion that hardly repeat"
        )
    elif 2 * polls_s > total_s:
        polls = sum(file.facts.polls for file in trace.files)
        cause = (
            f"{format_seconds(polls_s)} of it counted {polls} polls that found "
            "nothing, which delays nothing where a rank only waits"
        )
    else:
        cause = f"there are {trace.events} calls, with little between them"
    taken_out = "what falls between calls is taken out of the computation"
    return (f"{said}: {cause}; {taken_out}. {pause}",)
