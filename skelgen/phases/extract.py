"""Extract the phases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.loops import fold
from skelgen.matching import Matching
from skelgen.phases.cuts import cuts
from skelgen.phases.describe import describe
from skelgen.phases.ends import occurrences
from skelgen.phases.levels import FoldedRun, level
from skelgen.phases.segments import Divisible
from skelgen.phases.string import LogicalTrace, logical_trace
from skelgen.phases.types import Parameters, Phases
from skelgen.symbols.types import Symbols


def extract(
    events: Events,
    matching: Matching,
    ticks: NDArray[np.int64],
    symbols: Symbols,
    parameters: Parameters | None = None,
) -> Phases:
    """Extract the phases of a run.

    The logical trace is folded into loops, whose iterations are the occurrences of
    phases; they cut the run of every rank at the same events, and nothing is left
    between them.

    Parameters
    ----------
    events : Events
    matching : Matching
    ticks : (n,) int64 array
        From `skelgen.ticks.place`.
    symbols : Symbols
    parameters : Parameters, optional

    References
    ----------
    Martinez Canillas 2011, chapter 4: phases and weights. There the logical trace is
    searched for stretches that resemble an earlier one; folding finds the nesting as
    well, in linear time.
    """
    (found,) = extract_each(
        events, matching, ticks, symbols, [parameters or Parameters()]
    )
    return found


def extract_each(
    events: Events,
    matching: Matching,
    ticks: NDArray[np.int64],
    symbols: Symbols,
    ways: Iterable[Parameters],
) -> Iterator[Phases]:
    """Extract the phases of a run in each of several ways; it is folded once."""
    calls, whole_ns = events.calls, max(events.application_ns, 1)
    trace = logical_trace(calls, matching, ticks, symbols, events.sites)
    share = _position_ns(events, trace) / (calls.ranks * whole_ns)
    sent = _position_bytes(calls, matching, trace)
    nest = fold(trace.string)
    for parameters in ways:
        divisible = Divisible(nest, share, parameters.relevance)
        chosen, levels = level(FoldedRun.of(divisible, sent), parameters)
        segments = chosen.segments
        cut = cuts(calls, matching, trace.position, segments.bound)
        # Occurrences of which all calls moved behind their end are of the next ones.
        occupied = np.asarray(np.diff(cut, axis=1).any(axis=0))
        found = occurrences(
            events,
            segments.only(occupied),
            chosen.divided.phase[occupied],
            cut[:, np.insert(occupied, 0, True)],
        )
        phases, phase = describe(found, chosen.divided.stratum, trace, calls, whole_ns)
        yield Phases(
            phases=phases,
            phase=phase,
            cut=found.cut,
            time_ns=found.time_ns,
            unmeasured_ns=found.unmeasured_ns,
            application_s=events.application_ns / 1e9,
            parameters=parameters,
            levels=levels,
        )


def _position_bytes(
    calls: Calls, matching: Matching, trace: LogicalTrace
) -> NDArray[np.float64]:
    """Return what all ranks send, or have room for, at each position [bytes]."""
    members = np.flatnonzero(matching.whole_event >= 0)
    where, size = trace.position[members], calls.size_bytes[members]
    return np.bincount(where, size, len(trace.string)).astype(np.float64)


def _position_ns(events: Events, trace: LogicalTrace) -> NDArray[np.float64]:
    """Return the time of all ranks at each position of the string [ns]."""
    spent = np.empty(len(events.calls), np.int64)
    for rank, (begin, end) in enumerate(pairwise(events.calls.first)):
        spent[begin:end] = np.diff(
            events.leave_ns[begin:end], prepend=events.begin_ns[rank]
        )
    # Calls before a rank's first event count to the first event of all.
    where = np.maximum(trace.position, 0)
    return np.bincount(where, spent, len(trace.string)).astype(np.float64)
