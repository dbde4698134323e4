"""The simulator in plain Python: twin of the kernel, and the one that explains."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from skelgen.events import CallKind
from skelgen.events.functions import (
    COLLECTIVES,
    PERSISTENT,
    SENDING,
    TWO_SIDED,
    WITH_PARTNERS,
)
from skelgen.skeleton.proof.script import BUFFERED, NOBODY, SYNCHRONOUS, Script
from skelgen.skeleton.proof.simulation import SimulationOutcome
from skelgen.symbols.types import ALL_OUTSTANDING

_CREATING = (
    CallKind.ISEND,
    CallKind.IRECEIVE,
    CallKind.ISENDRECV,
    CallKind.ICOLLECTIVE,
    *PERSISTENT,
)


@dataclass(slots=True, eq=False)
class _End:
    """One end of a message or one participant of a collective, not yet complete.

    `row` is the operation that began it; `waits_for` the ranks it needs.
    """

    rank: int
    row: int
    size: int
    request: _Request | None
    partner: int = NOBODY
    done: bool = False


@dataclass(slots=True, eq=False)
class _Request:
    row: int
    done: bool = False
    gone: bool = False
    waited: bool = False
    active: bool = False
    ends: list[_End] = field(default_factory=list)
    meeting: _Meeting | None = None  # of a persistent collective the latest


@dataclass(slots=True, eq=False)
class _Meeting:
    size: int
    fit: int
    stream: int
    odd: bool = False
    arrived: list[_End] = field(default_factory=list)
    following: _Meeting | None = None  # that the next starts lead to


@dataclass(slots=True)
class _Channel:
    sends: deque[_End] = field(default_factory=deque)
    receives: deque[_End] = field(default_factory=deque)


class PlainSimulation:
    """One run of a script, whose state can be asked for its wait-for graph."""

    def __init__(self, script: Script, *, rendezvous: bool) -> None:
        self.script = script
        self.rendezvous = rendezvous
        self.position = [-1] * script.ranks
        self.waiting = [0] * script.ranks
        self.blocked = [False] * script.ranks
        self.ready = list(range(script.ranks))
        self.executed = [0] * len(script.kind)
        self.requests: list[list[_Request]] = [[] for _ in range(script.ranks)]
        self.persistent: list[list[_Request]] = [[] for _ in range(script.ranks)]
        self.channels = [_Channel() for _ in script.channels]
        self.meetings: list[list[_Meeting]] = [[] for _ in script.streams]
        self.attended = [0] * sum(map(len, script.streams))
        self.blocking: list[list[_End]] = [[] for _ in range(script.ranks)]
        self.joined: list[_Meeting | None] = [None] * script.ranks
        self.counts = dict.fromkeys(("truncated", "mismatched", "misused"), 0)

    def run(self) -> SimulationOutcome:
        """Run until no rank can go on."""
        first = self.script.first.tolist()
        row = self.script.row
        while self.ready:
            rank = self.ready.pop()
            steps = first[rank + 1] - first[rank]
            while True:
                self.position[rank] += 1
                if self.position[rank] >= steps:
                    break
                self._execute(rank, int(row[first[rank] + self.position[rank]]))
                if self.waiting[rank]:
                    self.blocked[rank] = True
                    break
        return SimulationOutcome(
            tuple(self.position),
            tuple(np.diff(self.script.first).tolist()),
            self.counts["truncated"],
            self.counts["mismatched"],
            self.counts["misused"],
            sum(len(channel.sends) for channel in self.channels),
            sum(len(channel.receives) for channel in self.channels),
        )

    def _execute(self, rank: int, row: int) -> None:
        script = self.script
        kind = CallKind(int(script.kind[row]))
        request = None
        if kind in _CREATING:
            request = _Request(row, done=kind in PERSISTENT)
            sort = self.persistent if kind in PERSISTENT else self.requests
            sort[rank].append(request)
        self.waiting[rank] = 0
        self.blocking[rank] = []
        self.joined[rank] = None
        occurrence = self.executed[row]
        self.executed[row] += 1
        if kind in (CallKind.SEND, CallKind.ISEND, *TWO_SIDED):
            self._begin(rank, row, occurrence, request, sends=True)
        if kind in (CallKind.RECEIVE, CallKind.IRECEIVE, *TWO_SIDED):
            self._begin(rank, row, occurrence, request, sends=False)
        elif kind in WITH_PARTNERS:
            self._tell_or_await(rank, row, tells=kind is CallKind.SIGNAL)
        elif kind is CallKind.START:
            self._start(rank, row)
        elif kind is CallKind.COMPLETE:
            self._wait(rank, row)
        elif kind is CallKind.RELEASE:
            for request in self._named(rank, row):
                request.gone = True
        elif kind in COLLECTIVES:
            self._meet(rank, row, occurrence, request)
        if kind is CallKind.ISENDRECV and request is not None:
            request.done = all(end.done for end in request.ends)

    def _begin(
        self,
        rank: int,
        row: int,
        occurrence: int,
        request: _Request | None,
        *,
        sends: bool,
    ) -> None:
        script = self.script
        channels = script.send_channel if sends else script.receive_channel
        first, last = script.partner_first[row : row + 2].tolist()
        number = int(channels[first + occurrence % (last - first)])
        size = self._size(row, occurrence) if sends else int(script.capacity_bytes[row])
        end = _End(rank, row, size, request)
        if request is None:
            self.waiting[rank] += 1
            self.blocking[rank].append(end)
        else:
            request.ends.append(end)
        if number == NOBODY:
            self._complete(end)
        elif sends:
            end.partner = script.channels[number][2]
            self._post_send(self.channels[number], end)
        else:
            end.partner = script.channels[number][1]
            self._post_receive(self.channels[number], end)

    def _tell_or_await(self, rank: int, row: int, *, tells: bool) -> None:
        """Tell several ranks, which waits for nobody, or wait for all of them."""
        script = self.script
        channels = script.send_channel if tells else script.receive_channel
        for number in channels[slice(*script.partner_first[row : row + 2])].tolist():
            if number == NOBODY:
                continue
            end = _End(rank, row, 0, None, done=tells)
            end.partner = script.channels[number][2 if tells else 1]
            channel = self.channels[number]
            if not tells:
                self.waiting[rank] += 1
                self.blocking[rank].append(end)
                self._post_receive(channel, end)
            elif channel.receives:
                self._match(end, channel.receives.popleft())
            else:
                channel.sends.append(end)

    def _size(self, row: int, occurrence: int) -> int:
        first, last = self.script.size_first[row : row + 2].tolist()
        if first == last:
            return 0
        column = occurrence * (last - first) // int(self.script.occurrences[row])
        return int(self.script.size_bytes[first + column])

    def _post_send(self, channel: _Channel, send: _End) -> None:
        if channel.receives:
            self._match(send, channel.receives.popleft())
            return
        channel.sends.append(send)
        mode = int(self.script.mode[send.row])
        if not (mode & SYNCHRONOUS or (self.rendezvous and not mode & BUFFERED)):
            self._complete(send)

    def _post_receive(self, channel: _Channel, receive: _End) -> None:
        if channel.sends:
            self._match(channel.sends.popleft(), receive)
        else:
            channel.receives.append(receive)

    def _match(self, send: _End, receive: _End) -> None:
        self.counts["truncated"] += send.size > receive.size
        self._complete(send)
        self._complete(receive)

    def _complete(self, end: _End) -> None:
        if end.done:
            return
        end.done = True
        if end.request is not None:
            if not all(one.done for one in end.request.ends):
                return  # the other message of an Isendrecv
            end.request.done = True
            if not end.request.waited:
                return
            end.request.waited = False
        self._wake(end.rank)

    def _wake(self, rank: int) -> None:
        self.waiting[rank] -= 1
        if not self.waiting[rank] and self.blocked[rank]:
            self.blocked[rank] = False
            self.ready.append(rank)

    def _named(self, rank: int, row: int) -> list[_Request]:
        first, last = self.script.age_first[row : row + 2].tolist()
        found = []
        for age in self.script.ages[first:last].tolist():
            if age == ALL_OUTSTANDING:
                found += [one for one in self.requests[rank] if not one.gone]
                self.requests[rank] = []  # nothing names them any more
                continue
            own = (self.requests if age > 0 else self.persistent)[rank]
            if not 1 <= abs(age) <= len(own) or own[-abs(age)].gone:
                self.counts["misused"] += 1
            else:
                found.append(own[-abs(age)])
        return found

    def _start(self, rank: int, row: int) -> None:
        for request in self._named(rank, row):
            kind = int(self.script.kind[request.row])
            if kind not in PERSISTENT or request.active:
                self.counts["misused"] += 1
                continue
            request.done, request.active = False, True
            request.ends = []
            if kind == CallKind.COLLECTIVE_INIT:
                self._meet_again(rank, request)
                continue
            sends = kind == CallKind.SEND_INIT
            self._begin(rank, request.row, 0, request, sends=sends)

    def _wait(self, rank: int, row: int) -> None:
        for request in self._named(rank, row):
            if not request.done:
                request.waited = True
                self.waiting[rank] += 1
                self.blocking[rank] += request.ends
            request.active = False
            request.gone = int(self.script.kind[request.row]) not in PERSISTENT

    def _meet(
        self, rank: int, row: int, occurrence: int, request: _Request | None
    ) -> None:
        stream = int(self.script.stream[row])
        member = int(self.script.member[row])
        size = self._size(row, occurrence)
        fit = int(self.script.fit[row])
        meetings = self.meetings[stream]
        if self.attended[member] == len(meetings):
            meetings.append(_Meeting(size, fit, stream))
        meeting = meetings[self.attended[member]]
        self.attended[member] += 1
        if request is not None and self.script.kind[row] == CallKind.COLLECTIVE_INIT:
            # Creating one may wait for the others: the request is none of it.
            request.meeting, request = meeting, None
        self._attend(rank, row, size, meeting, request)

    def _meet_again(self, rank: int, request: _Request) -> None:
        """Start a persistent collective: those of one creation meet in their order."""
        assert request.meeting is not None
        row, last = request.row, request.meeting
        size = self._size(row, 0)
        if last.following is None:
            fit, stream = int(self.script.fit[row]), int(self.script.stream[row])
            last.following = _Meeting(size, fit, stream)
        self._attend(rank, row, size, last.following, request)

    def _attend(
        self,
        rank: int,
        row: int,
        size: int,
        meeting: _Meeting,
        request: _Request | None,
    ) -> None:
        fit = int(self.script.fit[row])
        if (meeting.size, meeting.fit) != (size, fit):
            self.counts["mismatched"] += not meeting.odd
            meeting.odd = True
        end = _End(rank, row, size, request)
        if request is None:
            self.waiting[rank] = 1
            self.joined[rank] = meeting
        else:
            request.ends.append(end)
            request.meeting = meeting
        meeting.arrived.append(end)
        if len(meeting.arrived) == len(self.script.streams[meeting.stream]):
            for one in meeting.arrived:
                self._complete(one)

    def waits_for(self, rank: int) -> set[int]:
        """Return the ranks that a blocked rank waits for."""
        found = {
            end.partner
            for end in self.blocking[rank]
            if not end.done and end.partner != NOBODY
        }
        meetings = [self.joined[rank]]
        meetings += [
            end.request.meeting
            for end in self.blocking[rank]
            if not end.done and end.request is not None
        ]
        for meeting in meetings:
            if meeting is not None:
                found |= self._absent(meeting)
        return found - {rank} or found

    def _absent(self, meeting: _Meeting) -> set[int]:
        arrived = {end.rank for end in meeting.arrived}
        return set(self.script.streams[meeting.stream]) - arrived

    def blocking_sends(self, rank: int) -> list[int]:
        """Return the rows of incomplete sends that a blocked rank waits for."""
        return [
            end.row
            for end in self.blocking[rank]
            if not end.done and int(self.script.kind[end.row]) in SENDING
        ]


def simulate_plain(script: Script, *, rendezvous: bool) -> SimulationOutcome:
    """Run a script (plain Python twin)."""
    return PlainSimulation(script, rendezvous=rendezvous).run()
