"""Say which receives may begin later than they were posted, and nobody waits for ever.

A receive that begins later lets its sender wait longer. That does no harm if the sender
needs a later call of the receiver all the same: behind the message it does something
for that rank alone, and nothing that the rank needs before, until it waits for what the
rank does behind the new place, or ends. What others get from it comes after that, with
and without the move: nobody waits for ever who did not before.

Messages keep their order, for receives that could get each other's messages must be
complete in the order in which they were posted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.parts import rank_slices
from skelgen.events.poll_pools import users_of
from skelgen.events.shape_kinds import shape_kinds
from skelgen.events.types import NO_PEER, WILDCARD_SOURCE, WILDCARD_TAG
from skelgen.matching.thresholds import MOST_CALLS_BEHIND
from skelgen.matching.types import Matching

_Integers = NDArray[np.int64]
_Flags = NDArray[np.bool_]

_NOBODY = -1
#: Kinds of calls that others get nothing from.
_IDLE = (CallKind.LOCAL, CallKind.PROBE, CallKind.COMPLETE)
#: Collectives that no rank leaves before all have come.
_MEETINGS = (
    "Barrier",
    "Allgather",
    "Allgatherv",
    "Allreduce",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    "Reduce_scatter_block",
)


@dataclass(frozen=True, slots=True)
class LaterReceives:
    """Receives of a rank that would begin where they were complete.

    Attributes
    ----------
    rank : int
    post, done : (n,) int64 arrays
        Calls that begin and complete each, ascending by `post`.
    """

    rank: int
    post: _Integers
    done: _Integers

    def only(self, kept: _Flags) -> LaterReceives:
        """Leave out the others."""
        return LaterReceives(self.rank, self.post[kept], self.done[kept])


class Waits:
    """What the calls of a run wait for.

    Parameters
    ----------
    calls : Calls
    matching : Matching
        With completions.
    """

    def __init__(self, calls: Calls, matching: Matching) -> None:
        self.calls, self.matching = calls, matching
        self.kind = shape_kinds(calls)
        self.received = np.full(len(calls), _NOBODY, np.int64)
        self.received[matching.receive_call] = np.arange(len(matching.receive_call))
        self.sent = np.full(len(calls), _NOBODY, np.int64)
        self.sent[matching.send_call] = np.arange(len(matching.send_call))
        infos = [function_info(name) for name in calls.functions]
        meets = [
            one.kind is CallKind.COLLECTIVE and one.collective in _MEETINGS
            for one in infos
        ]
        self.meets = np.array(meets, bool)[calls.shapes["function"]]

    def harmless(self, moves: LaterReceives) -> LaterReceives:
        """Return those of a rank that let nobody wait for ever."""
        message = self.received[moves.post]
        good = message >= 0
        good[good] = self.matching.receive_done[message[good]] == moves.done[good]
        moves = moves.only(good)
        send = self.matching.send_call[self.received[moves.post]]
        sender = self.rank_of(send)
        kept = np.zeros(len(send), bool)
        for partner in np.unique(sender).tolist():
            own = np.flatnonzero(sender == partner)
            deeds = _deeds_of(self, partner, moves.rank)
            kept[own] = deeds.waits(send[own], moves.done[own])
        moves = moves.only(kept)
        return moves.only(_in_order(self, moves))

    def met_by(self, rank: int, call: _Integers) -> _Integers:
        """Return where a rank takes part in the collectives that calls are; else -1."""
        own = rank_slices(self.calls.first)[rank]
        its = own.start + np.flatnonzero(self.meets[self.calls.shape[own]])
        events = self.matching.whole_event
        place = np.full(self.matching.whole_events + 1, _NOBODY, np.int64)
        place[events[its]] = its
        place[-1] = _NOBODY  # of calls in no event
        return np.asarray(place[events[call]])

    def rank_of(self, call: _Integers) -> _Integers:
        """Return whose calls these are."""
        return np.asarray(np.searchsorted(self.calls.first, call, side="right") - 1)


def _in_order(run: Waits, moves: LaterReceives) -> _Flags:
    """Say which receives are complete in the order in which they were posted.

    Compared are those that could get each other's messages.
    """
    own = rank_slices(run.calls.first)[moves.rank]
    message = run.received[own]
    begin = own.start + np.flatnonzero(message >= 0)
    end = begin.copy()
    moved = np.isin(begin, moves.post)
    end[moved] = moves.done
    sender = run.rank_of(run.matching.send_call[run.received[begin]])
    channel = _channels(run.calls, run.calls.shape[begin], sender)
    order = np.lexsort((begin, channel))
    late = (np.diff(end[order]) <= 0) & (np.diff(channel[order]) == 0)
    wrong = np.isin(channel, channel[order][1:][late])
    return np.asarray(~wrong[moved])


def _channels(calls: Calls, shape: NDArray[np.uint32], sender: _Integers) -> _Integers:
    """Tell apart what receives get: wildcards could get all of their communicator."""
    used, number = np.unique(shape, return_inverse=True)
    rows = calls.shapes[used]
    group = rows["communicator"]
    tag = np.where(rows["peer2"] == NO_PEER, rows["tag"], rows["tag2"])
    anybody, anything = (
        np.isin(group, group[(rows["flags"] & flag) != 0])
        for flag in (WILDCARD_SOURCE, WILDCARD_TAG)
    )
    columns = np.stack([group, np.where(anything, _NOBODY, tag)])
    _, channel = np.unique(columns, axis=1, return_inverse=True)
    number = number.reshape(-1)
    sender = np.where(anybody[number], _NOBODY, sender)
    return np.asarray(channel.reshape(-1)[number] * (calls.ranks + 1) + sender)


@dataclass(frozen=True, slots=True)
class _Deeds:
    """What a rank does that others get something from, and what it waits for.

    Attributes
    ----------
    call : (n,) int64 array
        Ascending; a completion stands once for each rank that it receives from.
    with_it : (n,) bool array
        Whether each is about one other rank alone.
    needs : (n,) int64 array
        Where that one is done with what a call sends, or sends what it begins to
        receive; -1 where it does neither.
    waits_for : (n,) int64 array
        The call of that one that it waits for; -1 where it does not.
    idle : (n,) bool array
        Whether others get nothing from it.
    """

    call: _Integers
    with_it: _Flags
    needs: _Integers
    waits_for: _Integers
    idle: _Flags

    def waits(self, send: _Integers, done: _Integers) -> _Flags:
        """Say behind which messages this rank waits for their receiver all the same.

        Parameters
        ----------
        send : (n,) int64 array
            Calls that send to the other rank.
        done : (n,) int64 array
            Where that one would receive.
        """
        at = np.searchsorted(self.call, send)
        found = self.with_it[at] & (self.waits_for[at] > done)  # it receives as well
        unclear = np.flatnonzero(self.waits_for[at] < 0)
        for _ in range(MOST_CALLS_BEHIND):
            at += 1
            ended = at[unclear] == len(self.call)
            found[unclear[ended]] = True
            unclear = unclear[~ended]
            if not len(unclear):
                break
            clear, waits = self._at(at[unclear], done[unclear])
            found[unclear[clear]] = waits[clear]
            unclear = unclear[~clear]
        return np.asarray(found)

    def _at(self, row: _Integers, done: _Integers) -> tuple[_Flags, _Flags]:
        """Say where one call behind each message makes it clear, and what it says."""
        idle, needs, waits_for = self.idle[row], self.needs[row], self.waits_for[row]
        with_it = self.with_it[row]
        early = (needs >= 0) & (needs <= done)
        waits = with_it & ~early & (waits_for > done)
        goes_on = with_it & ~early & (waits_for < 0)
        goes_on |= idle & ~waits
        return ~goes_on, waits


def _deeds_of(run: Waits, rank: int, other: int) -> _Deeds:
    """Look at the calls of a rank, as far as they are about another one."""
    calls, matching = run.calls, run.matching
    own = rank_slices(calls.first)[rank]
    kind = run.kind[calls.shape[own]]
    begun = np.flatnonzero(~np.isin(kind, _IDLE))
    call, kind = own.start + begun, kind[begun]
    out, into = run.sent[call], run.received[call]
    both = kind == CallKind.SENDRECV
    sends = (np.isin(kind, (CallKind.SEND, CallKind.ISEND)) | both) & (out >= 0)
    takes = np.isin(kind, (CallKind.RECEIVE, CallKind.IRECEIVE)) | both
    receives = takes & (into >= 0)
    to, source, needs, waits_for = np.full((4, len(call)), _NOBODY, np.int64)
    to[sends] = run.rank_of(matching.receive_call[out[sends]])
    source[receives] = run.rank_of(matching.send_call[into[receives]])
    sent, got = to == other, source == other
    with_it = np.where(both, sent & got, sent | got)
    needs[sends] = matching.receive_done[out[sends]]
    later = receives & (kind == CallKind.IRECEIVE)
    needs[later] = matching.send_call[into[later]]
    now = receives & ~later
    waits_for[now] = matching.send_call[into[now]]
    meets = run.meets[calls.shape[call]]
    waits_for[meets] = run.met_by(other, call[meets])
    with_it |= meets & (waits_for >= 0)
    done = _completed(run, own)
    done = done[done[:, 1] == other]
    none = np.full(len(done), _NOBODY, np.int64)
    columns = (call, with_it, needs, waits_for, np.zeros(len(call), bool))
    more = (done[:, 0], none < 0, none, done[:, 2], none < 0)
    order = np.argsort(np.concatenate([call, done[:, 0]]), kind="stable")
    return _Deeds(
        *(np.concatenate(two)[order] for two in zip(columns, more, strict=True))
    )


def _completed(run: Waits, own: slice) -> _Integers:
    """Return completions of a rank, whom they receive from, and the latest send."""
    user, creator = users_of(run.calls, own)
    known = creator >= 0
    user, creator = own.start + user[known], own.start + creator[known]
    message = run.received[creator]
    into = (message >= 0) & (run.kind[run.calls.shape[user]] == CallKind.COMPLETE)
    into &= run.kind[run.calls.shape[creator]] == CallKind.IRECEIVE
    send = run.matching.send_call[message[into]]
    rows = np.stack([user[into], run.rank_of(send), send], axis=1)
    rows = rows[np.lexsort(rows.T[::-1])]
    last = np.append((rows[1:, :2] != rows[:-1, :2]).any(axis=1), True)
    return np.asarray(rows[last[: len(rows)]])
