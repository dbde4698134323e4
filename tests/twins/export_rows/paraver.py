"""Paraver: a .prv with states, events and messages, its .pcf of names and .row."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TextIO

from skelgen.documents.text_of_bytes import printable
from skelgen.events.functions import CallKind
from skelgen.export import paraver_names as names
from skelgen.units import NS_PER_S
from tests.twins.export_rows.messages import Messages
from tests.twins.export_rows.run import TraceStreams
from tests.twins.export_rows.stream import Stream
from tests.twins.export_rows.types import Event, ExportedCall, ExportRole, Written
from tests.twins.export_rows.volume import is_root, volume

_COLLECTIVES = (CallKind.COLLECTIVE, CallKind.ICOLLECTIVE)
_Line = tuple[int, str]


def write(run: TraceStreams, target: Path) -> Written:
    """Write the three files into a folder."""
    stem = run.trace.folder.resolve().name or "run"
    messages = Messages(run)
    writer = _Writer(run, messages)
    paths = tuple(target / f"{stem}.{end}" for end in ("prv", "pcf", "row"))
    with paths[0].open("w", encoding="utf-8") as out:
        writer.write(out)
    paths[1].write_text(writer.labels(), "utf-8")
    paths[2].write_text(writer.places.rows(), "utf-8")
    lost = messages.alone + 2 * (messages.pairs - writer.messages)
    left = f"left out: {lost} halves of messages that were not complete"
    records = {
        "states": writer.states,
        "events": writer.events,
        "messages": writer.messages,
    }
    return Written(paths, records, (left,) if lost else ())


class _Places:
    """Tasks, threads, nodes and processors as Paraver numbers them, from 1.

    The trace does not say on which core a thread ran: each has one of its own.
    """

    def __init__(self, run: TraceStreams) -> None:
        self.run = run
        ranks = range(run.trace.world_size)
        by_rank = {rank: run.streams_of(rank) for rank in ranks}
        first = run.streams[0].file.header.host
        self.hosts = {
            rank: streams[0].file.header.host if streams else first
            for rank, streams in by_rank.items()
        }
        self.nodes = {
            host: i for i, host in enumerate(dict.fromkeys(self.hosts.values()), 1)
        }
        self.threads = {rank: max(len(by_rank[rank]), 1) for rank in ranks}
        self.prefixes = [""] * len(run.streams)
        self.cpus: list[tuple[int, str]] = []
        cpu = 0
        for host in self.nodes:
            begin = cpu
            for rank in (rank for rank in ranks if self.hosts[rank] == host):
                for i, stream in enumerate(by_rank[rank]):
                    place = f"{cpu + i + 1}:1:{rank + 1}:{i + 1}"
                    self.prefixes[stream.number] = place
                cpu += self.threads[rank]
            self.cpus.append((cpu - begin, host))

    def header(self) -> str:
        """Return the first lines of the .prv file."""
        run = self.run
        second = run.streams[0].file.header.start_realtime_ns // NS_PER_S
        date = datetime.fromtimestamp(second, UTC).strftime("%d/%m/%Y at %H:%M")
        end_ns = max(stream.end_ns for stream in run.streams)
        cpus = ",".join(str(count) for count, _ in self.cpus)
        tasks = ",".join(
            f"{self.threads[rank]}:{self.nodes[host]}"
            for rank, host in self.hosts.items()
        )
        lines = [
            f"#Paraver ({date}):{end_ns}_ns:{len(self.nodes)}({cpus}):1:"
            f"{run.trace.world_size}({tasks}),{len(run.communicators)}"
        ]
        for number, one in enumerate(run.communicators, 1):
            members = [rank + 1 for rank in one.members + one.remote if rank >= 0]
            listed = "".join(f":{member}" for member in members)
            lines.append(f"c:1:{number}:{len(members)}{listed}")
        return "\n".join(lines) + "\n"

    def rows(self) -> str:
        """Return the .row file: names of processors, nodes and threads."""
        cpus = [f"{i + 1}.{host}" for count, host in self.cpus for i in range(count)]
        threads = [
            f"THREAD 1.{rank + 1}.{thread + 1}"
            for rank, count in self.threads.items()
            for thread in range(count)
        ]
        levels = {"CPU": cpus, "NODE": list(self.nodes), "THREAD": threads}
        return "\n".join(
            "\n".join([f"LEVEL {level} SIZE {len(rows)}", *map(printable, rows), ""])
            for level, rows in levels.items()
        )


class _Writer:
    def __init__(self, run: TraceStreams, messages: Messages) -> None:
        self.run, self.found, self.places = run, messages, _Places(run)
        self.states = self.events = self.messages = 0
        self._own: dict[str, int] = {}
        self._used: dict[int, dict[int, str]] = {}
        self._coded: dict[ExportedCall, tuple[int, int, int]] = {}

    def write(self, out: TextIO) -> None:
        """Write the .prv file, its records in order of time."""
        out.write(self.places.header())
        lines = [self._lines(stream) for stream in self.run.streams]
        for _, line in heapq.merge(*lines, key=itemgetter(0)):
            out.write(line)

    def _lines(self, stream: Stream) -> Iterator[_Line]:
        """Return the records of a stream with their times."""
        place = self.places.prefixes[stream.number]
        since, state = 0, names.NOT_CREATED
        for event in self.run.events_alone(stream):
            kind, value, inside = self._code(event.call)
            begin, end = event.enter_ns, event.leave_ns
            # The state before begins at the end of the last event: this is its turn.
            yield since, self._state(place, since, begin, state)
            sizes = self._sizes(event, stream.rank)
            text = self._state(place, begin, end, inside)
            text += f"2:{place}:{begin}:{kind}:{value}{sizes}\n"
            yield begin, text + "".join(self._messages(event, place))
            yield end, f"2:{place}:{end}:{kind}:0\n"
            self.events += 2
            since, state = end, names.RUNNING

    def _state(self, place: str, begin: int, end: int, state: int) -> str:
        if end <= begin:
            return ""
        self.states += 1
        return f"1:{place}:{begin}:{end}:{state}\n"

    def _code(self, call: ExportedCall) -> tuple[int, int, int]:
        """Return type, value and state of a call."""
        coded = self._coded.get(call)
        if coded is None:
            if len(self._coded) > 1 << 16:
                self._coded.clear()
            function = call.function
            value = names.event_value(function)
            if not value:
                own = names.FIRST_OWN_VALUE + len(self._own)
                value = self._own.setdefault(names.short(function), own)
            coded = names.event_type(function), value, names.state(function)
            self._used.setdefault(coded[0], {})[value] = names.short(function)
            self._coded[call] = coded
        return coded

    def _sizes(self, event: Event, rank: int) -> str:
        """Return what Extrae adds to the begin of a collective."""
        call = event.call
        if call.kind not in _COLLECTIVES or call.communicator < 0:
            return ""
        table = self.run.communicators
        sent, received = volume(call, event.size_bytes, event.sides, table, rank)
        text = f":{names.SEND_SIZE}:{sent}:{names.RECEIVE_SIZE}:{received}"
        if call.root != -1 and is_root(call, table, rank):
            text += f":{names.IS_ROOT}:1"
        return f"{text}:{names.COMMUNICATOR}:{call.communicator + 1}"

    def _messages(self, event: Event, place: str) -> Iterator[str]:
        for half in event.posts:
            found = self.found.other(half) if half.role == ExportRole.SEND else None
            if found is None or not found.end_ns:
                continue
            self.messages += 1
            yield (
                f"3:{place}:{half.begin_ns}:{event.leave_ns}:"
                f"{self.places.prefixes[found.stream]}:{found.begin_ns}:{found.end_ns}:"
                f"{half.size_bytes}:{half.tag}\n"
            )

    def labels(self) -> str:
        """Return the .pcf file: what the numbers mean."""
        states = "\n".join(f"{n}    {name}" for n, (name, _) in names.STATES.items())
        colours = "\n".join(
            f"{n}    {{{red},{green},{blue}}}"
            for n, (_, (red, green, blue)) in names.STATES.items()
        )
        parts = [
            "DEFAULT_OPTIONS\n\nLEVEL               THREAD\n"
            "UNITS               NANOSEC\nLOOK_BACK           100\n"
            "SPEED               1\nFLAG_ICONS          ENABLED\n"
            "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37",
            "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is",
            f"STATES\n{states}",
            f"STATES_COLOR\n{colours}",
        ]
        for kind, used in sorted(self._used.items()):
            values = "\n".join(f"{n}   MPI_{used[n]}" for n in sorted(used))
            label = f"EVENT_TYPE\n9   {kind}    {names.TYPE_NAMES[kind]}"
            parts.append(f"{label}\nVALUES\n{values}\n0   Outside MPI")
        sizes = "\n".join(f"1   {n}    {what}" for n, what in names.SIZE_NAMES.items())
        return "\n\n\n".join([*parts, f"EVENT_TYPE\n{sizes}"]) + "\n"
