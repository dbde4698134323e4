"""Where the run of each rank is cut so that all ranks can stop there together."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.types import FAILED_POLL
from skelgen.matching import Matching
from skelgen.matching.roles import PART_OF_MEMBERS, short_name
from skelgen.phases.counts import counted

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def cuts(calls: Calls, matching: Matching, position: Ints, bound: Ints) -> Ints:
    """Return the calls of each rank before each bound.

    No rank waits before a cut for what another does behind it: no message is received
    before a cut and sent behind it, none is sent there that is not asked for (its
    sender may wait for that), and the calls of a collective are on one side, for the
    recorder lets all ranks meet at a cut. Positions alone do not see to that: a call
    may stand late because of the call before it, and its partners do not. They move
    behind the cut with it, and what needs them as well.

    What a rank calls on its own between two events, such as a receive from nobody,
    belongs to the later one, but for what a completion follows: at a cut all requests
    are complete if they ever are between the two. Polls before the first call that
    counts belong to the earlier one: at that call ranks stop, and take the time.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    position : (n,) int64 array
        Of each call in the string; -1 before a rank's first event.
    bound : (o + 1,) int64 array
        Where occurrences begin in the string, and its end.

    Returns
    -------
    (ranks, o + 1) int64 array
    """
    joint = _joint_events(calls, matching)
    event = joint >= 0
    complete = _of_kind(calls, CallKind.COMPLETE)
    # The first bound that each call is before; it only ever rises.
    side = np.searchsorted(bound, np.maximum(position, 0), "right")
    needs = _needs(calls, matching, event, complete)
    _close(side, calls, matching, joint, *needs)
    side[~(event | complete)] = len(bound) - 1
    counting = counted(calls)
    found = np.empty((calls.ranks, len(bound)), np.int64)
    for rank, (begin, end) in enumerate(pairwise(calls.first)):
        backwards = side[begin:end][::-1]
        np.minimum.accumulate(backwards, out=backwards)
        cut = np.searchsorted(side[begin:end], np.arange(len(bound)), "right")
        places = np.append(np.flatnonzero(counting[begin:end]), end - begin)
        found[rank] = places[np.searchsorted(places, cut)]
    found[:, :1] = 0  # the run begins where it does
    return found


def _joint_events(calls: Calls, matching: Matching) -> Ints:
    """Return the event of each call, with those that make communicators of other ranks.

    Whom MPI_Comm_create_group and MPI_Intercomm_create wait for is not known: the k-th
    such call of each rank is taken to be one with the k-th of all others.
    """
    joint, events = matching.whole_event.copy(), matching.whole_events
    of_shape = calls.shapes["function"]
    for number, name in enumerate(calls.functions):
        if short_name(name) in PART_OF_MEMBERS:
            for begin, end in pairwise(calls.first):
                own = of_shape[calls.shape[begin:end]] == number
                rows = begin + np.flatnonzero(own & (joint[begin:end] < 0))
                joint[rows] = events + np.arange(len(rows))
            events = max(events, int(joint.max(initial=-1)) + 1)
    return joint


def _of_kind(calls: Calls, kind: CallKind) -> Mask:
    """Say which calls are of a kind and found something."""
    found = np.array(
        [function_info(name).kind is kind for name in calls.functions], bool
    )[calls.shapes["function"]]
    found &= calls.shapes["flags"] & FAILED_POLL == 0
    return np.asarray(found[calls.shape])


def _needs(
    calls: Calls, matching: Matching, event: Mask, complete: Mask
) -> tuple[Ints, Ints]:
    """Return calls that are before a cut only if others are, and those others."""
    received, sent = matching.receive_done >= 0, matching.send_done >= 0
    # Behind an event ranks go on through completions and probes before they stop.
    latest = np.maximum.accumulate(np.where(event, np.arange(len(event)), -1))
    begin, end = (
        np.repeat(first, np.diff(calls.first))
        for first in (calls.first[:-1], calls.first[1:])
    )
    follows = np.flatnonzero(complete & ~event & (latest >= begin))
    probe = np.flatnonzero(_of_kind(calls, CallKind.PROBE) & (latest >= begin))
    # What is probed for is taken to be what is received next.
    order = np.append(np.argsort(matching.receive_call), 0)
    receive = np.append(np.sort(matching.receive_call), len(event))
    following = np.searchsorted(receive, probe)
    known = receive[following] < end[probe]
    probe, probed = probe[known], order[following[known]]
    needing = (
        *(matching.receive_done[received], matching.send_done[sent]),
        *(latest[follows], latest[probe]),
    )
    needed = (
        *(matching.send_call[received], matching.receive_call[sent]),
        *(follows, matching.send_call[probed]),
    )
    return np.concatenate(needing), np.concatenate(needed)


def _close(
    side: Ints,
    calls: Calls,
    matching: Matching,
    joint: Ints,
    needing: Ints,
    needed: Ints,
) -> None:
    """Raise sides until each call is behind the cuts that what it needs is behind."""
    alone = joint < 0  # not called by several ranks together
    alone[matching.send_call] = alone[matching.receive_call] = True
    # A collective that a killed rank never came to has no joint.
    known = ~alone | (matching.collective_done >= 0)
    together = np.flatnonzero(known & (joint >= 0))
    joint = joint[together]
    before = np.zeros_like(side)
    while not np.array_equal(side, before):
        before[:] = side
        np.maximum.at(side, needing, side[needed])
        latest = np.zeros(int(joint.max(initial=-1)) + 1, np.int64)
        np.maximum.at(latest, joint, side[together])
        side[together] = latest[joint]
        for begin, end in pairwise(calls.first):
            np.maximum.accumulate(side[begin:end], out=side[begin:end])
