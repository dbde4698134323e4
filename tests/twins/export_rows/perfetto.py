"""Trace Event JSON: what ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from skelgen.events.functions import COLLECTIVES
from skelgen.events.types import FAILED_POLL
from tests.twins.export_rows.messages import Messages
from tests.twins.export_rows.run import TraceStreams
from tests.twins.export_rows.stream import Stream
from tests.twins.export_rows.types import Event, ExportedCall, ExportRole, Written
from tests.twins.export_rows.volume import volume

_FLOW = '"name":"message","cat":"message"'


def write(run: TraceStreams, target: Path) -> Written:
    """Write one process for each rank, one track for each stream, one slice a call.

    Arrows lead from the call that sends to the call that completes the receive.
    """
    messages = Messages(run)
    with _opened(target) as out:
        writer = _Writer(run, messages, out)
        writer.write()
    note = f"{messages.alone} messages without their other half have no arrow"
    return Written(
        paths=(target,),
        records={"slices": writer.slices, "arrows": writer.arrows},
        notes=(note,) if messages.alone else (),
    )


@contextmanager
def _opened(target: Path) -> Iterator[TextIO]:
    """Open the output, compressed when its name says so."""
    with target.open("wb") as raw:
        if target.suffix != ".gz":
            with io.TextIOWrapper(raw, "utf-8", write_through=False) as out:
                yield out
            return
        with (
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
            io.TextIOWrapper(packed, "utf-8") as out,
        ):
            yield out


def microseconds(time_ns: int) -> str:
    """Write a time with the unit of the format.

    Examples
    --------
    >>> microseconds(1234567)
    '1234.567'
    """
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


class _Writer:
    """Writes events one by one."""

    def __init__(self, run: TraceStreams, messages: Messages, out: TextIO) -> None:
        self.run, self.messages, self.out = run, messages, out
        self.slices = self.arrows = 0
        self._heads: dict[ExportedCall, str] = {}
        self._separator = "\n"
        # Pids and tids begin at 1: Perfetto takes 0 for the kernel's idle process.
        self._tracks = [
            f'"pid":{stream.rank + 1},"tid":{stream.number + 1}'
            for stream in run.streams
        ]

    def write(self) -> None:
        """Write everything."""
        other = json.dumps(self._facts())
        self.out.write(f'{{"displayTimeUnit":"ns","otherData":{other},"traceEvents":[')
        for rank in self.run.ranks:
            self._names(rank)
            for event in self.run.events_of(rank):
                self._slice(event)
                self._arrows(event)
        self.out.write("\n]}\n")

    def _facts(self) -> dict[str, object]:
        header = self.run.trace.files[0].header
        return {
            "program": header.program,
            "mpi": header.mpi_library,
            "ranks": self.run.trace.world_size,
            "origin_realtime_ns": header.start_realtime_ns,
        }

    def _record(self, text: str) -> None:
        self.out.write(f"{self._separator}{{{text}}}")
        self._separator = ",\n"

    def _names(self, rank: int) -> None:
        streams = self.run.streams_of(rank)
        host = streams[0].file.header.host
        self._meta(streams[0], "process_name", name=f"rank {rank} on {host}")
        self._meta(streams[0], "process_sort_index", sort_index=rank)
        for stream in streams:
            self._meta(stream, "thread_name", name=f"thread {stream.thread}")

    def _meta(self, stream: Stream, what: str, **values: object) -> None:
        track, values_text = self._tracks[stream.number], json.dumps(values)
        self._record(f'"ph":"M",{track},"name":"{what}","args":{values_text}')

    def _slice(self, event: Event) -> None:
        head = self._heads.get(event.call)
        if head is None:
            if len(self._heads) > 1 << 16:
                self._heads.clear()
            head = self._heads[event.call] = self._head(event.call)
        begin = microseconds(event.enter_ns)
        length = microseconds(event.leave_ns - event.enter_ns)
        self._record(
            f'"ph":"X",{self._tracks[event.stream]},"ts":{begin},"dur":{length},'
            f"{head}{self._amount(event)}}}"
        )
        self.slices += 1

    def _head(self, call: ExportedCall) -> str:
        """Write down what is the same for all events of a call."""
        values: dict[str, object] = {}
        if call.communicator >= 0:
            one = self.run.communicators[call.communicator]
            values["communicator"] = f"{one.kind} {call.communicator}"
        for part in call.parts:
            if part.role <= ExportRole.RECEIVE:
                word = "to" if part.role == ExportRole.SEND else "from"
                values[word] = part.partner if part.partner >= 0 else "any"
                values["tag" if word == "to" or "tag" not in values else "tag2"] = (
                    part.tag if part.tag >= 0 else "any"
                )
        if call.root >= 0:
            values["root"] = call.root
        if call.site:
            values["site"] = self.run.sites[call.site]
        name = json.dumps(call.function)
        return f'"name":{name},"cat":"mpi","args":{json.dumps(values)[:-1]}'

    def _amount(self, event: Event) -> str:
        """Write down what differs from event to event."""
        call = event.call
        separator = ", " if call.communicator >= 0 or call.parts or call.site else ""
        if call.flags & FAILED_POLL:
            return f'{separator}"polls": {event.size_bytes}'
        if event.posts and event.posts[0].role <= ExportRole.RECEIVE:
            return f'{separator}"bytes": {event.posts[0].size_bytes}'
        if event.ends:
            return f'{separator}"requests": {len(event.ends)}'
        if not event.size_bytes and event.sides is None:
            return ""
        if call.kind not in COLLECTIVES:
            return f'{separator}"bytes": {event.size_bytes}'
        rank = self.run.streams[event.stream].rank
        table = self.run.communicators
        sent, received = volume(call, event.size_bytes, event.sides, table, rank)
        return f'{separator}"bytes_sent": {sent}, "bytes_received": {received}'

    def _arrows(self, event: Event) -> None:
        track = self._tracks[event.stream]
        for half in event.posts:
            if half.role == ExportRole.SEND and (found := self.messages.other(half)):
                number = self._number(half.stream, half.ordinal)
                at = microseconds(event.enter_ns)
                if found.end_ns:
                    self._record(f'"ph":"s",{track},"ts":{at},"id":{number},{_FLOW}')
                    self.arrows += 1
        for half in event.ends:
            if half.role == ExportRole.RECEIVE and (found := self.messages.other(half)):
                number = self._number(found.stream, found.ordinal)
                # Within the slice, for the arrow is tied to the one around it.
                inside = max(event.enter_ns, event.leave_ns - 1)
                at = microseconds(inside)
                self._record(
                    f'"ph":"f","bp":"e",{track},"ts":{at},"id":{number},{_FLOW}'
                )

    def _number(self, stream: int, ordinal: int) -> int:
        """Return a number of a message that no other one has."""
        return ordinal * len(self.run.streams) + stream + 1
