"""Give completions that were found by polling an order without chance in it.

When a poll finds a message is chance, so every iteration of a polling loop has calls of
its own. Generations of a pool whose anchors are the same do the same work. In them each
request is completed where the latest of them completed it: there the rank went on
without it until that call, so its calls up to there do not depend on it. A completion
only moves to later calls. That takes conditions away and adds none, so what finished
before still does, with rendezvous sends too.

Pools whose generations agree stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import moved
from skelgen.events.creations import Creations
from skelgen.events.poll_pools import (
    LONGEST_POLLING_GAP_NS,
    Generation,
    RankCalls,
    is_poll,
    pools_of,
    users_of,
)
from skelgen.events.reorder import RowsOfAges
from skelgen.events.thresholds import LARGEST_CHANCE
from skelgen.events.types import MOVED, Calls, Events

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Requests of a generation that are complete at one place.

    Attributes
    ----------
    members : int64 array
        Numbers of the requests in the generation.
    place : int
        Twice the number of anchors of the generation before it, plus 1 where the next
        one completes them.
    work_ns : int
        Computation since the anchor before it [ns].
    source : int
        A call that did this.
    """

    members: _Integers
    place: int
    work_ns: int
    source: int


@dataclass(frozen=True, slots=True)
class _Completion:
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


def in_canonical_order(events: Events) -> Events:
    """Let completions that were found by polling come when they are needed at last.

    Parameters
    ----------
    events : Events
        Of all ranks, or of some. Ranks with several threads stay as they are.

    Returns
    -------
    Events
        The same ones where the order of completions does not change from one time to
        the next. Polls that found what others complete now have the flag MOVED, and
        keep their times; new calls take no time in MPI.
    """
    if events.threads is not None:
        return events
    found: list[_Completion] = []
    for begin, end in pairwise(events.calls.first.tolist()):
        if begin < end:
            found += _completions(events, slice(begin, end))
    return _with_completions(events, found) if found else events


def _completions(events: Events, own: slice) -> Iterator[_Completion]:
    """Find what a rank completes elsewhere, its calls counted from those of all."""
    calls = RankCalls.of(events, own)
    if not calls.polls.any():
        return
    for pool in pools_of(events, own, calls):
        groups = _alike(pool, calls)
        if all(_agree(group, calls) for group in groups):
            continue
        works = _works_between(pool, calls)
        for group in groups:
            batches = _batches(group, calls, works)
            for generation in group:
                for one in _placed(generation, batches, calls):
                    yield replace(
                        one,
                        call=one.call + own.start,
                        creators=one.creators + own.start,
                        source=one.source + own.start if one.source >= 0 else -1,
                    )


def _alike(pool: Sequence[Generation], calls: RankCalls) -> list[list[Generation]]:
    """Put generations with the same anchors together."""
    before, key = calls.anchors_before, calls.anchor_key
    longest = max(before[one.done.max() + 1] - before[one.begin] for one in pool)
    groups: dict[tuple[bytes, bytes], list[Generation]] = {}
    for one in pool:
        first = before[one.begin]
        anchors = key[first : min(first + longest, before[one.end])]
        posts = before[one.posts] - first
        groups.setdefault((anchors.tobytes(), posts.tobytes()), []).append(one)
    return list(groups.values())


def _places(group: Sequence[Generation], calls: RankCalls) -> _Integers:
    """Return the place of each request of each generation; see `_Batch`."""
    done = np.stack([one.done for one in group])
    begin = np.array([one.begin for one in group])[:, None]
    before = calls.anchors_before
    found: _Integers = 2 * (before[done] - before[begin]) + calls.anchor[done]
    return found


def _agree(group: Sequence[Generation], calls: RankCalls) -> bool:
    """Return whether generations complete the same requests at the same places."""
    if len(group) == 1:
        return True
    done = np.stack([one.done for one in group])
    order = np.argsort(done, axis=1, kind="stable")
    together = np.diff(np.take_along_axis(done, order, axis=1)) == 0
    return all(
        bool((rows == rows[:1]).all())
        for rows in (_places(group, calls), order, together)
    )


