"""Join the epochs of windows to whole matched events.

An operation belongs to the epoch around it: to the fence that ends it, to the
Win_complete behind it, to the locks and unlocks around it; where a lock is open while
other things happen, each call stands for itself. A fence is a collective. Win_post
meets the Win_start of its partners and Win_complete their Win_wait, as messages of no
bytes would, in the order of the calls.

`skelgen.events.epochs` has told the ways of synchronising apart: the kind of the
communicator says which one it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.creations import Creations, rows_of
from skelgen.events.types import (
    COMPLETED,
    EXPOSED,
    FAILED_POLL,
    PROC_NULL,
    WINDOW_KINDS,
)
from skelgen.matching.components import components
from skelgen.matching.joined import JoinedEvents

_NONE = np.zeros(0, np.int64)
_OPENS = ("MPI_Win_lock", "MPI_Win_lock_all")
_CLOSES = ("MPI_Win_unlock", "MPI_Win_unlock_all")


@dataclass(frozen=True, slots=True)
class _Window:
    """The calls on windows, rank after rank, window after window, in program order.

    Attributes
    ----------
    call : (n,) int64 array
    key : (n,) int64 array
        Equal for calls of one rank on one window.
    kind, tag, way : (n,) int64 arrays
        `CallKind`, tag of the shape, index of WINDOW_KINDS.
    function : (n,) int64 array
    """

    call: NDArray[np.int64]
    key: NDArray[np.int64]
    kind: NDArray[np.int64]
    tag: NDArray[np.int64]
    way: NDArray[np.int64]
    function: NDArray[np.int64]


def join_epochs(calls: Calls, joined: JoinedEvents) -> JoinedEvents:
    """Add the epochs of windows to what the kernel has joined.

    Parameters
    ----------
    calls : Calls
    joined : JoinedEvents
        In which operations and the calls around them are in no event.
    """
    window = _window_calls(calls)
    if not len(window.call):
        return joined
    ends = _ends_of_epochs(calls, window)
    lonely = joined.lonely.copy()
    lonely[window.call[ends < 0]] = True
    begun = ends >= 0
    tells, waits, alone = _messages(calls, window)
    lonely[alone] = True
    fences = window.call[window.kind == CallKind.COLLECTIVE]
    first = _first_calls(joined)
    meets = fences[joined.whole_event[fences] >= 0]
    pairs = np.concatenate(
        [
            np.stack([window.call[begun], window.call[ends[begun]]]),
            np.stack([tells, waits]),
            np.stack([meets, first[joined.whole_event[meets]]]),
        ],
        axis=1,
    )
    whole_event, whole_events = _grouped(joined, np.sort(window.call), pairs, first)
    completed = len(joined.collective_done) == len(calls)
    joined = replace(
        joined, whole_event=whole_event, whole_events=whole_events, lonely=lonely
    )
    joined = _with_requests(calls, window, joined) if completed else joined
    return _with_messages(joined, tells, waits, completed=completed)


def _window_calls(calls: Calls) -> _Window:
    infos = [function_info(name) for name in calls.functions]
    kinds = np.array([info.kind for info in infos] + [CallKind.LOCAL], np.int64)
    shapes = calls.shapes
    way = [
        WINDOW_KINDS.index(one.kind) if one.kind in WINDOW_KINDS else 0
        for one in calls.communicators
    ]
    way_of = np.array([*way, 0], np.int64)[shapes["communicator"]]
    kind_of = kinds[shapes["function"]]
    nobody = (kind_of == CallKind.RMA) & (shapes["peer"] == PROC_NULL)
    wanted = (way_of > 0) & ((shapes["flags"] & FAILED_POLL) == 0) & ~nobody
    call = np.flatnonzero(wanted[calls.shape])
    rank = np.searchsorted(calls.first, call, side="right") - 1
    communicator = shapes["communicator"].astype(np.int64)[calls.shape[call]]
    key = rank * len(calls.communicators) + communicator
    order = np.argsort(key, kind="stable")
    call = call[order]
    shape = calls.shape[call]
    return _Window(
        call,
        key[order],
        kind_of[shape],
        shapes["tag"].astype(np.int64)[shape],
        way_of[shape],
        shapes["function"].astype(np.int64)[shape],
    )


def _ends_of_epochs(calls: Calls, window: _Window) -> NDArray[np.int64]:
    """Return the position of the call that ends each call's epoch; -1: there is none.

    Calls that end an epoch, and those that stand for themselves, have their own.
    """
    kind, tag, way = window.kind, window.tag, window.way
    fence, pscw, lock, _ = (way == i for i in range(1, len(WINDOW_KINDS)))
    completes = (kind == CallKind.SIGNAL) & (tag == COMPLETED)
    waits = (kind == CallKind.AWAIT) & (tag == COMPLETED)
    exposes = (kind == CallKind.SIGNAL) & (tag == EXPOSED)
    starts = (kind == CallKind.AWAIT) & (tag == EXPOSED)
    unlocks = lock & (_held(calls, window) == 0)
    own = np.arange(len(kind))
    ends = own.copy()
    for members, closing in (
        (fence, fence & (kind == CallKind.COLLECTIVE)),
        (pscw & ((kind == CallKind.RMA) | starts), completes),
        (pscw & exposes, waits),
        (lock, unlocks),
    ):
        ends[members] = _next(closing, window.key)[members]
    return ends


def _held(calls: Calls, window: _Window) -> NDArray[np.int64]:
    """Return how many locks a rank holds on the window behind each call."""
    names = [name.removesuffix("_c") for name in calls.functions]
    step_of = np.array(
        [(name in _OPENS) - (name in _CLOSES) for name in names], np.int64
    )
    step = step_of[window.function]
    total = np.concatenate([[0], np.cumsum(step)])
    begins = np.concatenate([[True], window.key[1:] != window.key[:-1]])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(step)), 0))
    held: NDArray[np.int64] = total[1:] - total[first]
    return held


def _next(chosen: NDArray[np.bool_], key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of the next chosen call of the same key, -1 for none."""
    n = len(key)
    places = np.where(chosen, np.arange(n), n)
    found = np.minimum.accumulate(places[::-1])[::-1]
    same = np.append(key, -1)[found] == key
    following: NDArray[np.int64] = np.where(same & (found < n), found, -1)
    return following


