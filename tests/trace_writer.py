"""Writes rank files for tests, as docs/trace_format.md says.

`RankWriter` numbers shapes, lists and vectors and predicts shapes and counts like the
recorder does; what it writes is what the recorder would have written for the same
calls::

    writer = RankWriter(0, 2)
    writer.event("MPI_Init", 0, 1000)
    writer.event("MPI_Send", 500, 80, peer=1, tag=7, count_a=100, type_a=8)
    writer.finish()
    writer.save(folder)

Numbers of the format come from `skelgen.trace.format`; how they stand in the file is
written down here once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skelgen.trace.format import trace_format

FORMAT = trace_format()
SHAPE_FIELDS = {
    "function": "u",
    "flags": "u",
    "comm": "z",
    "peer": "z",
    "tag": "z",
    "peer2": "z",
    "tag2": "z",
    "op": "u",
    "type_a": "u",
    "type_b": "u",
    "site": "u",
    "reference": "u",
    "count_a": "z",
    "count_b": "z",
    "vector_a": "u",
    "vector_b": "u",
}
_NONE = dict.fromkeys(("comm", "peer", "tag", "peer2", "tag2"), -1)
_VARIES = ("PEER", "TAG", "PEER2", "TAG2")


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def string(text: str) -> bytes:
    data = text.encode()
    return varint(len(data)) + data


def group(ranks: Any) -> bytes:
    out = varint(len(ranks))
    if isinstance(ranks, range) and ranks:
        return out + zigzag(ranks.start) + zigzag(ranks.step) + varint(len(ranks))
    for rank in ranks:
        out += zigzag(rank) + zigzag(0) + varint(1)
    return out


def ranks_of(ranks: Any) -> bytes:
    return varint(len(ranks)) + b"".join(map(varint, ranks))


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_OF_BYTE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _crc_of_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


_CRC_OF_BYTE = [_crc_of_byte(byte) for byte in range(256)]


def check(before: bytes, following: bytes = b"") -> bytes:
    """Return some bytes with their CHECK record, and what stands behind it."""
    head = bytes([FORMAT["REC_CHECK"], 5]) + varint(len(following))
    crc = crc32c(before + head + following)
    return before + head + crc.to_bytes(4, "little") + following


@dataclass
class _Shape:
    """A shape as the reader has it after the events so far."""

    number: int
    values: dict[str, int]
    history: list[tuple[int, int]]
    lag: int = 1


@dataclass
class RankWriter:
    """One rank file in the making; times are in clock ticks."""

    rank: int
    ranks: int
    thread: int = 0
    run_id: int = 7
    start_ticks: int = 1_000_000
    ticks_per_s: int = 2_000_000_000
    unit_shift: int = 0
    host: str = "node1"
    boot_id: str = "boot1"
    program: str = "/opt/app"
    cost_ps: int = 0
    inside_ps: int = 0
    request_ps: int = 0
    out: bytearray = field(default_factory=bytearray)
    now: int = 0
    events: int = 0
    requests: int = 0
    persistent: int = 0
    #: Whether the file has checksums, as those of today's recorder.
    checked: bool = False

    def __post_init__(self) -> None:
        self._known: dict[str, dict[Any, int]] = {}
        self._shapes: dict[Any, _Shape] = {}
        self._lists: dict[tuple[int, ...], int] = {}
        self._vectors: dict[tuple[int, ...], int] = {}
        self._short: dict[int, int] = {}
        self._long: dict[int, tuple[int, int]] = {}
        self._before = self._last = self._context = 0
        #: Where windows of the recorder begin, and where the END record does.
        self._windows: list[int] = []
        self._end_at: int | None = None
        self.now = self.start_ticks >> self.unit_shift
        if self.thread == 0:
            self.clock("INIT")

    # --- definitions ----------------------------------------------------------------

    def define(self, name: str, *parts: bytes) -> None:
        """Append a definition record."""
        payload = b"".join(parts)
        self.out += bytes([FORMAT[f"REC_{name}"]]) + varint(len(payload)) + payload

    def _once(self, kind: str, key: Any) -> tuple[int, bool]:
        table = self._known.setdefault(kind, {})
        new = key not in table
        return table.setdefault(key, len(table) + 1), new

    def function(self, name: str, kind: str = "OTHER") -> int:
        number, new = self._once("function", name)
        if new:
            kinds = {"MPI_Init": "INIT", "MPI_Finalize": "FINALIZE"}
            code = FORMAT[f"FN_{kinds.get(name, kind)}"]
            self.define("FUNCTION", varint(number), string(name), varint(code))
        return number

    def site(self, frames: int | tuple[int, ...], module: str = "/opt/app") -> int:
        """Define a call site: its offset, and perhaps those of its callers."""
        number, new = self._once("module", module)
        if new:
            self.define("MODULE", varint(number), string(module), string(""))
        own, *callers = frames if isinstance(frames, tuple) else (frames,)
        site, new = self._once("site", (number, own, *callers))
        if new:
            further = [varint(number) + varint(offset) for offset in callers]
            count = [varint(len(callers))] if callers else []
            words = [varint(site), varint(number), varint(own), *count, *further]
            self.define("SITE", *words)
        return site

    def type(
        self,
        size: int,
        name: str = "",
        *,
        holes: bool = False,
        made: bool = False,
        piece: int | None = 0,
    ) -> int:
        """Define a datatype that the program made; with holes it always did.

        Older recorders do not say of which pieces it consists.
        """
        number, new = self._once("type", (size, name, holes, made, piece))
        if new:
            extent = zigzag(0) + zigzag(2 * size if holes else size)
            combiner = 3 if holes or made else 0
            rest = extent + varint(combiner) + varint(not holes) + string(name)
            rest += b"" if piece is None else varint(piece)
            self.define("TYPE", varint(number), varint(size), rest)
        return number

    def comm(
        self,
        number: int,
        members: Any,
        *,
        kind: str = "SPLIT",
        parent: int = 0,
        sequence: int = 0,
        twin: int = 0,
        remote: Any = (),
        dims: Any = (),
        periods: Any = (),
        sources: Any = (),
        destinations: Any = (),
    ) -> int:
        """Define a communicator; 0 and 1 are defined when they are used."""
        self._known.setdefault("comm", {})[number] = number
        grid = b"".join(
            varint(n) + varint(p) for n, p in zip(dims, periods, strict=True)
        )
        around = ranks_of(sources) + ranks_of(destinations)
        self.define(
            "COMM",
            varint(number) + varint(FORMAT[f"COMM_{kind}"]) + zigzag(parent),
            varint(sequence) + varint(twin) + zigzag(list(members).index(self.rank)),
            group(members) + group(remote) + varint(len(dims)) + grid + around,
        )
        return number

    def _builtin(self, number: int) -> None:
        if number in self._known.setdefault("comm", {}):
            return
        members = range(self.ranks) if number == 0 else [self.rank]
        kind = "WORLD" if number == 0 else "SELF"
        self.comm(number, members, kind=kind, parent=-1)

    def list(self, *elements: int) -> int:
        """Return the reference of a list of ages (persistent requests: negative)."""
        if elements not in self._lists:
            self._lists[elements] = number = len(self._lists) + 1
            steps = np.diff(elements, prepend=0).tolist()
            numbers = b"".join(map(zigzag, steps))
            self.define("LIST", varint(number), varint(len(elements)), numbers)
        return self._lists[elements] << 2 | FORMAT["REF_LIST"]

    def vector(self, *counts: int) -> int:
        if counts not in self._vectors:
            self._vectors[counts] = number = len(self._vectors) + 1
            numbers = b"".join(map(varint, counts))
            self.define("VECTOR", varint(number), varint(len(counts)), numbers)
        return self._vectors[counts]

    def clock(self, place: str, *, cpu_ns: int = 0) -> None:
        """Append a reading of the clocks at the present time."""
        ticks = self.now << self.unit_shift
        monotonic_ns = ticks * 1_000_000_000 // self.ticks_per_s
        times = (ticks, monotonic_ns, 1_700_000_000_000_000_000 + monotonic_ns, cpu_ns)
        self.define("CLOCK", varint(FORMAT[f"AT_{place}"]), *map(varint, times))

    def offset(self, reference: int, offset_ns: int, error_ns: int = 0) -> None:
        ticks = self.now << self.unit_shift
        head = varint(0) + varint(ticks) + varint(reference)
        self.define("OFFSET", head, zigzag(offset_ns), varint(error_ns))

    def passed(self, *units: int, **calls: int) -> None:
        """Append how often functions were passed on (names without MPI_).

        `units` is the time inside each of them; older traces have none.
        """
        rows = [(self.function(f"MPI_{n}", "LOCAL"), c) for n, c in calls.items()]
        pairs = b"".join(varint(number) + varint(count) for number, count in rows)
        self.define("COUNT", varint(len(rows)), pairs, *map(varint, units))

    def usage(self, queries: int, gaps: Sequence[int] = ()) -> None:
        """Write how often the thread asked; older traces have no gaps."""
        self.define("USAGE", b"".join(map(varint, (queries, *gaps))))

    def load(
        self,
        queued_us: int | None = None,
        devices_us: int = 0,
        all_queued_us: int = 0,
        pressure_us: int | None = None,
        cores: int = 0,
    ) -> None:
        queue = [] if queued_us is None else [queued_us, devices_us, all_queued_us]
        pressure = [] if pressure_us is None else [pressure_us]
        known = bool(queue) + 2 * bool(pressure) + 4 * bool(cores)
        mask = cores.to_bytes(-(-cores.bit_length() // 8), "little")
        usable = [varint(len(mask)), mask] if cores else []
        self.define("LOAD", *map(varint, (known, *queue, *pressure)), *usable)

    def touched(self, *numbers: int) -> None:
        """Append what looking took, and looks, KiB and time of both kinds [us]."""
        self.define("TOUCHED", *map(varint, numbers))

    def unseen(
        self,
        *numbers: int,
        gpu: tuple[str, ...] = (),
        hidden: tuple[tuple[str, int, str], ...] = (),
    ) -> None:
        """Append time, threads, children, whether some are left, files and bytes."""
        tools = [string(t) + varint(n) + string(names) for t, n, names in hidden]
        names = [varint(len(gpu)), *map(string, gpu), varint(len(tools)), *tools]
        self.define("UNSEEN", *map(varint, numbers), *names)

    def note(self, text: str) -> None:
        self.define("NOTE", string(text))

    # --- events ---------------------------------------------------------------------

    def event(
        self,
        function: str,
        gap: int = 0,
        duration: int = 0,
        *,
        flags: str = "",
        requests: Any = None,
        type_a: int = 0,
        type_b: int = 0,
        vector_a: Any = None,
        vector_b: Any = None,
        site: int | tuple[int, ...] | None = None,
        varies: str = "",
        holes: bool = False,
        made: bool = False,
        piece: int | None = 0,
        extras: Any = None,
        **values: int,
    ) -> None:
        """Append an event.

        `flags` are words of enum skelgen_shape_flags; HAS and VECTOR follow from the
        arguments. `requests` is an age, a list of ages, or a reference ``(r,)``.
        `type_a` and `type_b` are sizes, with `holes` in memory, of datatypes that the
        program `made` of pieces of so many bytes. `varies` are words of what varies:
        PEER, LIST.
        `extras` gives lost_us, queued_us, overhead, polls, inside, statuses, foreign,
        object, error.
        """
        words = [*flags.split(), *(f"VARIES_{v}" for v in varies.split())]
        words += [f"HAS_{s.upper()}" for s in "ab" if f"count_{s}" in values]
        vectors = {"vector_a": vector_a, "vector_b": vector_b}
        words += [k.upper() for k, v in vectors.items() if v is not None]
        bits = sum({FORMAT[f"SHAPE_{word}"] for word in words})
        if piece and "HOLES" in words:
            bits |= (piece.bit_length() - 1) << FORMAT["PIECE_SHIFT"]
        kind: dict[str, Any] = {"holes": holes, "made": made, "piece": piece}
        comm = values.get("comm", -1 if function in _WITHOUT_COMM else 0)
        if comm in (0, 1):
            self._builtin(comm)
        full = dict.fromkeys(SHAPE_FIELDS, 0) | _NONE | values
        full |= {
            "function": self.function(function),
            "flags": bits,
            "comm": comm,
            "type_a": self.type(type_a, **kind) if type_a else 0,
            "type_b": self.type(type_b, **kind) if type_b else 0,
            "site": self.site(site) if site is not None else 0,
            "reference": self.reference(requests),
        }
        for name, counts in vectors.items():
            full[name] = self.vector(*counts) if counts is not None else 0
        shape = self._shape(full, varies.split())
        extras = dict(extras or {})
        if "queued_us" in extras:
            self.define("QUEUED", varint(extras.pop("queued_us")))
        self._emit(shape, full, gap, duration, extras)
        self._count_requests(full)

    def reference(self, requests: Any) -> int:
        if requests is None or requests == []:
            return 0
        if isinstance(requests, tuple):
            return int(requests[0])
        if isinstance(requests, int):
            kind = "REF_AGE" if requests > 0 else "REF_PERSISTENT"
            return abs(requests) << 2 | FORMAT[kind]
        return self.list(*requests)

    def _count_requests(self, full: dict[str, int]) -> None:
        flags, reference = full["flags"], full["reference"]
        self.requests += bool(flags & FORMAT["SHAPE_CREATES"])
        self.persistent += bool(flags & FORMAT["SHAPE_PERSISTENT"])
        if flags & FORMAT["SHAPE_STARTS"]:
            lists = {number: key for key, number in self._lists.items()}
            is_list = reference & 3 == FORMAT["REF_LIST"]
            self.requests += len(lists[reference >> 2]) if is_list else 1

    def _shape(self, full: dict[str, int], varies: Sequence[str]) -> _Shape:
        free = {"count_a", "count_b", "vector_a", "vector_b"}
        free |= {"reference" if v == "LIST" else v.lower() for v in varies}
        key = tuple(value for name, value in full.items() if name not in free)
        if key not in self._shapes:
            shape = _Shape(
                len(self._shapes) + 1,
                dict(full),
                [(full["count_a"], full["count_b"])] * 8,
            )
            code = {"u": varint, "z": zigzag}
            fields = [code[SHAPE_FIELDS[n]](full[n]) for n in SHAPE_FIELDS]
            self.define("SHAPE", varint(shape.number), *fields)
            self._shapes[key] = shape
        return self._shapes[key]

    def _emit(
        self,
        shape: _Shape,
        full: dict[str, int],
        gap: int,
        duration: int,
        x: dict[str, Any],
    ) -> None:
        tag = FORMAT["REC_EVENT"]
        if gap >> 32 or duration >> 32:
            x["long"] = (gap >> 32, duration >> 32)
        gap_bytes = _bytes_of(gap & 0xFFFFFFFF)
        duration_bytes = _bytes_of(duration & 0xFFFFFFFF)
        tag |= (len(gap_bytes) - 1) << 2 | len(duration_bytes) - 1
        body = b""
        if self._predict(shape.number) != shape.number:
            tag |= FORMAT["EVENT_SHAPE"]
            body += varint(shape.number)
        pair = (full["count_a"], full["count_b"])
        expected = shape.history[-shape.lag]
        if pair != expected:
            tag |= FORMAT["EVENT_COUNT"]
            for side, name in enumerate("AB"):
                if full["flags"] & FORMAT[f"SHAPE_HAS_{name}"]:
                    body += zigzag(pair[side] - expected[side])
            if pair in shape.history:
                shape.lag = shape.history[::-1].index(pair) + 1
        shape.history = [*shape.history[1:], pair]
        extras = self._extras(shape, full, x)
        if extras:
            tag |= FORMAT["EVENT_EXTRAS"]
        self.out += bytes([tag]) + gap_bytes + duration_bytes + body + extras
        self.now += gap + duration
        self.events += 1

    def _predict(self, number: int) -> int:
        """Return the prediction, and learn what it should have been."""
        short, long = (31 * self._before + self._last) % 4096, self._context >> 20
        context, guess = self._long.get(long, (None, 0))
        if context != self._context:
            guess = self._short.get(short, 0)
        self._short[short], self._long[long] = number, (self._context, number)
        self._before, self._last = self._last, number
        self._context = (self._context << 4 ^ number * 0x9E3779B1) % 2**32
        return guess

    def _extras(self, shape: _Shape, full: dict[str, int], x: dict[str, Any]) -> bytes:
        values = b""
        for name in _VARIES:
            if full["flags"] & FORMAT[f"SHAPE_VARIES_{name}"]:
                values += zigzag(full[name.lower()] - shape.values[name.lower()])
        if full["flags"] & FORMAT["SHAPE_VARIES_LIST"]:
            values += varint(full["reference"])
        vectors = b"".join(
            varint(full[f"vector_{s}"])
            for s in "ab"
            if full["flags"] & FORMAT[f"SHAPE_VECTOR_{s.upper()}"]
        )
        same = all(shape.values[f"vector_{s}"] == full[f"vector_{s}"] for s in "ab")
        changed = any(
            shape.values[n] != full[n]
            for n in ("peer", "tag", "peer2", "tag2", "reference")
        )
        shape.values = dict(full)
        pieces = {
            "LONG": b"".join(map(varint, x.get("long", ()))),
            "OVERHEAD": varint(x["overhead"]) if "overhead" in x else b"",
            "LOST": varint(x["lost_us"]) if "lost_us" in x else b"",
            "VALUES": values if changed else b"",
            "VECTORS": b"" if same else vectors,
            "STATUS": _rows(x.get("statuses", ()), (varint, zigzag, zigzag)),
            "REPEAT": varint(x["polls"]) + varint(x.get("inside", 0))
            if "polls" in x
            else b"",
            "OBJECT": varint(x["object"]) if "object" in x else b"",
            "ERROR": varint(x["error"]) if "error" in x else b"",
            "FOREIGN": _rows(x.get("foreign", ()), (varint, varint)),
        }
        bits = sum(FORMAT[f"EXTRA_{name}"] for name, piece in pieces.items() if piece)
        return varint(bits) + b"".join(pieces.values()) if bits else b""

    # --- the whole file -------------------------------------------------------------

    def finish(
        self,
        reason: str = "FINALIZE",
        *,
        code: int = 0,
        unrecorded: int = 0,
        finalize: bool = True,
    ) -> None:
        """Append what a file ends with."""
        if finalize and reason == "FINALIZE":
            self.event("MPI_Finalize", 100, 100)
        self.clock("FINALIZE")
        numbers = (
            self.now << self.unit_shift,
            self.events,
            self.requests,
            self.persistent,
            self.cost_ps,
            unrecorded,
            self.inside_ps,
            self.request_ps,
        )
        head = varint(FORMAT[f"END_{reason}"]) + zigzag(code)
        self._end_at = len(self.out)
        self.define("END", head, *map(varint, numbers))

    def window(self) -> None:
        """Let the recorder's window move here: a checksum stands there."""
        self._windows.append(len(self.out))

    def header(self, **changes: Any) -> bytes:
        record = np.zeros(1, FORMAT.header)
        fields = {
            "magic": FORMAT.magic,
            "version": FORMAT["FORMAT_VERSION"],
            "endian": FORMAT["ENDIAN_CHECK"],
            "header_bytes": FORMAT.header.itemsize,
            "clock_kind": FORMAT["CLOCK_TSC"],
            "unit_shift": self.unit_shift,
            "mpi_family": FORMAT["MPI_MPICH"],
            "run_id": self.run_id,
            "world_rank": self.rank,
            "world_size": self.ranks,
            "thread": self.thread,
            "ticks_per_s": self.ticks_per_s,
            "start_ticks": self.start_ticks,
            "start_realtime_ns": 1_700_000_000_000_000_000,
            "pid": 4711 + self.rank,
            "mpi_standard": 401,
            "host": self.host,
            "boot_id": self.boot_id,
            "mpi_library": "MPICH Version: 5.0.2",
            "program": self.program,
        }
        for name, value in (fields | changes).items():
            record[name] = value
        return record.tobytes()

    def data(self, **changes: Any) -> bytes:
        """Return the file; `changes` are fields of the header.

        With checksums a file without END is as a kill leaves it: with zeros behind.
        """
        if not self.checked:
            return self.header(**changes) + bytes(self.out)
        data = check(self.header(**changes))
        at = 0
        for begin in self._windows:
            data += check(bytes(self.out[at:begin]))
            at = begin
        if self._end_at is None:
            data += bytes(self.out[at:])
            return data + bytes(-(len(data) + 1) % 4096 + 1)
        end = bytes(self.out[self._end_at :])
        return data + check(bytes(self.out[at : self._end_at]), end)

    @property
    def name(self) -> str:
        thread = f".t{self.thread:03}" if self.thread else ""
        return f"rank-{self.rank:06}{thread}.skt"

    def save(self, folder: Path, **changes: Any) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        path.write_bytes(self.data(**changes))
        return path


_WITHOUT_COMM = {
    f"MPI_{name}"
    for name in "Init Finalize Start Startall Request_free Cancel Wait Waitall Waitany "
    "Waitsome Test Testall Testany Testsome Pcontrol".split()
}


def _bytes_of(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "little")


def _rows(rows: Any, codes: Any) -> bytes:
    rows = list(rows)
    if not rows:
        return b""
    parts = [
        code(value) for row in rows for code, value in zip(codes, row, strict=True)
    ]
    return varint(len(rows)) + b"".join(parts)
