"""Follow the requests of one rank: what begins and what ends in each event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from skelgen.events.types import PROC_NULL, WILDCARD_SOURCE, WILDCARD_TAG
from skelgen.trace.format import trace_format
from tests.twins.export_rows.spool import RecordSpool
from tests.twins.export_rows.stream import Raw, Stream
from tests.twins.export_rows.types import (
    CallPart,
    Event,
    ExportedCall,
    ExportRole,
    Half,
    Sides,
)

_MOST_LISTS = 1 << 12
_KNOWN = trace_format()
_CREATES, _PERSISTENT = _KNOWN["SHAPE_CREATES"], _KNOWN["SHAPE_PERSISTENT"]
_STARTS, _COMPLETES = _KNOWN["SHAPE_STARTS"], _KNOWN["SHAPE_COMPLETES"]
_RELEASES, _CANCELLED = _KNOWN["SHAPE_RELEASES"], _KNOWN["CANCELLED"]
_REF_AGE, _REF_LIST = _KNOWN["REF_AGE"], _KNOWN["REF_LIST"]
_REF_PERSISTENT = _KNOWN["REF_PERSISTENT"]
_WILDCARDS = WILDCARD_SOURCE | WILDCARD_TAG


class Sources:
    """What the messages of receives with wildcards had, by number of the request.

    Parameters
    ----------
    spool : RecordSpool
        Records of two numbers.
    """

    #: Added to what is stored, for an empty record reads as zeros.
    _SHIFT = 16
    LAYOUT = "<ii"

    def __init__(self, spool: RecordSpool) -> None:
        self._spool = spool

    def put(self, request: int, source: int, tag: int) -> None:
        """Note what a request received."""
        self._spool.put(request, source + self._SHIFT, max(tag, -1))

    def get(self, request: int) -> tuple[int, int] | None:
        """Return source and tag; None when the request never received anything."""
        source, tag = self._spool.get(request)
        return (source - self._SHIFT, tag) if source else None


class Follower:
    """The requests of one stream while its events go by.

    Parameters
    ----------
    stream : Stream
    sources : Sources or None
        None while they are not known or where there are none.
    """

    def __init__(self, stream: Stream, sources: Sources | None = None) -> None:
        self.stream, self.sources = stream, sources
        self.open: dict[int, tuple[Half, ...]] = {}
        self._persistent: dict[int, tuple[ExportedCall, int, Sides | None]] = {}
        self._made = self._persistent_made = self._messages = 0
        self._lists: dict[int, list[int]] = {}

    def step(self, raw: Raw, others: Mapping[int, Follower]) -> Event:
        """Take the next event.

        Parameters
        ----------
        raw : Raw
        others : mapping of int to Follower
            Those of all threads of the rank, by thread.
        """
        call = raw.call
        posts: tuple[Half, ...] = ()
        ends: tuple[Half, ...] = ()
        uses = call.request_flags
        if not uses:
            if call.parts:
                posts = ends = self._post(call, raw.size_bytes, raw, 0)
        elif uses & _CREATES:
            self._made += 1
            posts = self._post(call, raw.size_bytes, raw, self._made)
            self.open[self._made] = posts
        elif uses & _PERSISTENT:
            self._persistent_made += 1
            kept = (call, raw.size_bytes, raw.sides)
            self._persistent[self._persistent_made] = kept
        elif uses & _STARTS:
            posts = self._start(raw)
        else:
            ends = self._end(raw, others)
        return Event(*raw[:7], posts, ends)

    def count(self, raw: Raw) -> None:
        """Take the next event when only the numbers of requests matter."""
        if raw.call.request_flags & _CREATES:
            self._made += 1
        elif raw.call.request_flags & _STARTS:
            self._made += len(self.elements(raw.reference))

    def elements(self, reference: int) -> list[int]:
        """Return the ages that a reference names; persistent requests are negative."""
        kind, value = reference & 3, reference >> 2
        if kind == _REF_AGE:
            return [value]
        if kind == _REF_PERSISTENT:
            return [-value]
        if kind != _REF_LIST:
            return []
        found = self._lists.get(value)
        if found is None:
            if len(self._lists) >= _MOST_LISTS:
                self._lists.clear()
            ragged = self.stream.file.definitions.lists
            first, end = ragged.first[value - 1 : value + 1].tolist()
            found = self._lists[value] = ragged.values[first:end].tolist()
        return found

    def number(self, age: int) -> int:
        """Return the number of the request that has an age now."""
        return self._made - age + 1

    def _post(
        self, call: ExportedCall, size_bytes: int, raw: Raw, request: int
    ) -> tuple[Half, ...]:
        return tuple(
            self._half(call, part, size_bytes, raw, request) for part in call.parts
        )

    def _half(
        self,
        call: ExportedCall,
        part: CallPart,
        size_bytes: int,
        raw: Raw,
        request: int,
    ) -> Half:
        role, peer, partner, tag = part
        ordinal = -1
        if role <= ExportRole.RECEIVE:
            ordinal = self._messages
            self._messages += 1
        if role == ExportRole.RECEIVE and request and call.flags & _WILDCARDS:
            peer, partner, tag = self._resolved(call, part, request)
        return Half(
            self.stream.number,
            ordinal,
            role,
            call,
            peer,
            partner,
            tag,
            size_bytes,
            raw.sides,
            raw.enter_ns,
            request,
        )

    def _resolved(
        self, call: ExportedCall, part: CallPart, request: int
    ) -> tuple[int, int, int]:
        found = self.sources.get(request) if self.sources is not None else None
        if found is None:
            return -1, -1, part.tag
        source, tag = found
        if source == _CANCELLED:
            return PROC_NULL, -1, part.tag
        peer = source if call.flags & WILDCARD_SOURCE else part.peer
        return peer, self.stream.partner(call.communicator, peer), tag

    def _start(self, raw: Raw) -> tuple[Half, ...]:
        posts: tuple[Half, ...] = ()
        for element in self.elements(raw.reference):
            self._made += 1
            known = self._persistent.get(-element)
            if known is None:
                continue
            call, size_bytes, sides = known
            raw = raw._replace(sides=sides)
            halves = self._post(call, size_bytes, raw, self._made)
            self.open[self._made] = halves
            posts += halves
        return posts

    def _end(self, raw: Raw, others: Mapping[int, Follower]) -> tuple[Half, ...]:
        ends: list[Half] = []
        for element in self.elements(raw.reference):
            if element > 0:
                ends += self.open.pop(self.number(element), ())
            elif raw.call.request_flags & _RELEASES:
                self._persistent.pop(-element, None)
        for thread, number in raw.foreign:
            if thread in others:
                ends += others[thread].open.pop(number, ())
        return tuple(ends)


def follow(raws: Iterable[Raw], followers: Mapping[int, Follower]) -> Iterator[Event]:
    """Follow the requests of a rank through its events in order of time.

    Parameters
    ----------
    raws : iterable of Raw
        Of all threads of the rank.
    followers : mapping of int to Follower
        By thread.
    """
    of_stream = {one.stream.number: one for one in followers.values()}
    for raw in raws:
        yield of_stream[raw.stream].step(raw, followers)


def find_sources(stream: Stream, spool: RecordSpool, block_events: int) -> Sources:
    """Go through a stream once and note what its wildcards received.

    They are known only where a receive completes, later than where it is posted.
    """
    sources = Sources(spool)
    follower = Follower(stream)
    for raw in stream.raw_events(block_events):
        if raw.statuses:
            elements = follower.elements(raw.reference)
            for position, source, tag in raw.statuses:
                if position < len(elements) and elements[position] > 0:
                    sources.put(follower.number(elements[position]), source, tag)
        follower.count(raw)
    return sources
