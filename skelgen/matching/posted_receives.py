"""Receive messages where their receives complete, on ranks that serve whoever comes.

A master may post a receive for each worker, wait for any of them, answer that worker
and post the next receive. Which one is complete first is chance, so its completions
name other requests each time, and no loop folds. Here the receive of such a message
stands where it was complete, as if the master received from any source.

A receive that begins later lets its sender wait longer. So it moves only if the sender
needs a later call of the receiver all the same: behind the message it does something
for that rank alone, and nothing that the rank needs before, until it waits for what the
rank does behind the completion, or ends. What others get from it comes after that, with
and without the move: nobody waits for ever who did not before. Messages keep their
order, for receives that could get each other's messages must be complete in the order
in which they were posted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.dealers import chosen_receives, dealers_of
from skelgen.events.moved_completions import with_requests_named
from skelgen.events.parts import rank_slices
from skelgen.events.poll_pools import users_of
from skelgen.events.shape_kinds import shape_kinds
from skelgen.events.types import (
    NO_COMMUNICATOR,
    NO_PEER,
    NO_TAG,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from skelgen.matching.thresholds import MOST_CALLS_BEHIND
from skelgen.matching.types import Matching
from skelgen.matching.whole_events import match

_Integers = NDArray[np.int64]
_Flags = NDArray[np.bool_]

#: What a receive that waits is called, and one that was posted for it: a local call.
_RECEIVES = {
    "MPI_Irecv": ("MPI_Recv", "MPI_Irecv (received later)"),
    "MPI_Irecv_c": ("MPI_Recv_c", "MPI_Irecv_c (received later)"),
}
_WAITANY = "MPI_Waitany"
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


def received_on_completion(calls: Calls) -> Calls:
    """Receive what a rank deals out answers for where it was found complete.

    Parameters
    ----------
    calls : Calls
        Of all ranks.

    Returns
    -------
    Calls
        As many, in the same order, or as given where no rank posts receives and answers
        whoever comes first. Receives that move are from any source. What completes
        others is a Waitany, for whom it waits is not known before.
    """
    found = [_posted(calls, one.rank) for one in dealers_of(calls)]
    found = [moves for moves in found if len(moves.post)]
    if not found:
        return calls
    run = _Run(calls, match(calls))
    moves = [one for one in map(run.harmless, found) if len(one.post)]
    every, done = (_joined([one.done for one in some]) for some in (found, moves))
    others = np.setdiff1d(every, done)
    return _moved(_waiting_for_any(calls, others), moves)


def _joined(parts: Sequence[_Integers]) -> _Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


@dataclass(frozen=True, slots=True)
class _Moves:
    """Receives of a rank that would stand where they were complete.

    Attributes
    ----------
    rank : int
    post, done : (n,) int64 arrays
        Calls that begin and complete each, ascending by `post`.
    """

    rank: int
    post: _Integers
    done: _Integers

    def only(self, kept: _Flags) -> _Moves:
        """Leave out the others."""
        return _Moves(self.rank, self.post[kept], self.done[kept])


def _posted(calls: Calls, rank: int) -> _Moves:
    """Return what a rank posts and completes one by one, and not at once."""
    own = rank_slices(calls.first)[rank]
    chosen = chosen_receives(calls, own)
    chosen = chosen.only(chosen.alone)
    moves = _Moves(rank, own.start + chosen.post, own.start + chosen.done)
    known = np.array([name in _RECEIVES for name in calls.functions], bool)
    return moves.only(known[calls.shapes["function"][calls.shape[moves.post]]])


class _Run:
    """The calls of a run, and what each of them waits for.

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

    def harmless(self, moves: _Moves) -> _Moves:
        """Return those of a rank that let nobody wait for ever."""
        message = self.received[moves.post]
        good = message >= 0
        good[good] = self.matching.receive_done[message[good]] == moves.done[good]
        moves = moves.only(good)
        send = self.matching.send_call[self.received[moves.post]]
        sender = self.rank_of(send)
        meets = self.meetings(moves.rank)
        kept = np.zeros(len(send), bool)
        for partner in np.unique(sender).tolist():
            own = np.flatnonzero(sender == partner)
            deeds = _deeds_of(self, partner)
            sent = np.searchsorted(deeds.call, send[own]).tolist()
            for one, at, done in zip(own, sent, moves.done[own], strict=True):
                kept[one] = deeds.waits(at, int(done), moves.rank, meets)
        moves = moves.only(kept)
        return moves.only(_in_order(self, moves))

    def meetings(self, rank: int) -> dict[int, int]:
        """Return the calls of a rank that wait for all, by their whole events."""
        own = rank_slices(self.calls.first)[rank]
        call = own.start + np.flatnonzero(self.meets[self.calls.shape[own]])
        event = self.matching.whole_event[call]
        return dict(zip(event.tolist(), call.tolist(), strict=True))

    def rank_of(self, call: _Integers) -> _Integers:
        """Return whose calls these are."""
        return np.asarray(np.searchsorted(self.calls.first, call, side="right") - 1)


