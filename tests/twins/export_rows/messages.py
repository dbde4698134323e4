"""Find the other half of each message without holding the messages in memory."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from tests.twins.export_rows.run import TraceStreams
from tests.twins.export_rows.spool import RecordSpool
from tests.twins.export_rows.types import ExportRole, Half

_LAYOUT = "<qqqqq"
_Channel = tuple[int, int, int, int]


class Found(NamedTuple):
    """Half a message as the other side needs it.

    Attributes
    ----------
    stream, ordinal : int
        Which half it is.
    size_bytes : int
        What was sent, or the capacity of the receive [bytes].
    begin_ns, end_ns : int
        When it was posted and when it was complete [ns]; an end of 0: never.
    """

    stream: int
    ordinal: int
    size_bytes: int
    begin_ns: int
    end_ns: int


class Messages:
    """The halves of all messages of a run, by stream and ordinal.

    Parameters
    ----------
    run : TraceStreams

    Attributes
    ----------
    pairs : int
        Messages whose two halves were found.
    alone : int
        Halves without another.
    """

    def __init__(self, run: TraceStreams) -> None:
        self._run = run
        self._spools = [RecordSpool(_LAYOUT, run.folder) for _ in run.streams]
        # What goes to ranks without a file would wait for ever.
        self._present = frozenset(run.ranks)
        self._waiting: dict[_Channel, tuple[ExportRole, deque[Half]]] = {}
        self.pairs = self.alone = 0
        for event in run.events():
            for half in event.posts:
                if half.role <= ExportRole.RECEIVE:
                    self._post(half)
            for half in event.ends:
                if half.role <= ExportRole.RECEIVE:
                    self._change(half, end_ns=event.leave_ns)
        self.alone += sum(len(halves) for _, halves in self._waiting.values())
        self._waiting.clear()

    def other(self, half: Half) -> Found | None:
        """Return the other half of a message; None when there is none."""
        stream, ordinal, *_ = self._spools[half.stream].get(half.ordinal)
        if not stream:
            return None
        _, _, size, begin, end = self._spools[stream - 1].get(ordinal)
        return Found(stream - 1, ordinal, size, begin, end)

    def _post(self, half: Half) -> None:
        own = (0, 0, half.size_bytes, half.begin_ns, 0)
        self._spools[half.stream].put(half.ordinal, *own)
        if half.partner not in self._present:
            self.alone += 1
            return
        channel = self._channel(half)
        role, halves = self._waiting.get(channel, (half.role, None))
        if halves is None or role == half.role:
            if halves is None:
                self._waiting[channel] = half.role, deque([half])
            else:
                halves.append(half)
            return
        other = halves.popleft()
        if not halves:
            del self._waiting[channel]
        self.pairs += 1
        self._change(half, other=other)
        self._change(other, other=half)

    def _channel(self, half: Half) -> _Channel:
        own = self._run.streams[half.stream].rank
        ends = (
            (own, half.partner) if half.role == ExportRole.SEND else (half.partner, own)
        )
        return self._run.canonical[half.call.communicator], *ends, half.tag

    def _change(self, half: Half, other: Half | None = None, end_ns: int = 0) -> None:
        spool = self._spools[half.stream]
        stream, ordinal, size, begin, end = spool.get(half.ordinal)
        if other is not None:
            stream, ordinal = other.stream + 1, other.ordinal
        spool.put(half.ordinal, stream, ordinal, size, begin, end_ns or end)
