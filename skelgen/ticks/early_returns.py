"""Put collectives in one order that ranks called in different ones.

MPI wants collectives of overlapping communicators in the same order on all ranks. A
program that does not keep it works where a library lets some ranks go on before all
have come, as the root of a short Bcast. A skeleton must not rely on that: where the
order of the recording makes ranks wait for each other, calls that returned early stand
where they could have returned with the others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.parts import ranks_in, ranks_together
from skelgen.matching import Matching, match
from skelgen.matching.roles import shape_table
from skelgen.matching.threads import order_of_threads
from skelgen.ticks.kernel import stuck_in_meetings
from skelgen.ticks.rules import ClockRole, shape_roles

#: Threads are numbered in 16 bits.
_MOST_THREADS = 1 << 16


def meet_in_several(calls: Calls) -> bool:
    """Say whether ranks call collectives that block on several communicators.

    No others can wait for each other in a circle.
    """
    meets = calls.shapes[shape_roles(calls) == ClockRole.MEETS]
    several = np.array([len(one.members) > 1 for one in calls.communicators])
    communicators = np.unique(meets["communicator"])
    return int(np.sum(several[communicators[communicators >= 0]])) > 1


def meetings(calls: Calls) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the collectives that block, and which of them meet.

    Parameters
    ----------
    calls : Calls
        Of all ranks, or of some.

    Returns
    -------
    call : (n,) int64 array
    meeting : (n,) int64 array
        A number that the calls share which meet.
    """
    stream = shape_table(calls).stream.astype(np.int64)
    stream[shape_roles(calls) != ClockRole.MEETS] = -1
    streams = int(stream.max(initial=0)) + 1
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for ranks in ranks_together(calls.first):
        own = slice(*calls.first[[ranks.start, ranks.stop]].tolist())
        of_call = stream[calls.shape[own]]
        row = np.flatnonzero(of_call >= 0)
        sequence = ranks_in(calls.first, own)[row] * streams + of_call[row]
        order = np.argsort(sequence, kind="stable")
        begins = np.flatnonzero(np.diff(sequence[order], prepend=-1))
        lengths = np.diff(begins, append=len(order))
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order)) - np.repeat(begins, lengths)
        found.append((own.start + row, number * streams + of_call[row]))
    call, meeting = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return call, meeting


def stuck_in_collectives(calls: Calls) -> NDArray[np.int64]:
    """Return the collectives that ranks wait in for ever, because of their order.

    Parameters
    ----------
    calls : Calls
        Of all ranks.

    Returns
    -------
    (stuck,) int64 array
        Calls that block; none where all ranks have one order.
    """
    call, meeting = meetings(calls)
    return call[stuck_in_meetings(np.searchsorted(call, calls.first), meeting)]


def order_without_circles(events: Events) -> NDArray[np.int64]:
    """Return the order of calls in which no collective waits for one behind it.

    Where ranks would wait for ever, each call of that kind that a rank left before all
    had come is taken for one of a thread of its own, which stayed in it until then.
    Where times do not show that somebody left early, the circle stays.

    Parameters
    ----------
    events : Events
        Of all ranks, which have one thread.

    Returns
    -------
    (n,) int64 array
        The call that stands at each place; each rank keeps its own.
    """
    calls = events.calls
    matching = match(calls)
    early, all_came_ns = _left_early(events, matching)
    order = np.arange(len(calls))
    moving = np.zeros(len(calls.shapes), bool)
    while True:
        stuck = order[stuck_in_collectives(replace(calls, shape=calls.shape[order]))]
        kinds = calls.shape[stuck[np.isin(stuck, early)]]
        if moving[kinds].all():
            return order
        moving[kinds] = True
        own = moving[calls.shape[early]]
        order = _order_with_threads(events, matching, early[own], all_came_ns[own])


def _left_early(
    events: Events, matching: Matching
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return collectives that a rank left before all had come, and when these had."""
    calls = events.calls
    meets = (shape_roles(calls) == ClockRole.MEETS)[calls.shape]
    members = np.flatnonzero(meets & (matching.whole_event >= 0))
    event = matching.whole_event[members]
    all_came_ns = np.full(matching.whole_events, np.iinfo(np.int64).min)
    np.maximum.at(all_came_ns, event, events.enter_ns[members])
    early = events.leave_ns[members] < all_came_ns[event]
    return members[early], all_came_ns[event[early]]


def _order_with_threads(
    events: Events,
    matching: Matching,
    early: NDArray[np.int64],
    all_came_ns: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Order calls as if a thread of its own had stayed in each that returned early."""
    calls = events.calls
    leave_ns = events.leave_ns.copy()
    leave_ns[early] = all_came_ns
    threads = np.zeros(len(calls), np.uint16)
    communicator = calls.shapes["communicator"][calls.shape[early]].astype(np.int64)
    threads[early] = 1 + communicator % (_MOST_THREADS - 1)
    taken = replace(events, threads=threads, leave_ns=leave_ns)
    return order_of_threads(taken, matching)