def _in_order(run: _Run, moves: _Moves) -> _Flags:
    """Say which receives are complete in the order in which they were posted.

    Compared are those that could get each other's messages.
    """
    own = rank_slices(run.calls.first)[moves.rank]
    message = run.received[own]
    begin = own.start + np.flatnonzero(message >= 0)
    rows = run.calls.shapes[run.calls.shape[begin]]
    end = begin.copy()
    moved = np.isin(begin, moves.post)
    end[moved] = moves.done
    sender = run.rank_of(run.matching.send_call[run.received[begin]])
    channel = _channels(rows, sender)
    order = np.lexsort((begin, channel))
    late = (np.diff(end[order]) <= 0) & (np.diff(channel[order]) == 0)
    wrong = np.isin(channel, channel[order][1:][late])
    return np.asarray(~wrong[moved])


def _channels(rows: NDArray[np.void], sender: _Integers) -> _Integers:
    """Tell apart what receives get: wildcards could get all of their communicator."""
    group = rows["communicator"].astype(np.int64)
    tag = np.where(rows["peer2"] == NO_PEER, rows["tag"], rows["tag2"]).astype(np.int64)
    sender = sender.copy()
    for flag, column in ((WILDCARD_SOURCE, sender), (WILDCARD_TAG, tag)):
        anything = np.unique(group[(rows["flags"] & flag) != 0])
        column[np.isin(group, anything)] = _NOBODY
    columns = np.stack([group, sender, tag], axis=1)
    _, number = np.unique(columns, axis=0, return_inverse=True)
    return np.asarray(number.reshape(-1), np.int64)


@dataclass(frozen=True, slots=True)
class _Deeds:
    """What a rank does that others get something from, and what it waits for.

    Attributes
    ----------
    call : (n,) int64 array
        Ascending; a completion stands once for each rank that it receives from.
    partner : (n,) int64 array
        The rank that each is about; -1 for none or several.
    needs : (n,) int64 array
        Where the partner is done with what a call sends, or sends what it begins to
        receive; -1 where it does neither.
    waits_for : (n,) int64 array
        The call of the partner that it waits for; -1 where it does not.
    meeting : (n,) int64 array
        Whole events that no rank leaves before all have come, else -1.
    idle : (n,) bool array
        Whether others get nothing from it.
    """

    call: _Integers
    partner: _Integers
    needs: _Integers
    waits_for: _Integers
    meeting: _Integers
    idle: _Flags

    def waits(self, sent: int, done: int, rank: int, meets: dict[int, int]) -> bool:
        """Say whether what comes behind a message waits for its receiver all the same.

        Parameters
        ----------
        sent : int
            Row of the call that sends.
        done : int
            The call that would receive.
        rank : int
            Who receives.
        meets : dict of int to int
            Its calls that wait for all, by their whole events.
        """
        if self.waits_for[sent] >= 0:  # it receives as well
            return bool(self.partner[sent] == rank and self.waits_for[sent] > done)
        end = min(sent + MOST_CALLS_BEHIND, len(self.call))
        for later in range(sent + 1, end):
            known = self._waits_at(later, done, rank, meets)
            if known is not None:
                return known
        return end == len(self.call)

    def _waits_at(
        self, place: int, done: int, rank: int, meets: dict[int, int]
    ) -> bool | None:
        """Say it of one call behind the message; None when the next ones decide."""
        if self.meeting[place] >= 0:
            return meets.get(int(self.meeting[place]), _NOBODY) > done
        waits = int(self.waits_for[place])
        if self.partner[place] != rank:
            return None if self.idle[place] else False
        if 0 <= self.needs[place] <= done:
            return False
        if waits < 0 or (waits <= done and self.idle[place]):
            return None
        return waits > done


