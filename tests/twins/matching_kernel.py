"""Twin of `skelgen.matching.kernel`, in plain Python.

`skelgen.matching.whole_events` has the rules.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from skelgen.events import Calls
from skelgen.events.types import PROC_NULL
from skelgen.matching.joined import JoinedEvents
from skelgen.matching.roles import PERSISTENT_ROLES, MatchRole, ShapeTable

Channel = tuple[int, int, int, int]
#: A collective: its sequence and place in it, and for starts of a persistent one
#: how many came before.
Instance = tuple[int, ...]


@dataclass
class _End:
    """One end of a message, or one rank's part in a collective."""

    call: int
    rank: int
    channel: Channel | None = None
    size_bytes: int = 0
    receives: bool = False
    done: int = -1
    cancelled: bool = False
    instance: Instance | None = None


@dataclass
class _Ends:
    """All that takes part in communication, in program order, rank after rank."""

    sends: list[_End] = field(default_factory=list)
    receives: list[_End] = field(default_factory=list)
    collectives: list[_End] = field(default_factory=list)


def join(calls: Calls, table: ShapeTable) -> JoinedEvents:
    """Join the calls of all ranks by the rules of MPI.

    Parameters
    ----------
    calls : Calls
    table : ShapeTable
        From `shape_table`.

    Returns
    -------
    JoinedEvents
    """
    ends = _Ends()
    for rank in range(calls.ranks):
        _Rank(calls, table, rank, ends).read()
    pairs = _pair(ends)
    sets = [{send.call, receive.call} for send, receive in pairs]
    paired = {id(end) for pair in pairs for end in pair}
    lonely = {
        end.call
        for end in ends.sends + ends.receives
        if id(end) not in paired and not end.cancelled
    }
    for members, whole in _meetings(calls, table, ends.collectives):
        if whole:
            sets.append(members)
        else:
            lonely |= members
    return _joined(calls, sets, pairs, ends.collectives, lonely)


class _Rank:
    """Read the calls of one rank."""

    def __init__(self, calls: Calls, table: ShapeTable, rank: int, ends: _Ends) -> None:
        self.calls, self.table, self.rank, self.ends = calls, table, rank, ends
        #: For each request its creating call and what is active on it.
        self.requests: list[tuple[int, list[_End]]] = []
        self.persistent: list[tuple[int, list[_End]]] = []
        #: Calls on each sequence of collectives, and starts of each request.
        self.counts: defaultdict[int, int] = defaultdict(int)
        self.starts: defaultdict[int, list[_End]] = defaultdict(list)

    def read(self) -> None:
        for call in range(*self.calls.first[self.rank : self.rank + 2].tolist()):
            shape = int(self.calls.shape[call])
            role = MatchRole(int(self.table.role[shape]))
            begun = list(self._ends(call, call, role))
            if role & MatchRole.COLLECTIVE:
                begun.append(self._meet(call, shape))
            if role & MatchRole.COLLECTIVE_INIT:
                begun[-1].done = call
                self.starts[call] = [begun.pop()]
            if role & MatchRole.CREATES:
                sort = self.persistent if role & PERSISTENT_ROLES else self.requests
                sort.append((call, begun))
            else:
                for end in begun:
                    end.done = call
            if role & (MatchRole.STARTS | MatchRole.COMPLETES | MatchRole.CANCELS):
                self._requests(call, role)

    def _meet(self, call: int, shape: int) -> _End:
        """Begin a rank's part in a collective."""
        stream = int(self.table.stream[shape])
        one = self.calls.communicators[self.table.communicator[shape]]
        end = _End(call, self.rank)
        if self.rank in one.members + one.remote:
            end.instance = (stream, self.counts[stream])
            self.counts[stream] += 1
        self.ends.collectives.append(end)
        return end

    def _ends(self, call: int, origin: int, role: MatchRole) -> Iterator[_End]:
        """Begin the ends that a call begins with the arguments of another one."""
        row = self.calls.shapes[self.calls.shape[origin]]
        receive = ("peer2", "tag2") if role & MatchRole.TWO_SIDED else ("peer", "tag")
        sides = [(MatchRole.SENDS, self.ends.sends, ("peer", "tag"))]
        sides.append((MatchRole.RECEIVES, self.ends.receives, receive))
        for bit, ends, (peer, tag) in sides:
            if role & bit and row[peer] != PROC_NULL:
                world = self._world(int(row["communicator"]), int(row[peer]))
                channel = None
                if world is not None:
                    shape = self.calls.shape[origin]
                    partners = (self.rank, world)
                    if bit is MatchRole.RECEIVES:
                        partners = (world, self.rank)
                    communicator = int(self.table.communicator[shape])
                    channel = (communicator, *partners, int(row[tag]))
                size_bytes = int(self.calls.size_bytes[origin])
                receives = bit is MatchRole.RECEIVES
                ends.append(_End(call, self.rank, channel, size_bytes, receives))
                yield ends[-1]

    def _world(self, communicator: int, peer: int) -> int | None:
        """Return the world rank of a partner, None when there is none."""
        if communicator < 0 or peer < 0:
            return None
        one = self.calls.communicators[communicator]
        if self.rank in one.members:
            partners = one.remote or one.members
        elif self.rank in one.remote:
            partners = one.members
        else:
            return None
        return partners[peer] if peer < len(partners) else None

    def _requests(self, call: int, role: MatchRole) -> None:
        row = int(self.calls.ages[call])
        for age in self.calls.age_values[slice(*self.calls.age_first[row : row + 2])]:
            sort = self.persistent if age < 0 else self.requests
            number = len(sort) - abs(int(age))
            if not 0 <= number < len(sort):
                continue
            origin, active = sort[number]
            if role & MatchRole.STARTS:
                sort[number] = (origin, self._start(call, origin, active))
                continue
            for end in active:
                if role & MatchRole.COMPLETES:
                    end.done = call
                else:
                    end.cancelled = end.receives
            left = [end for end in active if not role & MatchRole.COMPLETES]
            left = [end for end in left if not end.cancelled]
            sort[number] = (origin, left)

    def _start(self, call: int, origin: int, active: list[_End]) -> list[_End]:
        init = MatchRole(int(self.table.role[self.calls.shape[origin]]))
        role = MatchRole(0)
        if init & MatchRole.SEND_INIT:
            role |= MatchRole.SENDS
        if init & MatchRole.RECEIVE_INIT:
            role |= MatchRole.RECEIVES
        found = list(self._ends(call, origin, role)) if role else active
        if init & MatchRole.COLLECTIVE_INIT:
            created, *earlier = self.starts[origin]
            end = _End(call, self.rank)
            self.ends.collectives.append(end)
            if created.instance is not None:
                end.instance = (*created.instance, len(earlier))
                self.starts[origin].append(end)
                found = [end]
        return found


