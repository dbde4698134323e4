"""Paraver: a .prv with states, events and messages, its .pcf of names and .row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.text_of_bytes import printable
from skelgen.events.functions import CallKind
from skelgen.export import paraver_names as names
from skelgen.export.messages import Messages
from skelgen.export.run import TraceStreams
from skelgen.export.stream import Stream
from skelgen.export.text import Column, Hole, RecordRows, TextLane, TextWriter, merge
from skelgen.export.types import Batch, ExportRole, Written
from skelgen.export.volume import Volumes
from skelgen.units import NS_PER_S

_COLLECTIVES = (CallKind.COLLECTIVE, CallKind.ICOLLECTIVE)


def write(run: TraceStreams, target: Path) -> Written:
    """Write the three files into a folder."""
    stem = run.trace.folder.resolve().name or "run"
    messages = Messages(run)
    writer = _Writer(run, messages)
    paths = tuple(target / f"{stem}.{end}" for end in ("prv", "pcf", "row"))
    with paths[0].open("wb") as out:
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
    """Writes the records of each stream into a lane, and merges the lanes."""

    def __init__(self, run: TraceStreams, messages: Messages) -> None:
        self.run, self.found, self.places = run, messages, _Places(run)
        self.states = self.events = self.messages = 0
        self._text, self._volumes = TextWriter(), Volumes(run)
        self._lines = _Lines.of(self._text)
        self._place = np.array(
            [self._text.names.number(p) for p in self.places.prefixes]
        )
        calls, own = run.calls, _own_values(run)
        self._type = calls.column(lambda call: names.event_type(call.function))
        self._value = calls.column(
            lambda call: (
                names.event_value(call.function)
                or own.get(names.short(call.function), 0)
            )
        )
        self._inside = calls.column(lambda call: names.state(call.function))
        self._communicator = calls.column(lambda call: call.communicator)
        sized = calls.column(lambda call: call.kind in _COLLECTIVES)
        self._sized = (sized != 0) & (self._communicator >= 0)
        self._occurs = np.zeros(len(calls.table), bool)

    def write(self, out: BinaryIO) -> None:
        """Write the .prv file, its records in order of time."""
        out.write(self.places.header().encode())
        streams = self.run.streams
        lanes = [TextLane() for _ in streams]
        batches = [self.run.batches_alone(stream) for stream in streams]
        before = [(0, names.NOT_CREATED) for _ in streams]

        def refill(number: int) -> bool:
            batch = next(batches[number], None)
            if batch is None:
                return False
            rows = self._rows(batch, streams[number], *before[number])
            self._text.lane(rows, lanes[number])
            before[number] = int(batch.events["leave_ns"][-1]), names.RUNNING
            return True

        merge(lanes, refill, out)

    def _rows(
        self, batch: Batch, stream: Stream, since_ns: int, state: int
    ) -> list[RecordRows]:
        """Return the records of a batch: states, begins, messages and ends."""
        events, lines = batch.events, self._lines
        place, key = int(self._place[stream.number]), np.arange(len(events))
        call, begin, end = (events[name] for name in ("call", "enter_ns", "leave_ns"))
        self._occurs |= np.bincount(call, minlength=len(self._occurs)) > 0
        self.events += 2 * len(events)
        # The state before an event begins at the end of the last one: it comes then.
        since = np.append(since_ns, end[:-1])
        waits, lasts = begin > since, end > begin
        self.states += int(waits.sum() + lasts.sum())
        first = lines.state if waits[0] else lines.nothing
        follows = np.append(waits[1:], False)
        after = np.append(begin[1:], 0)
        code, value = self._type[call], self._value[call]
        form, sizes = self._sizes(batch, stream.rank)
        inside = [place, begin, end, self._inside[call], code, value, *sizes]
        return [
            RecordRows(key[:1], first, [place, since, begin, state], since[:1]),
            RecordRows(key, lines.begins[2 * form + lasts], inside, begin),
            self._message_rows(batch, place),
            RecordRows(key, lines.ends[follows * 1], [place, end, code, after], end),
        ]

    def _sizes(
        self, batch: Batch, rank: int
    ) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
        """Return what Extrae adds to the begin of a collective, and in which form."""
        events, call = batch.events, batch.events["call"]
        form = self._sized[call].astype(np.int64)
        sent, received = np.zeros((2, len(call)), np.int64)
        some = np.flatnonzero(form)
        if len(some):
            part = events.at(some)
            own, peer = part["call"], part["peer"]
            form[some] += self._volumes.roots(rank, own, peer)
            sent[some], received[some] = self._volumes.volumes(
                rank, own, peer, part["size_bytes"], part["sides"]
            )
        return form, [sent, received, self._communicator[call] + 1]

    def _message_rows(self, batch: Batch, place: int) -> RecordRows:
        sends = batch.posts.at(batch.posts["role"] == ExportRole.SEND)
        found = self.found.others(sends)
        whole = found["end_ns"] != 0
        sends, found = sends.at(whole), found.at(whole)
        self.messages += len(sends)
        event = sends["event"]
        columns: list[Column] = [
            place,
            sends["begin_ns"],
            batch.events["leave_ns"][event],
            self._place[found["stream"]],
            *(found["begin_ns"], found["end_ns"]),
            *(sends["size_bytes"], sends["tag"]),
        ]
        time_ns = batch.events["enter_ns"][event]
        return RecordRows(event, self._lines.message, columns, time_ns)

    def _used(self) -> dict[int, dict[int, str]]:
        """Return the names of the values of each type that occur."""
        used: dict[int, dict[int, str]] = {}
        for number in np.flatnonzero(self._occurs).tolist():
            function = self.run.calls.table[number].function
            values = used.setdefault(int(self._type[number]), {})
            values[int(self._value[number])] = names.short(function)
        return used

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
        for kind, used in sorted(self._used().items()):
            values = "\n".join(f"{n}   MPI_{used[n]}" for n in sorted(used))
            label = f"EVENT_TYPE\n9   {kind}    {names.TYPE_NAMES[kind]}"
            parts.append(f"{label}\nVALUES\n{values}\n0   Outside MPI")
        sizes = "\n".join(f"1   {n}    {what}" for n, what in names.SIZE_NAMES.items())
        return "\n\n\n".join([*parts, f"EVENT_TYPE\n{sizes}"]) + "\n"


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Templates of the records.

    Attributes
    ----------
    nothing, state, message : int
    begins : int32 array
        Of a call without sizes, with them, and of the root; each without and with the
        state inside it.
    ends : int32 array
        Without and with the state of running until the next call.
    """

    nothing: int
    state: int
    message: int
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of(cls, text: TextWriter) -> _Lines:
        """Return the templates for the columns of `_Writer`."""
        place = Hole(0, "name")
        inside = _line("1", place, 1, 2, 3)
        event = ("2", place, 1, 4, 5)
        sent = (f"{names.SEND_SIZE}", 6, f"{names.RECEIVE_SIZE}", 7)
        where = (f"{names.COMMUNICATOR}", 8)
        forms = (
            _line(*event),
            _line(*event, *sent, *where),
            _line(*event, *sent, f"{names.IS_ROOT}", "1", *where),
        )
        begins = [text.template(*i, *form) for form in forms for i in ((), inside)]
        end = _line("2", place, 1, 2, "0")
        running = _line("1", place, 1, 3, f"{names.RUNNING}")
        ends = [text.template(*end), text.template(*end, *running)]
        message = ("3", place, 1, 2, Hole(3, "name"), 4, 5, 6, 7)
        return cls(
            nothing=text.template(),
            state=text.template(*_line("1", place, 1, 2, 3)),
            message=text.template(*_line(*message)),
            begins=np.array(begins, np.int32),
            ends=np.array(ends, np.int32),
        )