def _deeds_of(run: _Run, rank: int) -> _Deeds:
    """Look at the calls of a rank."""
    calls, matching = run.calls, run.matching
    own = rank_slices(calls.first)[rank]
    kind = run.kind[calls.shape[own]]
    begun = np.flatnonzero(~np.isin(kind, _IDLE))
    call, kind = own.start + begun, kind[begun]
    out, into = run.sent[call], run.received[call]
    plain = np.isin(kind, (CallKind.SEND, CallKind.ISEND))
    takes = np.isin(kind, (CallKind.RECEIVE, CallKind.IRECEIVE))
    both = kind == CallKind.SENDRECV
    sends, receives = (plain | both) & (out >= 0), (takes | both) & (into >= 0)
    known = np.where(both, sends & receives, sends | receives)
    to, source = (np.full(len(call), _NOBODY, np.int64) for _ in range(2))
    needs, waits_for = to.copy(), to.copy()
    to[sends] = run.rank_of(matching.receive_call[out[sends]])
    source[receives] = run.rank_of(matching.send_call[into[receives]])
    partner = np.where(sends, to, source)
    partner[~known | (both & (to != source))] = _NOBODY
    needs[sends] = matching.receive_done[out[sends]]
    later = kind == CallKind.IRECEIVE
    needs[later & receives] = matching.send_call[into[later & receives]]
    waiting = receives & ~later
    waits_for[waiting] = matching.send_call[into[waiting]]
    meeting = np.where(
        run.meets[calls.shape[call]], matching.whole_event[call], _NOBODY
    )
    idle = np.zeros(len(call), bool)
    done = _completed(run, own)
    none = np.full(len(done), _NOBODY, np.int64)
    columns = (call, partner, needs, waits_for, meeting, idle)
    more = (done[:, 0], done[:, 1], none, done[:, 2], none, none < 0)
    order = np.argsort(np.concatenate([call, done[:, 0]]), kind="stable")
    return _Deeds(
        *(np.concatenate(two)[order] for two in zip(columns, more, strict=True))
    )


def _completed(run: _Run, own: slice) -> _Integers:
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


def _waiting_for_any(calls: Calls, done: _Integers) -> Calls:
    """Let polls that found a request of a dealer complete be a Waitany."""
    polls = np.array([name.startswith("MPI_Test") for name in calls.functions], bool)
    done = done[polls[calls.shapes["function"][calls.shape[done]]]]
    if not len(done):
        return calls
    functions = calls.functions
    if _WAITANY not in functions:
        functions = (*functions, _WAITANY)
    rows, number = np.unique(calls.shape[done], return_inverse=True)
    new = calls.shapes[rows]
    new["function"] = functions.index(_WAITANY)
    shape = calls.shape.copy()
    shape[done] = len(calls.shapes) + number.reshape(-1)
    shapes = np.concatenate([calls.shapes, new])
    return replace(calls, shape=shape, shapes=shapes, functions=functions)


def _moved(calls: Calls, moves: Sequence[_Moves]) -> Calls:
    """Let calls that completed receives be these, and those that began them nothing."""
    if not moves:
        return calls
    post = np.concatenate([one.post for one in moves])
    done = np.concatenate([one.done for one in moves])
    user, creator = users_of(calls)
    stays = (creator >= 0) & ~np.isin(creator, post)
    functions = list(calls.functions)
    shape, size, ages = calls.shape.copy(), calls.size_bytes.copy(), calls.ages.copy()
    rows = calls.shapes[shape[post]]
    received, begun = rows.copy(), rows.copy()
    for number in np.unique(rows["function"]).tolist():
        own = rows["function"] == number
        names = _RECEIVES[functions[number]]
        for some, name in zip((received, begun), names, strict=True):
            if name not in functions:
                functions.append(name)
            some["function"][own] = functions.index(name)
    received["flags"] |= WILDCARD_SOURCE
    received["site"] = calls.shapes["site"][shape[done]]
    begun["communicator"], begun["flags"] = NO_COMMUNICATOR, 0
    begun["peer"], begun["tag"] = NO_PEER, NO_TAG
    new, number = np.unique(np.concatenate([received, begun]), return_inverse=True)
    number = len(calls.shapes) + number.reshape(2, -1)
    shape[done], shape[post] = number
    size[done], size[post] = size[post], 0
    ages[done] = 0
    changed = replace(
        calls,
        shape=shape,
        size_bytes=size,
        ages=ages,
        shapes=np.concatenate([calls.shapes, new]),
        functions=tuple(functions),
    )
    return with_requests_named(changed, user[stays], creator[stays])
