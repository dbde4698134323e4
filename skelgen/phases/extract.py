"""Extract the phases of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.parts import members_in, parts_of, rank_of
from skelgen.loops import fold
from skelgen.matching import Matching
from skelgen.phases.cuts import cuts
from skelgen.phases.describe import describe
from skelgen.phases.ends import occurrences
from skelgen.phases.levels import FoldedRun, level
from skelgen.phases.segments import Divisible
from skelgen.phases.string import LogicalTrace
from skelgen.phases.types import Parameters, Phases


def extract(
    events: Events,
    matching: Matching,
    trace: LogicalTrace,
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
    trace : LogicalTrace
        Of these events.
    parameters : Parameters, optional

    References
    ----------
    Martinez Canillas 2011, chapter 4: phases and weights. There the logical trace is
    searched for stretches that resemble an earlier one; folding finds the nesting as
    well, in linear time.
    """
    (found,) = extract_each(events, matching, trace, [parameters or Parameters()])
    return found


def extract_each(
    events: Events,
    matching: Matching,
    trace: LogicalTrace,
    ways: Iterable[Parameters],
) -> Iterator[Phases]:
    """Extract the phases of a run in each of several ways; it is folded once."""
    calls, whole_ns = events.calls, max(events.application_ns, 1)
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
    found = np.zeros(len(trace.string))
    for part in parts_of(calls.first):
        members, _ = members_in(matching.whole_event, part)
        np.add.at(found, trace.position[members], calls.size_bytes[members])
    return found


def _position_ns(events: Events, trace: LogicalTrace) -> NDArray[np.float64]:
    """Return the time of all ranks at each position of the string [ns]."""
    # Without any event all time is at the first position.
    found = np.zeros(max(len(trace.string), min(len(events.calls), 1)))
    for part in parts_of(events.calls.first):
        rank = rank_of(events.calls.first, part)
        begins = part.start == events.calls.first[rank]
        before_ns = events.begin_ns[rank] if begins else events.leave_ns[part.start - 1]
        spent_ns = np.diff(events.leave_ns[part], prepend=before_ns)
        # Calls before a rank's first event count to the first event of all.
        np.add.at(found, np.maximum(trace.position[part], 0), spent_ns)
    return found