def _line(*fields: str | int | Hole) -> tuple[str | Hole, ...]:
    """Return a template: fields between colons; an int is a column."""
    parts: list[str | Hole] = []
    for field in fields:
        parts += [Hole(field) if isinstance(field, int) else field, ":"]
    return (*parts[:-1], "\n")


def _own_values(run: TraceStreams) -> dict[str, int]:
    """Give numbers to functions that Extrae does not know, as their events come.

    An event's turn comes with the end of the one before it in its stream.
    """
    calls = run.calls
    own = calls.column(lambda call: not names.event_value(call.function)).astype(bool)
    first: dict[str, tuple[int, int, int]] = {}
    for stream in run.streams if own.any() else ():
        at, turn_ns = 0, -1
        for batch in run.batches_alone(stream, count=False):
            call = batch.events["call"]
            turns = np.maximum(batch.events["enter_ns"], batch.events["leave_ns"])
            turns = np.maximum.accumulate(np.append(turn_ns, turns))
            some = np.flatnonzero(own[call])
            distinct, where = np.unique(call[some], return_index=True)
            for number, event in zip(
                distinct.tolist(), some[where].tolist(), strict=True
            ):
                turn = (int(turns[event]), stream.number, at + event)
                name = names.short(calls.table[number].function)
                first[name] = min(turn, first.get(name, turn))
            at, turn_ns = at + len(call), int(turns[-1])
    ordered = sorted(first, key=first.__getitem__)
    return {name: names.FIRST_OWN_VALUE + i for i, name in enumerate(ordered)}
