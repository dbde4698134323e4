"""Pools of requests: what a rank posts, and completes as it finds it complete.

A *pool* holds the requests whose creators and polls have to do with each other: a poll
is a successful Test of any form, a Waitany or a Waitsome. A *generation* of a pool
begins with a request while none is outstanding, and ends before the next such one.
*Anchors* are the calls that do not depend on what was found when: all but polls, probes
and local calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen._kernels._decode import lib
from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import CallKind
from skelgen.events.shape_kinds import shape_kinds
from skelgen.events.types import AMID_WORK, FAILED_POLL, Calls, Events

_Integers = NDArray[np.int64]

#: Gaps between two polls that are longer than this are computation [ns].
LONGEST_POLLING_GAP_NS = 50_000
#: Shorter ones are so where they are this many times as long as a poll, and as long
#: [ns]: who only waits asks again soon. The decoder has the same for polls in a row.
_GAP_OF_A_POLL = lib.SKELGEN_WORK_AMID_POLLS
_LEAST_WORK_NS = lib.SKELGEN_WORK_AMID_POLLS_NS

_POLLS = ("MPI_Test", "MPI_Waitany", "MPI_Waitsome")
_ALL = slice(None)
_ON_REQUESTS = (CallKind.COMPLETE, CallKind.START, CallKind.RELEASE)


def is_poll(calls: Calls) -> NDArray[np.bool_]:
    """Say for each shape whether it looks which requests are complete."""
    found = np.array([name.startswith(_POLLS) for name in calls.functions], bool)
    polls: NDArray[np.bool_] = found[calls.shapes["function"]]
    polls &= shape_kinds(calls) == CallKind.COMPLETE
    return polls


def longest_gaps(events: Events, own: slice, polls: _Integers) -> _Integers:
    """Return up to which gap a rank that asks again has only waited since each call.

    Parameters
    ----------
    events : Events
    own : slice
        Calls of one rank.
    polls : (n,) int64 array
        How many polls each of them is.

    Returns
    -------
    (n,) int64 array
        For polls that found nothing; that of other calls says nothing [ns].
    """
    calls = events.calls
    poll_ns = events.spent_ns(own) // np.maximum(polls, 1)
    gap_ns = np.clip(_GAP_OF_A_POLL * poll_ns, _LEAST_WORK_NS, LONGEST_POLLING_GAP_NS)
    amid_work = (calls.shapes["flags"] & AMID_WORK) != 0
    return np.where(amid_work[calls.shape[own]], 0, gap_ns)


def users_of(calls: Calls, own: slice = _ALL) -> tuple[_Integers, _Integers]:
    """Return which calls complete, start or free which requests.

    Parameters
    ----------
    calls : Calls
    own : slice
        Calls of one rank, or of all.

    Returns
    -------
    user, creator : (u,) int64 arrays
        Counted from the first of these calls; -1 for requests that are not known.
    """
    kind = shape_kinds(calls)[calls.shape[own]]
    user = np.flatnonzero(np.isin(kind, _ON_REQUESTS) & (calls.ages[own] > 0))
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[own][user])
    user = user[index]
    return user, Creations.of(calls, own).named(user, age)


@dataclass(frozen=True, slots=True)
class RankCalls:
    """The calls of one rank, as far as the order of completions is concerned.

    Attributes
    ----------
    polls : (n,) bool array
        Completions that were found.
    anchor : (n,) bool array
    anchors_before : (n + 1,) int64 array
        Number of anchors before each call, and of all.
    anchor_call : (a,) int64 array
    anchor_key : (a,) int32 array
        What an anchor does, with whom; the tag does not count.
    work_ns : (n,) int64 array
        Computation up to each call, without gaps between polls [ns].
    """

    polls: NDArray[np.bool_]
    anchor: NDArray[np.bool_]
    anchors_before: _Integers
    anchor_call: _Integers
    anchor_key: NDArray[np.int32]
    work_ns: _Integers

    @classmethod
    def of(cls, events: Events, own: slice) -> RankCalls:
        """Look at the calls of a rank."""
        calls = events.calls
        kind, shapes = shape_kinds(calls), calls.shapes
        failed = (shapes["flags"] & FAILED_POLL) != 0
        quiet = np.isin(kind, (CallKind.LOCAL, CallKind.PROBE)) | failed
        polling = is_poll(calls)
        columns = ["function", "communicator", "peer", "peer2", "site"]
        key = np.unique(shapes[columns], return_inverse=True)[1].reshape(-1)
        shape = calls.shape[own]
        anchor = ~(quiet | polling)[shape]
        before = np.concatenate([[0], np.cumsum(anchor)])
        asked = failed[shape]
        gap_ns = events.compute_ns[own].copy()
        again = np.concatenate([[False], asked[:-1]]) & ~anchor
        longest_ns = np.append(0, longest_gaps(events, own, calls.size_bytes[own])[:-1])
        gap_ns[again & (gap_ns < longest_ns)] = 0
        return cls(
            polling[shape] & (calls.ages[own] > 0),
            anchor,
            before,
            np.flatnonzero(anchor),
            key[shape[anchor]].astype(np.int32),
            np.cumsum(gap_ns),
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """What a pool holds from one time that it is empty to the next.

    Attributes
    ----------
    begin, end : int
        Its first request, and that of the next generation or the end of the rank.
    posts, done : (j,) int64 arrays
        Calls that create its requests, and that complete them.
    last : int
        The last of `done`.
    """

    begin: int
    end: int
    posts: _Integers
    done: _Integers
    last: int


def pools_of(
    events: Events, own: slice, calls: RankCalls
) -> Iterator[list[Generation]]:
    """Find the pools of a rank, each as its generations.

    Pools with persistent requests, or with requests that are freed, cancelled or never
    completed, are none.
    """
    creator, done, bad = _requests(events, own)
    if not len(creator):
        return
    sites = events.calls.shapes[["function", "site"]]
    of_shape = np.unique(sites, return_inverse=True)[1].reshape(-1)
    place = of_shape[events.calls.shape[own]]
    ends = np.maximum(done, 0)
    pool = _joined(place[creator], place[ends], calls.polls[ends] & (done >= 0))
    bad |= done < 0
    for number in np.unique(pool[pool >= 0]).tolist():
        rows = np.flatnonzero(pool == number)
        if not bad[rows].any():
            yield _generations(creator[rows], done[rows], len(place))


def _requests(
    events: Events, own: slice
) -> tuple[_Integers, _Integers, NDArray[np.bool_]]:
    """Return creators, what completes their requests, and which to leave alone."""
    calls = events.calls
    kind = shape_kinds(calls)[calls.shape[own]]
    user, named = users_of(calls, own)
    creations = Creations.of(calls, own)
    creator = np.sort(np.concatenate([creations.plain, creations.persistent]))
    if not len(creator):
        return creator, creator, np.zeros(0, bool)
    known = named >= 0
    row, user = np.searchsorted(creator, named[known]), user[known]
    done = np.full(len(creator), -1, np.int64)
    done[row] = user
    bad = np.bincount(row, minlength=len(creator)) != 1
    bad |= np.isin(creator, creations.persistent)
    bad[row[kind[user] != CallKind.COMPLETE]] = True
    return creator, done, bad


def _joined(
    creator: _Integers, done: _Integers, polled: NDArray[np.bool_]
) -> _Integers:
    """Give requests the number of their pool, by the places that create and poll them.

    Requests of places whose requests no poll completes are in none: -1.
    """
    label = np.arange(max(creator.max(), done.max()) + 1)
    both = np.unique(creator[polled] * len(label) + done[polled])
    links = np.stack(np.divmod(both, len(label)))
    while True:
        least = np.minimum(label[links[0]], label[links[1]])
        before = label.copy()
        for side in links:
            np.minimum.at(label, side, least)
        if np.array_equal(label, before):
            break
    polls = np.zeros(len(label), bool)
    polls[links[0]] = True
    return np.where(polls[creator], label[creator], -1)


def _generations(creator: _Integers, done: _Integers, end: int) -> list[Generation]:
    latest = np.maximum.accumulate(done)
    begins = np.flatnonzero(np.concatenate([[True], creator[1:] > latest[:-1]]))
    edges = [*begins.tolist(), len(creator)]
    firsts = [*creator[begins].tolist(), end]
    lasts = latest[np.array(edges[1:]) - 1].tolist()
    return [
        Generation(firsts[i], firsts[i + 1], creator[a:b], done[a:b], lasts[i])
        for i, (a, b) in enumerate(pairwise(edges))
    ]
