"""Insert calls that complete requests in place of those that found them complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import moved
from skelgen.events.creations import Creations
from skelgen.events.poll_pools import is_poll, users_of
from skelgen.events.reorder import RowsOfAges
from skelgen.events.shape_kinds import own_shapes
from skelgen.events.types import MOVED, Calls, Events

_Integers = NDArray[np.int64]


class MovedCompletion(NamedTuple):
    """Requests that are completed somewhere else now.

    Attributes
    ----------
    call : int
        The call that completes them, or that a new call stands before.
    creators : int64 array
    source : int
        Call that the new one is like; -1 where there is none.
    work_ns, begin_ns : int
        Computation of the rank up to the new call, and up to the end of the call
        before it [ns].
    """

    call: int
    creators: _Integers
    source: int = -1
    work_ns: int = 0
    begin_ns: int = 0


def with_completions(events: Events, found: Sequence[MovedCompletion]) -> Events:
    """Insert new completions, and take from the old ones what they completed.

    Parameters
    ----------
    events : Events
    found : sequence of MovedCompletion
    """
    new = sorted(
        (one for one in found if one.source >= 0),
        key=lambda one: (one.call, one.work_ns),
    )
    inserted = _Inserted.of(events.calls, new)
    calls = _with_requests(events.calls, inserted, new, found)
    at, place, own = inserted.before, inserted.place, inserted.own
    work_ns = np.array([one.work_ns for one in new], np.int64)
    begin_ns = np.array([one.begin_ns for one in new], np.int64)
    again = np.concatenate([[False], at[1:] == at[:-1]])
    taken_ns = work_ns - np.where(again, np.roll(work_ns, 1), begin_ns)
    columns: dict[str, Any] = {}
    for name in ("enter_ns", "leave_ns", "compute_ns"):
        columns[name] = np.zeros(len(calls), np.int64)
        columns[name][place] = getattr(events, name)
    rest = at < len(place)
    np.subtract.at(columns["compute_ns"], place[at[rest]], taken_ns[rest])
    columns["compute_ns"][own] = taken_ns
    moment_ns = events.leave_ns[at - 1] + work_ns - begin_ns
    columns["enter_ns"][own] = columns["leave_ns"][own] = moment_ns
    away = moved(events.away, place)
    return replace(events, calls=calls, away=away, **columns)


@dataclass(frozen=True, slots=True)
class _Inserted:
    """Where calls stand when others were inserted.

    Attributes
    ----------
    before : (m,) int64 array
        The old call that each new one stands before, ascending.
    place : (n,) int64 array
        Where each old call stands now.
    own : (m,) int64 array
        Where each new one stands.
    first : (ranks + 1,) int64 array
        As in `Calls`.
    """

    before: _Integers
    place: _Integers
    own: _Integers
    first: _Integers

    @classmethod
    def of(cls, calls: Calls, new: Sequence[MovedCompletion]) -> _Inserted:
        """Give all calls new numbers."""
        before = np.array([one.call for one in new], np.int64)
        creator = np.array([one.creators[0] for one in new], np.int64)
        rank = np.searchsorted(calls.first, creator, side="right") - 1
        more = np.cumsum(np.bincount(rank, minlength=calls.ranks))
        numbers = np.arange(len(calls))
        return cls(
            before,
            numbers + np.searchsorted(before, numbers, side="right"),
            before + np.arange(len(before)),
            calls.first + np.concatenate([[0], more]),
        )


def _with_requests(
    calls: Calls,
    inserted: _Inserted,
    new: Sequence[MovedCompletion],
    found: Sequence[MovedCompletion],
) -> Calls:
    """Let calls complete the requests that they complete now."""
    place, own = inserted.place, inserted.own
    user, creator = users_of(calls)
    moved = np.zeros(len(calls), bool)
    moved[np.concatenate([one.creators for one in found])] = True
    anchors = [one for one in found if one.source < 0]
    others = np.unique(np.concatenate([user[moved[creator]], _calls(anchors)]))
    stays = np.isin(user, others) & ~moved[creator]
    where = [
        place[user[stays]],
        _spread(own, new),
        _spread(place[_calls(anchors)], anchors),
    ]
    which = [creator[stays], *(one.creators for one in (*new, *anchors))]
    shape, size = np.zeros((2, len(place) + len(own)), np.int64)
    shape[place], size[place] = calls.shape, calls.size_bytes
    shape[own] = calls.shape[[one.source for one in new]]
    ages = np.zeros(len(shape), np.uint32)
    ages[place] = calls.ages
    ages[place[others]] = 0
    polls = others[is_poll(calls)[calls.shape[others]]]
    shape[place[polls]], shapes = _moved(calls, polls)
    result = replace(
        calls,
        first=inserted.first,
        shape=shape.astype(np.uint32),
        size_bytes=size,
        ages=ages,
        vector_call=place[calls.vector_call],
        shapes=shapes,
    )
    return with_requests_named(
        result, np.concatenate(where), place[np.concatenate(which)]
    )


def _moved(calls: Calls, polls: _Integers) -> tuple[_Integers, NDArray[np.void]]:
    """Return the shapes of polls that complete nothing any more, and all shapes."""
    number, emptied = own_shapes(calls, polls)
    emptied["flags"] |= MOVED
    return number, np.concatenate([calls.shapes, emptied])


def _calls(some: Sequence[MovedCompletion]) -> _Integers:
    return np.array([one.call for one in some], np.int64)


def _spread(place: _Integers, some: Sequence[MovedCompletion]) -> _Integers:
    """Repeat the place of each completion for each of its requests."""
    return np.repeat(place, [len(one.creators) for one in some])


def with_requests_named(calls: Calls, user: _Integers, creator: _Integers) -> Calls:
    """Let calls name requests, in the order of their creation.

    Parameters
    ----------
    calls : Calls
        Whose requests may count anew: others are created in between now.
    user, creator : (u,) int64 arrays
        Which calls name which requests, by the calls that create them.
    """
    order = np.lexsort((creator, user))
    user, creator = user[order], creator[order]
    age = Creations.of(calls).ages(user, creator)
    edges = [*np.flatnonzero(np.diff(user, prepend=-1)).tolist(), len(user)]
    rows = RowsOfAges(calls.age_first, calls.age_values)
    ages = calls.ages.copy()
    for begin, end in pairwise(edges):
        ages[user[begin]] = rows.number(tuple(age[begin:end].tolist()))
    first, values = rows.arrays()
    return replace(calls, ages=ages, age_first=first, age_values=values)
