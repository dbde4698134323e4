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
from skelgen.events.reorder import reorder_calls
from skelgen.matching import Matching, match
from skelgen.matching.threads import order_of_threads
from skelgen.ticks.kernel import stuck_in_collectives
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
        moved = reorder_calls(calls, order)
        narrow = match(moved, completions=False, narrow=True)
        stuck = order[stuck_in_collectives(moved, narrow)]
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


def agreed(events: Events, matching: Matching) -> tuple[Events, Matching]:
    """Put the collectives of a run in one order where they wait for each other.

    Times stay at the places: the calls before one that moves happened when they did.

    Parameters
    ----------
    events : Events
    matching : Matching
        Of those events.
    """
    calls = events.calls
    if not meet_in_several(calls) or not len(stuck_in_collectives(calls, matching)):
        return events, matching
    calls = reorder_calls(calls, order_without_circles(events))
    return replace(events, calls=calls), match(calls)
