"""Where the run of each rank is cut so that all ranks can stop there together."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.parts import parts_of, rank_of
from skelgen.events.types import FAILED_POLL
from skelgen.matching import Matching
from skelgen.matching.roles import PART_OF_MEMBERS, short_name
from skelgen.phases.counts import counted
from skelgen.phases.sides import close

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
    side = np.empty(len(calls), np.int32)
    for part in parts_of(calls.first):
        side[part] = np.searchsorted(bound, np.maximum(position[part], 0), "right")
    together = _together(matching, joint)
    close(side, calls.first, joint, together, _needs(calls, matching, event, complete))
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
    joint, events = matching.whole_event, matching.whole_events
    of_shape = calls.shapes["function"]
    for number, name in enumerate(calls.functions):
        if short_name(name) in PART_OF_MEMBERS:
            if joint is matching.whole_event:
                joint = joint.copy()
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
) -> list[tuple[Ints, Ints]]:
    """Return calls that are before a cut only if others are, and those others."""
    follows, after = _behind_events(calls, event, complete & ~event)
    probe, before = _behind_events(calls, event, _of_kind(calls, CallKind.PROBE))
    needs = [
        _where(matching.receive_done, matching.send_call),
        _where(matching.send_done, matching.receive_call),
        (after, follows),
    ]
    if len(probe):
        # What is probed for is taken to be what is received next.
        order = np.append(np.argsort(matching.receive_call), 0)
        receive = np.append(np.sort(matching.receive_call), len(event))
        following = np.searchsorted(receive, probe)
        rank = np.searchsorted(calls.first, probe, side="right")
        known = receive[following] < calls.first[rank]
        needs.append((before[known], matching.send_call[order[following[known]]]))
    return needs


def _where(done: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Leave out messages that nothing completes."""
    known = done >= 0
    return (done, other) if known.all() else (done[known], other[known])


def _behind_events(calls: Calls, event: Mask, wanted: Mask) -> tuple[Ints, Ints]:
    """Return wanted calls of ranks behind an event, and the latest event before each.

    Behind an event ranks go on through completions and probes before they stop.
    """
    found: list[Ints] = []
    latest: list[Ints] = []
    last = -1
    for part in parts_of(calls.first):
        if last < calls.first[rank_of(calls.first, part)]:
            last = -1  # of another rank
        numbers = np.arange(part.start, part.stop)
        own = np.maximum.accumulate(np.where(event[part], numbers, last))
        some = np.flatnonzero(wanted[part] & (own >= 0))
        found.append(part.start + some)
        latest.append(own[some])
        last = int(own[-1])
    nothing = np.zeros(0, np.int64)
    return np.concatenate([nothing, *found]), np.concatenate([nothing, *latest])


def _together(matching: Matching, joint: Ints) -> Mask:
    """Say which calls several ranks make together, so that all are on one side."""
    alone = joint < 0
    alone[matching.send_call] = alone[matching.receive_call] = True
    # A collective that a killed rank never came to has no joint.
    return np.asarray((~alone | (matching.collective_done >= 0)) & (joint >= 0))
