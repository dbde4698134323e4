"""Decide which calls stay out of the structure, and what becomes of their time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls
from skelgen.events.creations import Creations
from skelgen.events.functions import COLLECTIVES, TWO_SIDED
from skelgen.events.parts import looked_up
from skelgen.events.types import FAILED_POLL, MOVED, NO_PEER, NO_TAG, PROC_NULL
from skelgen.matching import Matching
from skelgen.symbols.pairs import ON_REQUESTS, PARTNER_KINDS, Pairs
from skelgen.symbols.requests import Ages, RebasedAges, RequestUses, uses_of
from skelgen.symbols.types import Fate

#: Kinds that take part in nothing until they are started.
_WAITING_KINDS = (CallKind.SEND_INIT, CallKind.RECEIVE_INIT)
_MATCHED_KINDS = tuple(
    kind
    for kind in (*PARTNER_KINDS, *COLLECTIVES, CallKind.SIGNAL, CallKind.AWAIT)
    if kind not in _WAITING_KINDS
)


def fates_of(
    calls: Calls, matching: Matching, pairs: Pairs
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Decide for each call whether it has a symbol, before its ages are counted.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    pairs : Pairs

    Returns
    -------
    fate : (n,) uint8 array
        A `Fate` for each call.
    polls : int64 array
        Calls that only looked whether something is complete.
    """
    by_pair = _fates_of_pairs(calls, pairs)
    fate = looked_up(by_pair, pairs.of_call)
    must_match = pairs.is_kind(*_MATCHED_KINDS) & (by_pair == Fate.INSIDE)
    alone = looked_up(must_match, pairs.of_call)
    alone &= matching.whole_event < 0
    fate[alone] = Fate.UNMATCHED
    lost = matching.unmatched
    fate[lost[fate[lost] == Fate.INSIDE]] = Fate.UNMATCHED
    polls = _mark_empty_completions(calls, pairs, fate)
    _leave_out_partners(calls, matching, pairs, fate)
    return fate, polls


def ages_of(
    calls: Calls, pairs: Pairs, fate: NDArray[np.uint8], polls: NDArray[np.int64]
) -> Ages:
    """Count ages among the requests of calls inside.

    Parameters
    ----------
    calls : Calls
    pairs : Pairs
    fate : (n,) uint8 array
        From `fates_of`; changed for completions of which no request is left.
    polls : int64 array
        From `fates_of`.
    """
    creating = looked_up(pairs.creates, pairs.of_call)
    creating &= fate != Fate.INSIDE
    ranks = np.zeros(calls.ranks, bool)
    ranks[pairs.rank[pairs.having(creating)]] = True
    del creating
    rebased = RebasedAges(calls, fate == Fate.INSIDE)
    for uses in uses_of(calls, pairs, ranks[pairs.rank]):
        _mark_emptied(fate, rebased.take(uses), uses)
    fate[polls] = Fate.WAITING
    return rebased.ages()


def _fates_of_pairs(calls: Calls, pairs: Pairs) -> NDArray[np.uint8]:
    """Judge what the shape alone shows; later lines outrank earlier ones."""
    shape, point = pairs.shape, pairs.is_kind(*PARTNER_KINDS)
    cancels = np.array([name.startswith("MPI_Cancel") for name in calls.functions])
    fate = np.full(len(pairs), Fate.INSIDE, np.uint8)
    nobody = (shape["peer"] == PROC_NULL) & (
        ~pairs.is_kind(*TWO_SIDED) | (shape["peer2"] == PROC_NULL)
    )
    unknown = (shape["peer"] == NO_PEER) | (shape["tag"] == NO_TAG)
    fate[pairs.is_kind(CallKind.RECEIVE_INIT) & unknown] = Fate.UNSUPPORTED
    fate[pairs.remote & (~point | pairs.spawned)] = Fate.REMOTE
    fate[point & nobody] = Fate.COMPUTATION
    alone = (pairs.size == 1) & ~pairs.remote
    if calls.ranks == 1:  # nothing else divides the run of a single rank
        alone &= ~pairs.is_kind(*COLLECTIVES)
    fate[alone] = Fate.COMPUTATION
    fate[pairs.is_kind(CallKind.LOCAL, CallKind.COMMUNICATOR)] = Fate.COMPUTATION
    if len(cancels):
        fate[cancels[shape["function"]]] = Fate.COMPUTATION
    fate[_opens(calls, pairs)] = Fate.COMPUTATION
    fate[pairs.is_kind(CallKind.PROBE)] = Fate.WAITING
    polls = (shape["flags"] & FAILED_POLL) != 0
    fate[polls & pairs.is_kind(CallKind.AWAIT)] = Fate.WAITING
    fate[pairs.is_kind(CallKind.IO)] = Fate.IO
    fate[pairs.is_kind(CallKind.UNSUPPORTED)] = Fate.UNSUPPORTED
    return fate