def _works_between(pool: Sequence[Generation], calls: RankCalls) -> bool:
    """Return whether a rank computes between two polls that find something.

    What one of many generations has between them is chance: an interrupt, for example.
    """
    done = np.concatenate([np.sort(one.done) for one in pool])
    own = np.repeat(np.arange(len(pool)), [len(one.done) for one in pool])
    together = (np.diff(own) == 0) & (np.diff(calls.anchors_before[done]) == 0)
    long = together & (np.diff(calls.work_ns[done]) >= LONGEST_POLLING_GAP_NS)
    return len(np.unique(own[1:][long])) > LARGEST_CHANCE * len(pool)


def _batches(
    group: Sequence[Generation], calls: RankCalls, works: bool
) -> list[_Batch]:
    """Decide where the requests of some generations are completed.

    Where the rank never works between two polls, that is one place.
    """
    places = _places(group, calls)
    done = np.stack([one.done for one in group])
    before, work = calls.anchors_before, calls.work_ns
    latest = places.max(axis=0)
    since = work[done] - work[calls.anchor_call[before[done] - 1]]
    there = places == latest
    work_ns = np.array(
        [
            0 if place % 2 else int(np.median(since[rows, number]))
            for number, (place, rows) in enumerate(zip(latest, there.T, strict=True))
        ]
    )
    order = np.lexsort((work_ns, latest))
    apart = np.diff(latest[order]) != 0
    apart |= works & (np.diff(work_ns[order]) >= LONGEST_POLLING_GAP_NS)
    found = []
    for members in np.split(order, np.flatnonzero(apart) + 1):
        last = int(members[-1])
        source = int(done[np.argmax(there[:, last]), last])
        place = int(latest[last])
        found.append(_Batch(np.sort(members), place, int(work_ns[last]), source))
    return found


def _placed(
    generation: Generation, batches: Sequence[_Batch], calls: RankCalls
) -> Iterator[_Completion]:
    """Find where the calls of a generation complete their batches."""
    before, work, end = calls.anchors_before, calls.work_ns, generation.end
    first = int(before[generation.begin])
    call, reached_ns = 0, 0
    for batch in batches:
        creators = generation.posts[batch.members]
        number = first + batch.place // 2
        following = int(calls.anchor_call[number]) if number < before[end] else end
        if batch.place % 2:
            yield _Completion(following, creators)
            continue
        since = int(calls.anchor_call[number - 1])
        last = int(generation.done[batch.members].max())
        if last > since:  # it is its own place: the others of it are there too
            at, at_ns = last + 1, int(work[last])
        else:
            at_ns = int(work[since]) + batch.work_ns
            at = int(np.searchsorted(work, at_ns, side="right"))
            at = min(max(at, since + 1), following)
        call, reached_ns = max(at, call), max(at_ns, reached_ns)
        most = work[call] if call < len(work) else work[-1]
        begin_ns = int(work[call - 1])
        reached_ns = min(max(reached_ns, begin_ns), int(most))
        yield _Completion(call, creators, batch.source, reached_ns, begin_ns)


def _with_completions(events: Events, found: Sequence[_Completion]) -> Events:
    """Insert new completions, and take from the old ones what they completed."""
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
    def of(cls, calls: Calls, new: Sequence[_Completion]) -> _Inserted:
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
    new: Sequence[_Completion],
    found: Sequence[_Completion],
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
    return _naming(result, np.concatenate(where), place[np.concatenate(which)])


def _moved(calls: Calls, polls: _Integers) -> tuple[_Integers, NDArray[np.void]]:
    """Return the shapes of polls that complete nothing any more, and all shapes."""
    rows, number = np.unique(calls.shape[polls], return_inverse=True)
    emptied = calls.shapes[rows]
    emptied["flags"] |= MOVED
    shapes = np.concatenate([calls.shapes, emptied])
    return len(calls.shapes) + number.reshape(-1), shapes


def _calls(some: Sequence[_Completion]) -> _Integers:
    return np.array([one.call for one in some], np.int64)


def _spread(place: _Integers, some: Sequence[_Completion]) -> _Integers:
    """Repeat the place of each completion for each of its requests."""
    return np.repeat(place, [len(one.creators) for one in some])


def _naming(calls: Calls, user: _Integers, creator: _Integers) -> Calls:
    """Let calls name requests, in the order of their creation."""
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
