"""Trace Event JSON: what ui.perfetto.dev and chrome://tracing open."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import COLLECTIVES
from skelgen.events.types import FAILED_POLL, PROC_NULL
from skelgen.export.columns import Columns
from skelgen.export.kernel import halves
from skelgen.export.messages import Messages
from skelgen.export.run import TraceStreams
from skelgen.export.stream import Stream
from skelgen.export.text import Column, Hole, RecordRows, TemplatesByCode, TextWriter
from skelgen.export.types import Batch, ExportedCall, ExportRole, Written
from skelgen.export.volume import Volumes

_FLOW = '"name":"message","cat":"message"'
#: Columns of a slice.
_TRACK, _BEGIN, _LENGTH, _TO, _TAG, _FROM, _TAG2, _ROOT, _AMOUNT, _SECOND = range(10)
#: What differs from event to event, as it stands behind the rest.
_AMOUNTS = (
    (),
    ('"polls": ', Hole(_AMOUNT)),
    ('"bytes": ', Hole(_AMOUNT)),
    ('"requests": ', Hole(_AMOUNT)),
    ('"bytes_sent": ', Hole(_AMOUNT), ', "bytes_received": ', Hole(_SECOND)),
)
_NOTHING, _POLLS, _BYTES, _REQUESTS, _BOTH = range(5)
#: Whether a slice has a first and a second partner, and a root.
_WITH_FIRST, _WITH_SECOND, _WITH_ROOT, _CODES = 8, 16, 32, 64


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
def _opened(target: Path) -> Iterator[BinaryIO]:
    """Open the output, compressed when its name says so."""
    with target.open("wb") as raw:
        if target.suffix != ".gz":
            yield raw
            return
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
            yield packed  # type: ignore[misc]


class _Writer:
    """Writes rank by rank."""

    def __init__(self, run: TraceStreams, messages: Messages, out: BinaryIO) -> None:
        self.run, self.messages, self.out = run, messages, out
        self.slices = self.arrows = 0
        self._separator = "\n"
        self._text, self._volumes = TextWriter(), Volumes(run)
        self._slices = TemplatesByCode(self._text, self._parts)
        calls, lib = run.calls, halves().lib
        messages = lib.SKELGEN_HALVES_SENDS | lib.SKELGEN_HALVES_RECEIVES
        second = lib.SKELGEN_HALVES_RECEIVES_SECOND
        self._first = calls.column(lambda call: bool(call.parts & messages))
        self._first *= _WITH_FIRST
        self._second = calls.column(lambda call: bool(call.parts & second))
        self._second *= _WITH_SECOND
        self._root = calls.column(lambda call: call.rooted) * _WITH_ROOT
        self._code = np.arange(len(calls.table)) * _CODES
        self._code += self._first + self._second + self._root
        self._polls = calls.column(lambda call: call.flags & FAILED_POLL) != 0
        collective = calls.column(lambda call: call.kind in COLLECTIVES) != 0
        self._which = np.where(collective, _BOTH, _BYTES)
        # Pids and tids begin at 1: Perfetto takes 0 for the kernel's idle process.
        self._tracks = [
            f'"pid":{stream.rank + 1},"tid":{stream.number + 1}'
            for stream in run.streams
        ]
        for text in self._tracks:
            self._text.names.number(text)
        track, at = Hole(0, "name"), Hole(1, "thousandths")
        begin = (',\n{"ph":"s",', track, ',"ts":', at, ',"id":', Hole(2))
        end = (',\n{"ph":"f","bp":"e",', track, ',"ts":', at, ',"id":', Hole(2))
        self._begin = self._text.template(*begin, f",{_FLOW}}}")
        self._end = self._text.template(*end, f",{_FLOW}}}")

    def write(self) -> None:
        """Write everything."""
        other = json.dumps(self._facts())
        begin = f'{{"displayTimeUnit":"ns","otherData":{other},"traceEvents":['
        self.out.write(begin.encode())
        for rank in self.run.ranks:
            self._names(rank)
            for batch in self.run.batches_of(rank):
                groups = [self._slice_rows(batch, rank), *self._arrow_rows(batch)]
                self._text.write(groups, self.out)
        self.out.write(b"\n]}\n")

    def _facts(self) -> dict[str, object]:
        header = self.run.trace.files[0].header
        return {
            "program": header.program,
            "mpi": header.mpi_library,
            "ranks": self.run.trace.world_size,
            "origin_realtime_ns": header.start_realtime_ns,
        }

    def _record(self, text: str) -> None:
        self.out.write(f"{self._separator}{{{text}}}".encode())
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

    def _slice_rows(self, batch: Batch, rank: int) -> RecordRows:
        events = batch.events
        which, amount, other = self._amounts(batch, rank)
        code = self._codes(events) + which
        self.slices += len(events)
        columns: list[Column] = [
            events["stream"],
            events["enter_ns"],
            events["leave_ns"] - events["enter_ns"],
            *(events[name] for name in ("partner", "tag", "partner2", "tag2", "peer")),
            amount,
            other,
        ]
        return RecordRows(np.arange(len(events)), self._slices.numbers(code), columns)

    def _codes(self, events: Columns) -> NDArray[np.int64]:
        """Return the code of each event's template, but for what it has an amount of.

        Few events lack a partner or root that their call can have.
        """
        call, peer = events["call"], events["peer"]
        code: NDArray[np.int64] = self._code[call]
        none = np.flatnonzero(peer < 0)
        lacks = self._first[call[none]] * (peer[none] == PROC_NULL)
        code[none] -= lacks + self._root[call[none]]
        none = np.flatnonzero(events["peer2"] == PROC_NULL)
        code[none] -= self._second[call[none]]
        return code

    def _parts(self, code: int) -> tuple[str | Hole, ...]:
        """Return the template of slices of a call, see `_codes`."""
        call = self.run.calls.table[code // _CODES]
        lib = halves().lib
        requests = lib.SKELGEN_HALVES_COLLECTIVE | lib.SKELGEN_HALVES_OTHER
        partners = code & (_WITH_FIRST | _WITH_SECOND) or call.parts & requests
        follows = call.communicator >= 0 or partners or call.site
        amount = _AMOUNTS[code % _WITH_FIRST]
        return (
            ',\n{"ph":"X",',
            Hole(_TRACK, "name"),
            ',"ts":',
            Hole(_BEGIN, "thousandths"),
            ',"dur":',
            Hole(_LENGTH, "thousandths"),
            f',"name":{json.dumps(call.function)},"cat":"mpi","args":{{',
            *_joined(self._arguments(call, code)),
            ", " if follows and amount else "",
            *amount,
            "}}",
        )

    def _arguments(
        self, call: ExportedCall, code: int
    ) -> Iterator[tuple[str | Hole, ...]]:
        """Return what is the same in all slices of a code, one after the other."""
        if call.communicator >= 0:
            one = self.run.communicators[call.communicator]
            named = json.dumps(f"{one.kind} {call.communicator}")
            yield (f'"communicator": {named}',)
        sends = bool(call.parts & halves().lib.SKELGEN_HALVES_SENDS)
        tags = iter(("tag", "tag2"))
        for bit, word, peer, tag in (
            (_WITH_FIRST, "to" if sends else "from", _TO, _TAG),
            (_WITH_SECOND, "from", _FROM, _TAG2),
        ):
            if code & bit:
                yield f'"{word}": ', Hole(peer, "or", '"any"')
                yield f'"{next(tags)}": ', Hole(tag, "or", '"any"')
        if code & _WITH_ROOT:
            yield '"root": ', Hole(_ROOT)
        if call.site:
            yield (f'"site": {json.dumps(self.run.sites[call.site])}',)

    def _amounts(
        self, batch: Batch, rank: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return what each event has an amount of, the amount and a second one."""
        events, call = batch.events, batch.events["call"]
        size, sides, ended = (
            events[name] for name in ("size_bytes", "sides", "end_count")
        )
        which, amount = self._which[call], size.copy()
        none = np.flatnonzero(size == 0)
        which[none[sides[none] < 0]] = _NOTHING
        ends = np.flatnonzero(ended)
        which[ends], amount[ends] = _REQUESTS, ended[ends]
        posts = np.flatnonzero(events["post_count"])
        first = batch.posts.at(events["post_first"][posts])
        messages = first["role"] <= ExportRole.RECEIVE
        posts = posts[messages]
        which[posts], amount[posts] = _BYTES, first["size_bytes"][messages]
        if self._polls.any():
            polls = np.flatnonzero(self._polls[call])
            which[polls], amount[polls] = _POLLS, size[polls]
        second, both = amount, np.flatnonzero(which == _BOTH)
        if len(both):
            some = events.at(both)
            second = amount.copy()
            amount[both], second[both] = self._volumes.volumes(
                rank, *(some[name] for name in ("call", "peer", "size_bytes", "sides"))
            )
        return which, amount, second

    def _arrow_rows(self, batch: Batch) -> tuple[RecordRows, RecordRows]:
        events = batch.events
        sends = batch.posts.at(batch.posts["role"] == ExportRole.SEND)
        sends = sends.at(self.messages.others(sends)["end_ns"] != 0)
        self.arrows += len(sends)
        number = self._number(sends["stream"], sends["ordinal"])
        event = sends["event"]
        begins = [events["stream"][event], events["enter_ns"][event], number]
        receives = batch.ends.at(batch.ends["role"] == ExportRole.RECEIVE)
        others = self.messages.others(receives)
        found = others["stream"] >= 0
        end = receives["event"][found]
        number = self._number(others["stream"][found], others["ordinal"][found])
        # Within the slice, for the arrow is tied to the one around it.
        inside = np.maximum(events["enter_ns"][end], events["leave_ns"][end] - 1)
        ends = [events["stream"][end], inside, number]
        return RecordRows(event, self._begin, begins), RecordRows(end, self._end, ends)

    def _number(
        self, stream: NDArray[np.int64], ordinal: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return a number of each message that no other one has."""
        return ordinal * len(self.run.streams) + stream + 1


def _joined(values: Iterable[tuple[str | Hole, ...]]) -> Iterator[str | Hole]:
    for i, value in enumerate(values):
        if i:
            yield ", "
        yield from value