def _opens(calls: Calls, pairs: Pairs) -> NDArray[np.bool_]:
    """Return the locks that begin epochs which last: a skeleton's are always open."""
    lasts = [one.kind == "open_window" for one in calls.communicators]
    locks = [name.startswith("MPI_Win_lock") for name in calls.functions]
    shape = pairs.shape
    of_window = np.array([*lasts, False])[shape["communicator"]]
    found: NDArray[np.bool_] = np.array(locks, bool)[shape["function"]] & of_window
    return found


def _mark_empty_completions(
    calls: Calls, pairs: Pairs, fate: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Leave completions of nothing out; return those that only looked."""
    empty_row = np.diff(calls.age_first) == 0
    empty = looked_up(pairs.is_kind(*ON_REQUESTS), pairs.of_call)
    empty &= looked_up(empty_row, calls.ages)
    fate[empty & (fate == Fate.INSIDE)] = Fate.COMPUTATION
    tests = np.array([name.startswith("MPI_Test") for name in calls.functions])
    polling = pairs.is_kind(CallKind.COMPLETE)
    if len(tests):
        polling &= tests[pairs.shape["function"]]
    found = looked_up(polling, pairs.of_call)
    moved = (calls.shapes["flags"] & MOVED) != 0
    if moved.any():
        found |= looked_up(moved, calls.shape)
    return np.flatnonzero(empty & found)


def _leave_out_partners(
    calls: Calls, matching: Matching, pairs: Pairs, fate: NDArray[np.uint8]
) -> None:
    """Leave out whole events of which a part is left out, until nothing changes."""
    persistent = bool(pairs.is_kind(CallKind.START).any())
    starts: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    while True:
        left_out = int((fate >= Fate.UNSUPPORTED).sum())
        if not left_out:
            return
        out = fate != Fate.INSIDE
        send, receive = matching.send_call, matching.receive_call
        fate[send[out[receive] & ~out[send]]] = Fate.PARTNER
        fate[receive[out[send] & ~out[receive]]] = Fate.PARTNER
        incomplete = np.zeros(matching.whole_events + 1, bool)
        incomplete[matching.whole_event[fate != Fate.INSIDE]] = True
        incomplete[-1] = False  # calls that are in no event
        fate[incomplete[matching.whole_event] & (fate == Fate.INSIDE)] = Fate.PARTNER
        if persistent:
            if starts is None:
                starts = _starts(calls, pairs)
            _leave_out_started(fate, *starts)
        if int((fate >= Fate.UNSUPPORTED).sum()) == left_out:
            return


def _starts(calls: Calls, pairs: Pairs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the calls that start requests, and who created these."""
    none = np.empty(0, np.int64)
    found = [RequestUses(none, none, Creations(none, none))]
    found += uses_of(calls, pairs, pairs.is_kind(CallKind.START))
    call, creator = (
        np.concatenate([getattr(uses, name) for uses in found])
        for name in ("call", "creator")
    )
    return call, creator


def _leave_out_started(
    fate: NDArray[np.uint8], call: NDArray[np.int64], creator: NDArray[np.int64]
) -> None:
    """Treat a persistent request and its starts alike.

    Nobody says which request of a Startall found no partner, so all of them go.
    """
    gone = fate >= Fate.UNSUPPORTED
    lost = creator[gone[call] & (creator >= 0)]
    fate[lost[fate[lost] == Fate.INSIDE]] = Fate.PARTNER
    lost_start = call[(creator >= 0) & (fate[creator] >= Fate.UNSUPPORTED)]
    fate[lost_start[fate[lost_start] == Fate.INSIDE]] = Fate.PARTNER


def _mark_emptied(
    fate: NDArray[np.uint8], empty: NDArray[np.bool_], uses: RequestUses
) -> None:
    """Leave out completions of which no request is left.

    Their time is computation when the requests were null, else it is dropped.
    """
    emptied = empty & (fate[uses.call] == Fate.INSIDE)
    fate[uses.call[emptied]] = Fate.COMPUTATION
    dropped = (uses.creator >= 0) & (fate[uses.creator] >= Fate.UNSUPPORTED)
    fate[uses.call[dropped & emptied]] = Fate.PARTNER
