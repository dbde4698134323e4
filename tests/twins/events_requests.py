"""Twin of `skelgen.events.requests`, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from skelgen.events.requests import RankRequests, kernel
from skelgen.trace.format import trace_format


@dataclass(slots=True)
class _Stream:
    """Requests of one thread: serial of their creation; None once complete."""

    made: list[int | None] = field(default_factory=list)
    persistent: list[int] = field(default_factory=list)


@dataclass(slots=True)
class PlainRows:
    """Distinct rows of ages; row 0 is empty."""

    rows: dict[tuple[int, ...], int] = field(default_factory=lambda: {(): 0})

    def follow(self, rank: RankRequests) -> int:
        """Turn the references of one rank into rows of ages."""
        walk = _Walk(self, rank)
        for event in range(len(rank.variant)):
            walk.step(event)
        return walk.dropped


class _Walk:
    def __init__(self, rows: PlainRows, rank: RankRequests) -> None:
        self.rows, self.rank = rows, rank
        self.streams = [_Stream() for _ in rank.lists]
        self.creators: list[int] = []
        #: Of each request whether it is persistent, and its number among its sort.
        self.births: list[tuple[bool, int]] = []
        self.counts = [0, 0]
        self.dropped = 0
        self.lib = kernel().lib

    def step(self, event: int) -> None:
        rank, lib = self.rank, self.lib
        number = 0 if rank.stream is None else int(rank.stream[event])
        stream = self.streams[number]
        action = int(rank.action[rank.variant[event]])
        ends = bool(action & lib.SKELGEN_ACTION_ENDS)
        before = len(stream.made)
        serials: list[int | None] = []
        for element in self._elements(number, int(rank.reference[event])):
            if element > 0:
                serials.append(_take(stream, before - element + 1, ends))
            elif 0 < -element <= len(stream.persistent):
                serial = stream.persistent[-element - 1]
                serials.append(serial)
                if action & lib.SKELGEN_ACTION_STARTS:
                    stream.made.append(serial)
            else:
                serials.append(None)
        self._statuses(event, serials)
        for foreign in rank.foreign[rank.foreign["event"] == event]:
            other, wanted = int(foreign["stream"]), int(foreign["number"])
            known = other >= 0
            serials.append(_take(self.streams[other], wanted, ends) if known else None)
        self.dropped += serials.count(None)
        ages = tuple(self._age(serial) for serial in serials if serial)
        rank.reference[event] = self.rows.rows.setdefault(ages, len(self.rows.rows))
        self._create(event, stream, action)

    def _age(self, serial: int) -> int:
        lasting, number = self.births[serial - 1]
        age = self.counts[lasting] - number + 1
        return -age if lasting else age

    def _elements(self, stream: int, reference: int) -> list[int]:
        kind, value = reference & 3, reference >> 2
        constants = trace_format()
        if kind == constants["REF_AGE"]:
            return [value]
        if kind == constants["REF_PERSISTENT"]:
            return [-value]
        lists = self.rank.lists[stream]
        if kind == constants["REF_LIST"] and 1 <= value < len(lists.first):
            return [int(v) for v in lists.values[slice(*lists.first[value - 1 :][:2])]]
        return []

    def _statuses(self, event: int, serials: list[int | None]) -> None:
        for i in (self.rank.statuses["event"] == event).nonzero()[0]:
            position = int(self.rank.statuses["position"][i])
            serial = serials[position] if position < len(serials) else None
            creator = self.creators[serial - 1] if serial else -1
            self.rank.statuses["creator"][i] = creator

    def _create(self, event: int, stream: _Stream, action: int) -> None:
        serial = 0
        if action & self.lib.SKELGEN_ACTION_NEW:
            self.creators.append(event)
            lasting = bool(action & self.lib.SKELGEN_ACTION_LASTING)
            self.counts[lasting] += 1
            self.births.append((lasting, self.counts[lasting]))
            serial = len(self.creators)
        if action & self.lib.SKELGEN_ACTION_CREATES:
            stream.made.append(serial)
        if action & self.lib.SKELGEN_ACTION_PERSISTENT:
            stream.persistent.append(serial)


def _take(stream: _Stream, number: int, ends: bool) -> int | None:
    if not 0 < number <= len(stream.made):
        return None
    serial = stream.made[number - 1]
    if ends:
        stream.made[number - 1] = None
    return serial