def _messages(
    calls: Calls, window: _Window
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Match who tells whom: calls of both ends, and calls that find no partner."""
    tells, told = _partners(calls, window, CallKind.SIGNAL)
    waits, awaited = _partners(calls, window, CallKind.AWAIT)
    if not len(tells) and not len(waits):
        return _NONE, _NONE, _NONE
    channels = np.unique(np.concatenate([told, awaited], axis=1), axis=1)
    most = len(tells) + len(waits) + 1
    sent = _in_turn(_channel(channels, told), most)
    received = _in_turn(_channel(channels, awaited), most)
    _, send, receive = np.intersect1d(sent, received, return_indices=True)
    alone = np.concatenate([np.delete(tells, send), np.delete(waits, receive)])
    return tells[send], waits[receive], alone


def _partners(
    calls: Calls, window: _Window, kind: CallKind
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each call once for each partner, and (communicator, from, to, tag)."""
    place = np.flatnonzero(window.kind == kind)
    call = window.call[place]
    index, shift = rows_of(calls.age_first, calls.age_values, calls.ages[call])
    rank, communicator = np.divmod(window.key[place[index]], len(calls.communicators))
    partner = np.empty(len(rank), np.int64)
    for number in np.unique(communicator).tolist():
        members = np.array(calls.communicators[number].members, np.int64)
        here = communicator == number
        by_rank = np.argsort(members)
        at = np.searchsorted(members[by_rank], rank[here])
        own = by_rank[np.minimum(at, len(members) - 1)]
        partner[here] = members[(own + shift[here]) % len(members)]
    ends = (rank, partner) if kind is CallKind.SIGNAL else (partner, rank)
    tag = window.tag[place[index]]
    return call[index], np.stack([communicator, *ends, tag])


def _channel(channels: NDArray[np.int64], of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each column among the distinct ones."""
    both = np.concatenate([channels, of], axis=1)
    _, number = np.unique(both, axis=1, return_inverse=True)
    found: NDArray[np.int64] = number.reshape(-1)[channels.shape[1] :]
    return found


def _in_turn(channel: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return a number for each end: equal for the n-th on a channel at both sides."""
    order = np.argsort(channel, kind="stable")
    ordered = channel[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(order)]
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - first
    return channel * most + turn


def _first_calls(joined: JoinedEvents) -> NDArray[np.int64]:
    """Return the first call of each whole event."""
    first = np.full(joined.whole_events + 1, -1, np.int64)
    first[joined.whole_event[::-1]] = np.arange(len(joined.whole_event))[::-1]
    return first[:-1]


def _grouped(
    joined: JoinedEvents,
    window: NDArray[np.int64],
    pairs: NDArray[np.int64],
    first: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    """Give all events numbers by their first call, those of windows too."""
    node = np.searchsorted(window, pairs.reshape(-1))
    edge = np.tile(np.arange(pairs.shape[1]), 2)
    least = components(node, edge, len(window), pairs.shape[1])
    label = np.where(
        joined.whole_event >= 0, np.append(first, -1)[joined.whole_event], -1
    )
    label[window] = window[least]
    inside = label >= 0
    _, number = np.unique(label[inside], return_inverse=True)
    whole_event = np.full(len(label), -1, np.int64)
    whole_event[inside] = number
    return whole_event, int(number.max(initial=-1)) + 1


def _with_requests(calls: Calls, window: _Window, joined: JoinedEvents) -> JoinedEvents:
    """Say which call completes the request of an operation."""
    creates = np.array([function_info(name).creates for name in calls.functions])
    operations = window.call[(window.kind == CallKind.RMA) & creates[window.function]]
    if not len(operations):
        return joined
    done = joined.collective_done.copy()
    is_operation = np.zeros(len(calls), bool)
    is_operation[operations] = True
    kinds = np.array([function_info(name).kind for name in calls.functions])
    completes = (kinds == CallKind.COMPLETE)[calls.shapes["function"]][calls.shape]
    call = np.flatnonzero(completes)
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[call])
    call = call[index]
    creator = Creations.of(calls).named(call, age)
    rank = np.searchsorted(calls.first, call, side="right") - 1
    sound = creator >= calls.first[rank]
    call, creator = call[sound], creator[sound]
    own = is_operation[creator]
    done[creator[own]] = call[own]
    return replace(joined, collective_done=done)


def _with_messages(
    joined: JoinedEvents,
    tells: NDArray[np.int64],
    waits: NDArray[np.int64],
    *,
    completed: bool,
) -> JoinedEvents:
    """Add messages without bytes, all in the order of sending."""
    if not len(tells):
        return joined
    send = np.concatenate([joined.send_call, tells])
    order = np.argsort(send, kind="stable")

    def both(known: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([known, more])[order]

    found = replace(
        joined,
        send_call=send[order],
        receive_call=both(joined.receive_call, waits),
        message_bytes=both(joined.message_bytes, np.zeros_like(tells)),
    )
    if not completed:
        return found
    return replace(
        found,
        send_done=both(joined.send_done, tells),
        receive_done=both(joined.receive_done, waits),
    )
