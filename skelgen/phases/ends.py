"""Prologue and epilogue: what a run does once, before and after all that repeats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events
from skelgen.phases.segments import Segments
from skelgen.phases.thresholds import COMPARED_WITH_FIRST, FEWEST_COMPARED

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The occurrences of a run, from which prologue and epilogue may be told.

    Attributes
    ----------
    bound : (o + 1,) int64 array
        Where they begin in the string, and its end.
    phase : (o,) int64 array
        Number of the phase of each.
    inside : (o,) bool array
        Whether it belongs to a loop of which iterations are occurrences.
    cut, time_ns, unmeasured_ns
        As in `skelgen.phases.types.Phases`.
    """

    bound: Ints
    phase: Ints
    inside: NDArray[np.bool_]
    cut: Ints
    time_ns: Ints
    unmeasured_ns: Ints


def occurrences(
    events: Events,
    segments: Segments,
    phase: NDArray[np.int32],
    cut: Ints,
) -> Occurrences:
    """Take the times of occurrences, with a prologue and an epilogue around loops.

    Without loops the run is as it is. A prologue has what the first occurrence of the
    loops takes more than the next ones of its phase: set-up of which no call tells
    where it ends, and what cold caches cost once.

    Parameters
    ----------
    events : Events
    segments : Segments
    phase : (o,) int32 array
        Number of the phase of each occurrence.
    cut : (ranks, o + 1) int64 array
        As in `skelgen.phases.types.Phases`.
    """
    time_ns, unmeasured_ns = _times(events, cut)
    found = Occurrences(
        segments.bound,
        phase.astype(np.int64),
        segments.inside,
        cut,
        time_ns,
        unmeasured_ns,
    )
    if found.inside.any():
        if found.inside[0]:
            found = _with_empty(found, 0)
        if found.inside[-1]:
            found = _with_empty(found, len(found.phase))
        found.phase[[0, -1]] = int(found.phase.max()) + np.array([1, 2])
        _move_set_up(found)
    if time_ns.size:
        found.time_ns[:, 0] += unmeasured_ns[:, 0]
        found.time_ns[:, -1] += unmeasured_ns[:, 1]
    return found


def _times(events: Events, cut: Ints) -> tuple[Ints, Ints]:
    """Return the time of each rank in each occurrence, and outside all of them [ns]."""
    time_ns = np.empty((len(cut), cut.shape[1] - 1), np.int64)
    last_ns = np.array(events.begin_ns)
    for rank, (begin, end) in enumerate(pairwise(events.calls.first)):
        left = np.insert(events.leave_ns[begin:end], 0, events.begin_ns[rank])
        time_ns[rank] = np.diff(left[cut[rank]])
        last_ns[rank] = left[-1]
    before = events.begin_ns - events.begin_ns.min()
    return time_ns, np.stack([before, events.end_ns.max() - last_ns], axis=1)


def _with_empty(found: Occurrences, at: int) -> Occurrences:
    """Put an occurrence without calls in front of the others, or behind them."""
    return replace(
        found,
        bound=np.insert(found.bound, at, found.bound[at]),
        phase=np.insert(found.phase, at, -1),
        inside=np.insert(found.inside, at, False),
        cut=np.insert(found.cut, at, found.cut[:, at], axis=1),
        time_ns=np.insert(found.time_ns, at, 0, axis=1),
    )


def _move_set_up(found: Occurrences) -> None:
    """Move what only the first occurrence of the loops takes into the prologue."""
    again = np.flatnonzero(found.phase == found.phase[1])[1 : 1 + COMPARED_WITH_FIRST]
    if len(again) < FEWEST_COMPARED:
        return
    usual_ns = np.median(found.time_ns[:, again], axis=1).astype(np.int64)
    more_ns = np.maximum(found.time_ns[:, 1] - usual_ns, 0)
    found.time_ns[:, 0] += more_ns
    found.time_ns[:, 1] -= more_ns
