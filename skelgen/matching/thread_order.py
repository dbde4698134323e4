"""What the calls of threads wait for, and which of them have to keep their order.

An *end* is what a message or a collective needs: both its calls have begun, or all
participants have. Calls wait for ends; the ones that begin nothing of their own, as
MPI_Wait does, wait for what others began.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info, shape_kinds
from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import COLLECTIVES, WITH_PARTNERS
from skelgen.events.types import COMPLETED, PROC_NULL, WINDOW_KINDS
from skelgen.matching.roles import MatchRole, shape_table
from skelgen.matching.types import Matching

_FREES = ("MPI_Comm_free", "MPI_Comm_disconnect")
_MEETS = (*COLLECTIVES, CallKind.COMMUNICATOR, CallKind.START)
_ON_OBJECTS = (CallKind.RMA, CallKind.IO, CallKind.SIGNAL, CallKind.AWAIT)
#: What the calls of a chain have in common.
_SENT, _RECEIVED, _REQUEST, _STREAM, _OBJECT = range(5)

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RaggedNumbers:
    """Rows of numbers: row i is ``values[first[i]:first[i + 1]]``."""

    first: Integers
    values: Integers

    @classmethod
    def of(cls, row: Integers, values: Integers, rows: int) -> RaggedNumbers:
        """Sort values into their rows."""
        counts = np.bincount(row, minlength=rows)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(first, values[np.argsort(row, kind="stable")])

    def row(self, number: int) -> list[int]:
        """Return a row."""
        found: list[int] = self.values[slice(*self.first[number : number + 2])].tolist()
        return found


@dataclass(frozen=True, slots=True)
class Depend:
    """Threads, their calls, and what these wait for.

    Attributes
    ----------
    first : (ranks + 1,) int64 array
        Calls of each rank, in the order in which they were entered.
    lane : (n,) int64 array
        Thread of each call, numbered through all ranks.
    lane_first : (ranks + 1,) int64 array
        Threads of each rank.
    enter_ns, leave_ns : (n,) int64 arrays
    begins : RaggedNumbers
        Ends that each call begins.
    waits : RaggedNumbers
        Ends that each call waits for.
    waiters : RaggedNumbers
        Calls that wait for each end.
    soft : (w,) bool array
        For each of `waiters` whether a message that is buffered lets it return.
    holds : (w,) bool array
        For each of `waiters` whether it begins the end too and its rank has several
        threads: those that wait for the end return only if this call does.
    after : RaggedNumbers
        Calls of other threads of the rank that stay behind each call.
    """

    first: Integers
    lane: Integers
    lane_first: Integers
    enter_ns: Integers
    leave_ns: Integers
    begins: RaggedNumbers
    waits: RaggedNumbers
    waiters: RaggedNumbers
    soft: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    after: RaggedNumbers

    @property
    def ends(self) -> int:
        """Return the number of ends."""
        return len(self.waiters.first) - 1


def depend(
    calls: Calls,
    matching: Matching,
    threads: NDArray[np.uint16],
    enter_ns: Integers,
    leave_ns: Integers,
) -> Depend:
    """Find out what the calls of threads wait for.

    Parameters
    ----------
    calls : Calls
    matching : Matching
        With completions.
    threads : (n,) uint16 array
    enter_ns, leave_ns : (n,) int64 arrays
    """
    total, messages = len(calls), len(matching.send_call)
    ranks = np.repeat(np.arange(calls.ranks), np.diff(calls.first))
    code, lane = np.unique(ranks << 16 | threads, return_inverse=True)
    lane_first = np.searchsorted(code >> 16, np.arange(calls.ranks + 1))
    lane = lane.reshape(-1).astype(np.int64)
    several = (np.diff(lane_first) > 1)[ranks]
    meets = _meeting(calls, matching)
    end = messages + matching.whole_event[meets]
    number, ends = np.arange(messages), messages + matching.whole_events
    begins, begun = _pairs(
        ends,
        (matching.send_call, number),
        (matching.receive_call, number),
        (meets, end),
    )
    waits_sent, hard = _waiting_sends(calls, matching)
    hard_waits = _pairs(
        ends,
        (matching.receive_done, number),
        (matching.send_done[hard], number[hard]),
        (matching.collective_done[meets], end),
    )
    waiter, awaited = _pairs(
        ends, hard_waits, (matching.send_done[waits_sent], number[waits_sent])
    )
    code = waiter * ends + awaited
    soft = ~np.isin(code, hard_waits[0] * ends + hard_waits[1])
    holds = np.isin(code, begins * ends + begun) & several[waiter]
    by_end = np.argsort(awaited, kind="stable")
    return Depend(
        first=calls.first,
        lane=lane,
        lane_first=lane_first.astype(np.int64),
        enter_ns=enter_ns,
        leave_ns=leave_ns,
        begins=RaggedNumbers.of(begins, begun, total),
        waits=RaggedNumbers.of(waiter, awaited, total),
        waiters=RaggedNumbers.of(awaited, waiter, ends),
        soft=soft[by_end],
        holds=holds[by_end],
        after=RaggedNumbers.of(*_chained(calls, lane, np.flatnonzero(several)), total),
    )


def _pairs(ends: int, *parts: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """Join pairs of a call and an end, each once; call -1 is none."""
    call = np.concatenate([part[0] for part in parts])
    end = np.concatenate([part[1] for part in parts])
    code = np.unique((call * ends + end)[call >= 0])
    found, which = np.divmod(code, max(ends, 1))
    return found, which


def _meeting(calls: Calls, matching: Matching) -> Integers:
    """Return the calls that meet all others of a communicator."""
    wanted = [
        function_info(name).kind in _MEETS and name not in _FREES
        for name in calls.functions
    ]
    of_shapes = np.array([*wanted, False], bool)[calls.shapes["function"]]
    whole = (matching.collective_done >= 0) & (matching.whole_event >= 0)
    return np.flatnonzero(of_shapes[calls.shape] & whole)


def _waiting_sends(calls: Calls, matching: Matching) -> tuple[Integers, Integers]:
    """Return the messages whose senders wait, and those that no library buffers."""
    infos = [function_info(name) for name in calls.functions]
    never = np.array(
        [info.mode == "buffered" or info.kind is CallKind.SIGNAL for info in infos],
        bool,
    )
    always = np.array([info.mode == "synchronous" for info in infos], bool)
    function = calls.shapes["function"][calls.shape[matching.send_call]]
    return np.flatnonzero(~never[function]), np.flatnonzero(always[function])


def _chained(
    calls: Calls, lane: Integers, several: Integers
) -> tuple[Integers, Integers]:
    """Return pairs of calls of two threads that keep their order.

    They use one channel, request, window or file, or are collectives of one
    communicator.
    """
    if not len(several):
        return several, several
    origins = _origins(calls, several)
    links = np.concatenate(
        [
            _channels(calls, several, origins),
            _requests(*origins),
            _objects(calls, several),
        ]
    )
    # A request is of one rank; the other chains are told apart by it.
    rank = np.searchsorted(calls.first, links[:, 0], side="right")
    order = np.lexsort((*links.T, rank))
    links, rank = links[order], rank[order]
    same = (links[1:, 1:] == links[:-1, 1:]).all(axis=1) & (rank[1:] == rank[:-1])
    before, behind = links[:-1][same, 0], links[1:][same, 0]
    other = lane[before] != lane[behind]
    return before[other], behind[other]


def _links(call: Integers, what: int, *parts: NDArray[np.integer] | int) -> Integers:
    """Return rows of a call, what links it to others, and with which numbers."""
    rows = np.zeros((len(call), 5), np.int64)
    rows[:, 0], rows[:, 1] = call, what
    for column, part in enumerate(parts, start=2):
        rows[:, column] = part
    return rows


def _channels(
    calls: Calls, several: Integers, origin: tuple[Integers, Integers]
) -> Integers:
    """Link calls that send to, or receive from, one channel, or start such requests."""
    table = shape_table(calls)
    starts = (table.role[calls.shape[origin[0]]] & MatchRole.STARTS) > 0
    found = [np.zeros((0, 5), np.int64)]
    for call, by, bits in (
        (several, several, (MatchRole.SENDS, MatchRole.RECEIVES)),
        (
            origin[0][starts],
            origin[1][starts],
            (MatchRole.SEND_INIT, MatchRole.RECEIVE_INIT),
        ),
    ):
        row = calls.shapes[calls.shape[by]]
        role = table.role[calls.shape[by]]
        communicator = table.communicator[calls.shape[by]]
        second = (role & MatchRole.TWO_SIDED) > 0
        for what, bit in zip((_SENT, _RECEIVED), bits, strict=True):
            turned = second & (what == _RECEIVED)
            peer = np.where(turned, row["peer2"], row["peer"])
            tag = np.where(turned, row["tag2"], row["tag"])
            own = ((role & bit) > 0) & (peer != PROC_NULL)
            found.append(
                _links(call[own], what, communicator[own], peer[own], tag[own])
            )
    stream = table.stream[calls.shape[several]]
    meets = (table.role[calls.shape[several]] & MatchRole.COLLECTIVE) > 0
    found.append(_links(several[meets], _STREAM, stream[meets]))
    return np.concatenate(found)


def _origins(calls: Calls, several: Integers) -> tuple[Integers, Integers]:
    """Return calls that name requests, and the calls that created these."""
    infos = [function_info(name) for name in calls.functions]
    partners = np.array([info.kind in WITH_PARTNERS for info in infos] + [False])
    naming = several[~partners[calls.shapes["function"]][calls.shape[several]]]
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[naming])
    call = naming[index]
    creator = Creations.of(calls).named(call, age)
    known = creator >= 0
    return call[known], creator[known]


def _requests(call: Integers, creator: Integers) -> Integers:
    """Link calls that create and name one request."""
    created = np.unique(creator)
    both = np.concatenate([call, created])
    return _links(both, _REQUEST, np.concatenate([creator, created]))


def _objects(calls: Calls, several: Integers) -> Integers:
    """Link calls on one window or file, those that expose memory apart."""
    ways = [
        WINDOW_KINDS.index(one.kind) if one.kind in WINDOW_KINDS else -1
        for one in calls.communicators
    ]
    way = np.array([*ways, -1], np.int64)[calls.shapes["communicator"]]
    kind = shape_kinds(calls)
    completed = calls.shapes["tag"] == COMPLETED
    exposes = ((kind == CallKind.SIGNAL) & ~completed) | (
        (kind == CallKind.AWAIT) & completed
    )
    used = (way >= 0) | np.isin(kind, _ON_OBJECTS)
    thing = calls.shapes["communicator"] - np.maximum(way, 0)
    call = several[used[calls.shape[several]]]
    shape = calls.shape[call]
    return _links(call, _OBJECT, thing[shape], exposes[shape])