def _pair(ends: _Ends) -> list[tuple[_End, _End]]:
    queues: defaultdict[Channel, deque[_End]] = defaultdict(deque)
    for receive in ends.receives:
        if receive.channel is not None and not receive.cancelled:
            queues[receive.channel].append(receive)
    pairs = []
    for send in ends.sends:
        if send.channel is not None and queues.get(send.channel):
            pairs.append((send, queues[send.channel].popleft()))
    return pairs


def _meetings(
    calls: Calls, table: ShapeTable, collectives: list[_End]
) -> Iterator[tuple[set[int], bool]]:
    """Yield the calls of each collective and whether they are all there and fit."""
    meetings: defaultdict[Instance, list[int]] = defaultdict(list)
    for end in collectives:
        if end.instance is None:
            yield {end.call}, False
        else:
            meetings[end.instance].append(end.call)
    whole: dict[Instance, bool] = {}
    for instance, members in sorted(meetings.items()):
        kinds = {int(table.kind[calls.shape[call]]) for call in members}
        stream, _, *starts = instance
        fits = whole[instance[:2]] if starts else len(kinds) == 1
        whole[instance] = fits and len(members) == table.stream_size[stream]
        yield set(members), whole[instance]


def _joined(
    calls: Calls,
    sets: list[set[int]],
    pairs: list[tuple[_End, _End]],
    collectives: list[_End],
    lonely: set[int],
) -> JoinedEvents:
    parent: dict[int, int] = {}

    def root(call: int) -> int:
        while parent.setdefault(call, call) != call:
            call = parent[call]
        return call

    for members in sets:
        for call in members:
            low, high = sorted((root(call), root(min(members))))
            parent[high] = low
    whole_event = np.full(len(calls), -1, np.int64)
    numbers: dict[int, int] = {}
    for call in sorted(parent):
        whole_event[call] = numbers.setdefault(root(call), len(numbers))
    done = np.full(len(calls), -1, np.int64)
    for end in collectives:
        done[end.call] = max(done[end.call], end.done)
    mask = np.zeros(len(calls), np.bool_)
    mask[sorted(lonely)] = True
    return JoinedEvents(
        whole_event=whole_event,
        whole_events=len(numbers),
        send_call=np.array([send.call for send, _ in pairs], np.int64),
        receive_call=np.array([receive.call for _, receive in pairs], np.int64),
        send_done=np.array([send.done for send, _ in pairs], np.int64),
        receive_done=np.array([receive.done for _, receive in pairs], np.int64),
        message_bytes=np.array([send.size_bytes for send, _ in pairs], np.int64),
        collective_done=done,
        lonely=mask,
    )
