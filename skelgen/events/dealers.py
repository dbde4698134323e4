"""Find ranks that deal out work: whom they serve next is decided while they run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import RECEIVING, SENDING, TWO_SIDED, CallKind
from skelgen.events.parts import rank_slices
from skelgen.events.poll_pools import is_poll, users_of
from skelgen.events.shape_kinds import shape_kinds
from skelgen.events.thresholds import LEAST_ANSWERED_SHARE
from skelgen.events.types import WILDCARD_SOURCE, Calls

_Integers = NDArray[np.int64]
_Flags = NDArray[np.bool_]

#: Kinds of calls that begin one message.
_ONE_SIDED = [one for one in (*SENDING, *RECEIVING) if one not in TWO_SIDED]


@dataclass(frozen=True, slots=True)
class Dealer:
    """A rank that answers whoever comes first.

    Attributes
    ----------
    rank : int
    messages : int
        What it received from whoever came.
    partners : int
        Ranks that it answered.
    """

    rank: int
    messages: int
    partners: int


def dealers_of(calls: Calls) -> tuple[Dealer, ...]:
    """Find the ranks that take what comes first and answer it with the next message.

    They receive from any source, or wait for one of several receives. Where a
    competitor slows down one of the partners, the application goes on with another.

    Parameters
    ----------
    calls : Calls

    Returns
    -------
    tuple of Dealer
        Those with two partners and more that answered each more than once, in order.
    """
    if not asks_anybody(calls):
        return ()
    roles, found = _Roles.of(calls), []
    for rank, own in enumerate(rank_slices(calls.first)):
        if roles.choosing[calls.shape[own]].any():
            found.append(_dealer(rank, _Talk.of(calls, own, roles)))
    return tuple(one for one in found if one)


def asks_anybody(calls: Calls) -> bool:
    """Say whether calls may take what comes first from several partners."""
    return bool((_asking(calls) | is_poll(calls)).any())


@dataclass(frozen=True, slots=True)
class _Roles:
    """What calls of each shape do in a talk, looked up once for all ranks.

    Attributes
    ----------
    kind : (s,) int64 array
        `CallKind`.
    partner : (s,) int64 array
        A number for the communicator and the partner.
    begins, sends : (s,) bool arrays
        Whether they begin one message, and send it.
    asks : (s,) bool array
        Whether they ask for a message from any source.
    polls : (s,) bool array
        Whether they look which requests are complete.
    """

    kind: _Integers
    partner: _Integers
    begins: _Flags
    sends: _Flags
    asks: _Flags
    polls: _Flags

    @classmethod
    def of(cls, calls: Calls) -> _Roles:
        """Look at the shapes of some calls."""
        kind, rows = shape_kinds(calls), calls.shapes
        columns = np.stack([rows["communicator"], rows["peer"]])
        _, partner = np.unique(columns, axis=1, return_inverse=True)
        begins = np.isin(kind, _ONE_SIDED)
        sends = begins & np.isin(kind, SENDING)
        numbers = partner.reshape(-1).astype(np.int64)
        return cls(kind, numbers, begins, sends, _asking(calls), is_poll(calls))

    @property
    def choosing(self) -> _Flags:
        """Return which may take what comes first."""
        return self.asks | self.polls


@dataclass(frozen=True, slots=True)
class ChosenReceives:
    """Receives that a rank completes as their messages come.

    Attributes
    ----------
    post : (n,) int64 array
        Calls that create their requests, ascending, from the rank's first.
    done : (n,) int64 array
        Calls that complete these, and nothing else.
    alone : (n,) bool array
        Whether that call completes nothing else at all.
    turn : (n,) int64 array
        The call before which the rank turns to the message: the completion itself, or,
        where that has several, the next message with the partner; else the next call.
    """

    post: _Integers
    done: _Integers
    alone: _Flags
    turn: _Integers

    def only(self, kept: _Flags) -> ChosenReceives:
        """Leave out the others."""
        return ChosenReceives(
            self.post[kept], self.done[kept], self.alone[kept], self.turn[kept]
        )


def chosen_receives(calls: Calls, own: slice) -> ChosenReceives:
    """Find the nonblocking receives of a rank of which any may be complete first.

    Parameters
    ----------
    calls : Calls
    own : slice
        Calls of one rank.

    Returns
    -------
    ChosenReceives
        Posted for any source, or completed by a call that looks which of several are
        complete.
    """
    return _chosen(calls, own, _Roles.of(calls))


def _chosen(calls: Calls, own: slice, roles: _Roles) -> ChosenReceives:
    shape, kind = calls.shape[own], roles.kind
    done, post = users_of(calls, own)
    often = np.bincount(post[post >= 0], minlength=len(shape))
    anybody = (calls.shapes["flags"][shape[post]] & WILDCARD_SOURCE) != 0
    chosen = (post >= 0) & (kind[shape[post]] == CallKind.IRECEIVE)
    chosen &= (often[post] == 1) & (anybody | roles.polls[shape[done]])
    chosen &= kind[shape[done]] == CallKind.COMPLETE
    chosen &= ~np.isin(done, done[~chosen])
    order = np.argsort(post[chosen], kind="stable")
    post, done = post[chosen][order], done[chosen][order]
    alone = np.bincount(done, minlength=len(shape))[done] == 1
    turn = done.copy()
    if not alone.all():
        turn[~alone] = _next_with(shape, roles, post[~alone], done[~alone])
    return ChosenReceives(post, done, alone, turn)


def _next_with(
    shape: NDArray[np.uint32], roles: _Roles, post: _Integers, done: _Integers
) -> _Integers:
    """Return the next message with the partner of each receive; else the next call."""
    begins = np.flatnonzero(roles.begins[shape])
    first = roles.partner * (len(shape) + 1)
    keys = np.sort(first[shape[begins]] + begins)
    wanted = first[shape[post]]
    found = np.append(keys, -1)[np.searchsorted(keys, wanted + done)] - wanted
    return np.where((found > done) & (found < len(shape)), found, done + 1)


def _asking(calls: Calls) -> _Flags:
    """Say of each shape whether it asks for a message from any source."""
    kind = shape_kinds(calls)
    receives = np.isin(kind, RECEIVING) & np.isin(kind, _ONE_SIDED)
    anybody = (calls.shapes["flags"] & WILDCARD_SOURCE) != 0
    return np.asarray((receives | (kind == CallKind.PROBE)) & anybody)


@dataclass(frozen=True, slots=True)
class _Talk:
    """What a rank takes from whoever comes first, and what it sends.

    Attributes
    ----------
    call : (n,) int64 array
        From the rank's first.
    partner : (n,) int64 array
        A number for the communicator and the partner of each.
    asks, probe : (n,) bool arrays
        Which of these ask, and which of them only for what a receive takes next.
    """

    call: _Integers
    partner: _Integers
    asks: _Flags
    probe: _Flags

    @classmethod
    def of(cls, calls: Calls, own: slice, roles: _Roles) -> _Talk:
        """Look at the calls of a rank."""
        shape, chosen = calls.shape[own], _chosen(calls, own, roles)
        asks = roles.asks[shape]
        asks[chosen.post] = False
        plain = np.flatnonzero(asks | roles.sends[shape])
        call = np.concatenate([chosen.turn, plain])
        about = np.concatenate([shape[chosen.post], shape[plain]])
        asked = np.concatenate([np.ones(len(chosen.post), bool), asks[plain]])
        order = np.argsort(call, kind="stable")
        call, about, asked = call[order], about[order], asked[order]
        probe = roles.kind[about] == CallKind.PROBE
        found = cls(call, roles.partner[about], asked, probe)
        found = found.only(~found._taken_next())
        return found.only(~found._goes_on())

    def only(self, kept: _Flags) -> _Talk:
        """Leave out the others."""
        return _Talk(
            self.call[kept], self.partner[kept], self.asks[kept], self.probe[kept]
        )

    def _taken_next(self) -> _Flags:
        """Say which calls only look for the message that the next one takes."""
        found = self.probe[:-1] & self.asks[1:] & self._same_as_next()
        return np.append(found, np.zeros(min(len(self.probe), 1), bool))

    def _goes_on(self) -> _Flags:
        """Say which calls are further messages of an answer."""
        found = ~self.asks[1:] & ~self.asks[:-1] & self._same_as_next()
        return np.append(np.zeros(min(len(self.asks), 1), bool), found)

    def _same_as_next(self) -> _Flags:
        return np.asarray(self.partner[1:] == self.partner[:-1])

    def answered(self) -> _Integers:
        """Return which of these ask and are answered by the next one."""
        return np.flatnonzero(self.asks[:-1] & ~self.asks[1:] & self._same_as_next())


def _dealer(rank: int, talk: _Talk) -> Dealer | None:
    """Look at each message from any source, and at what is sent right behind it."""
    answered = talk.answered()
    partners = len(np.unique(talk.partner[answered]))
    messages = int(np.count_nonzero(talk.asks))
    least = LEAST_ANSWERED_SHARE * min(messages, len(talk.asks) - messages)
    if partners < 2 or len(answered) < max(least, 2 * partners):
        return None
    return Dealer(rank, messages, partners)


def turns_of(calls: Calls, rank: int) -> tuple[_Integers, _Integers]:
    """Return the messages that a dealer exchanges with a partner from a question on.

    Parameters
    ----------
    calls : Calls
    rank : int
        Of a dealer.

    Returns
    -------
    call, turn : (n,) int64 arrays
        Its calls that begin these messages, and a number for each turn: the question,
        if it was answered, and all with the same partner up to the next question.
    """
    own, roles = rank_slices(calls.first)[rank], _Roles.of(calls)
    talk, shape = _Talk.of(calls, own, roles), calls.shape[own]
    asked = np.flatnonzero(talk.asks)
    chosen, every = _chosen(calls, own, roles), np.arange(len(shape) + 1)
    turn = np.searchsorted(talk.call[asked], every, side="right") - 1
    turn[chosen.post] = turn[chosen.turn]
    turn = turn[:-1]
    same = np.zeros(len(shape), bool)
    if len(asked):
        same = roles.partner[shape] == talk.partner[asked[turn]]
        same &= (turn >= 0) & np.isin(asked, talk.answered())[turn]
    found = np.flatnonzero(roles.begins[shape] & same)
    return own.start + found, turn[found]
