"""Receive messages where their receives complete, on ranks that serve whoever comes.

A master may post a receive for each worker, wait for any of them, answer that worker
and post the next receive. Which one is complete first is chance, so its completions
name other requests each time, and no loop folds. Here the receive of such a message
stands where it was complete, as if the master received from any source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.dealers import chosen_receives, dealers_of
from skelgen.events.moved_completions import with_requests_named
from skelgen.events.parts import rank_slices
from skelgen.events.poll_pools import users_of
from skelgen.events.shape_kinds import own_shapes
from skelgen.events.types import NO_COMMUNICATOR, NO_PEER, NO_TAG, WILDCARD_SOURCE
from skelgen.matching.later_receives import LaterReceives, Waits
from skelgen.matching.whole_events import match

_Integers = NDArray[np.int64]

#: What a receive that waits is called, and one that was posted for it: a local call.
_RECEIVES = {
    "MPI_Irecv": ("MPI_Recv", "MPI_Irecv (received later)"),
    "MPI_Irecv_c": ("MPI_Recv_c", "MPI_Irecv_c (received later)"),
}
_WAITANY = "MPI_Waitany"


def received_on_completion(calls: Calls) -> Calls:
    """Receive the messages that dealers answer where they were found complete.

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
    waits = Waits(calls, match(calls))
    moves = [one for one in map(waits.harmless, found) if len(one.post)]
    every, done = (_joined([one.done for one in some]) for some in (found, moves))
    calls = _waiting_for_any(calls, every[~np.isin(every, done)])
    return _moved(calls, _joined([one.post for one in moves]), done)


def _joined(parts: Sequence[_Integers]) -> _Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _posted(calls: Calls, rank: int) -> LaterReceives:
    """Return what a rank posts and completes one by one, and not at once."""
    own = rank_slices(calls.first)[rank]
    chosen = chosen_receives(calls, own)
    chosen = chosen.only(chosen.alone)
    moves = LaterReceives(rank, own.start + chosen.post, own.start + chosen.done)
    known = np.array([name in _RECEIVES for name in calls.functions], bool)
    return moves.only(known[calls.shapes["function"][calls.shape[moves.post]]])


def _waiting_for_any(calls: Calls, done: _Integers) -> Calls:
    """Let polls that found a request of a dealer complete be a Waitany."""
    polls = np.array([name.startswith("MPI_Test") for name in calls.functions], bool)
    done = done[polls[calls.shapes["function"][calls.shape[done]]]]
    if not len(done):
        return calls
    functions = calls.functions
    if _WAITANY not in functions:
        functions = (*functions, _WAITANY)
    shape = calls.shape.copy()
    shape[done], new = own_shapes(calls, done)
    new["function"] = functions.index(_WAITANY)
    shapes = np.concatenate([calls.shapes, new])
    return replace(calls, shape=shape, shapes=shapes, functions=functions)


def _moved(calls: Calls, post: _Integers, done: _Integers) -> Calls:
    """Let calls that completed receives be these, and those that began them nothing."""
    if not len(post):
        return calls
    user, creator = users_of(calls)
    ranks, own = (np.searchsorted(calls.first, one, "right") for one in (post, user))
    stays = (creator >= 0) & ~np.isin(creator, post) & np.isin(own, ranks)
    shape, size, ages = calls.shape.copy(), calls.size_bytes.copy(), calls.ages.copy()
    count = len(calls.shapes)
    pairs = shape[post].astype(np.int64) * count + shape[done]
    kinds, kind = np.unique(pairs, return_inverse=True)
    begun, received = calls.shapes[kinds // count], calls.shapes[kinds // count]
    functions = list(calls.functions)
    for number in np.unique(begun["function"]).tolist():
        own = received["function"] == number
        for some, name in zip(
            (received, begun), _RECEIVES[functions[number]], strict=True
        ):
            if name not in functions:
                functions.append(name)
            some["function"][own] = functions.index(name)
    received["flags"] |= WILDCARD_SOURCE
    received["site"] = calls.shapes["site"][kinds % count]
    begun["communicator"], begun["flags"] = NO_COMMUNICATOR, 0
    begun["peer"], begun["tag"] = NO_PEER, NO_TAG
    shape[post] = count + kind.reshape(-1)
    shape[done] = shape[post] + len(begun)
    size[done], size[post] = size[post], 0
    ages[done] = 0
    changed = replace(
        calls,
        shape=shape,
        size_bytes=size,
        ages=ages,
        shapes=np.concatenate([calls.shapes, begun, received]),
        functions=tuple(functions),
    )
    return with_requests_named(changed, user[stays], creator[stays])
