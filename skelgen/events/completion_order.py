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
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.moved_completions import MovedCompletion, with_completions
from skelgen.events.poll_pools import (
    LONGEST_POLLING_GAP_NS,
    Generation,
    RankCalls,
    pools_of,
)
from skelgen.events.thresholds import LARGEST_CHANCE
from skelgen.events.types import Events

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
    found: list[MovedCompletion] = []
    for begin, end in pairwise(events.calls.first.tolist()):
        if begin < end:
            found += _completions(events, slice(begin, end))
    return with_completions(events, found) if found else events


def _completions(events: Events, own: slice) -> Iterator[MovedCompletion]:
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
            yield from _placed(group, batches, calls, own.start)


def _alike(pool: Sequence[Generation], calls: RankCalls) -> list[list[Generation]]:
    """Put generations with the same anchors together."""
    before, key = calls.anchors_before, calls.anchor_key
    last, begin = np.array([(one.last, one.begin) for one in pool]).T
    longest = int((before[last + 1] - before[begin]).max())
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
    work_ns = np.where(latest % 2, 0, _medians(since, there))
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


def _medians(values: _Integers, counted: NDArray[np.bool_]) -> _Integers:
    """Return the median of each column, of those that are counted: at least one."""
    ordered = np.sort(np.where(counted, values, np.iinfo(np.int64).max), axis=0)
    count, column = counted.sum(axis=0), np.arange(counted.shape[1])
    lower, upper = ordered[(count - 1) // 2, column], ordered[count // 2, column]
    found: _Integers = lower + (upper - lower) // 2
    return found


def _placed(
    group: Sequence[Generation],
    batches: Sequence[_Batch],
    calls: RankCalls,
    first: int,
) -> Iterator[MovedCompletion]:
    """Find where the calls of generations complete their batches.

    They are counted from those of all ranks, of which the rank's own begin at `first`.
    """
    edges = [0, *accumulate(len(batch.members) for batch in batches)]
    members = np.concatenate([batch.members for batch in batches])
    done = np.stack([one.done for one in group])[:, members]
    posts = np.stack([one.posts for one in group])[:, members] + first
    places = _places_of_batches(
        group, batches, calls, np.maximum.reduceat(done, edges[:-1], axis=1)
    )
    for row, creators in zip(places, posts, strict=True):
        reached_ns = 0
        for number, (call, at_ns, begin_ns, most_ns) in enumerate(row):
            which = creators[edges[number] : edges[number + 1]]
            batch = batches[number]
            if batch.place % 2:
                yield MovedCompletion(call + first, which)
                continue
            reached_ns = min(max(at_ns, reached_ns, begin_ns), most_ns)
            source = batch.source + first
            yield MovedCompletion(call + first, which, source, reached_ns, begin_ns)


def _places_of_batches(
    group: Sequence[Generation],
    batches: Sequence[_Batch],
    calls: RankCalls,
    last: _Integers,
) -> list[list[tuple[int, int, int, int]]]:
    """Return before which call each generation has each batch complete, and when [ns].

    Behind the moment stand the ends of the calls before and at the place [ns]. `last`
    is the call that completes the last request of each batch of each generation.
    """
    before, work = calls.anchors_before, calls.work_ns
    begin, end = np.array([(one.begin, one.end) for one in group]).T[:, :, None]
    place = np.array([batch.place for batch in batches])
    work_ns = np.array([batch.work_ns for batch in batches])
    number = before[begin] + place // 2
    anchor = calls.anchor_call[np.minimum(number, len(calls.anchor_call) - 1)]
    following = np.where(number < before[end], anchor, end)
    since = calls.anchor_call[number - 1]
    own = last > since  # it is its own place: the others of it are there too
    at_ns = np.where(own, work[last], work[since] + work_ns)
    at = np.searchsorted(work, at_ns, side="right")
    at = np.minimum(np.maximum(at, since + 1), following)
    at = np.where(place % 2, 0, np.where(own, last + 1, at))
    call = np.maximum.accumulate(at, axis=1)
    begin_ns, most_ns = work[call - 1], work[np.minimum(call, len(work) - 1)]
    call = np.where(place % 2, following, call)
    columns = np.stack([call, at_ns, begin_ns, most_ns], axis=2)
    return [list(map(tuple, row)) for row in columns.tolist()]
