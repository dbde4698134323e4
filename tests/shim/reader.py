"""A trace reader written from docs/trace_format.md alone.

It shares no code with the recorder or with skelgen, so that the tests also prove that
the document suffices. Slow and strict.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

HEADER = struct.Struct("<8s6I Q4i2Q q2I64s64s256s256s")
MAGIC = b"\x89SKT\r\n\x1a\n"
HAS_A, HAS_B, VECTOR_A, VECTOR_B = 1, 2, 4, 8
WILD_SOURCE, WILD_TAG, IN_PLACE, CREATES = 0x10, 0x20, 0x40, 0x80
PERSISTENT, STARTS, COMPLETES, NOT_READY = 0x100, 0x200, 0x400, 0x800
FAILED, RELEASES, HOLES = 0x1000, 0x40000, 0x100000
VARIES = {"peer": 0x2000, "tag": 0x4000, "peer2": 0x8000, "tag2": 0x10000}
VARIES_LIST = 0x20000
DEFINITIONS = {
    1: ("functions", "u:id s:name u:kind"),
    2: ("modules", "u:id s:path b:build"),
    3: ("sites", "u:id u:module u:offset"),
    5: ("types", "u:id u:size z:lower z:extent u:combiner u:contiguous s:name u:piece"),
    8: (
        "shapes",
        "u:id u:function u:flags z:comm z:peer z:tag z:peer2 z:tag2 u:op u:type_a "
        "u:type_b u:site u:reference z:count_a z:count_b u:vector_a u:vector_b",
    ),
    9: ("clocks", "u:place u:ticks u:monotonic_ns u:realtime_ns u:cpu_ns"),
    10: ("offsets", "u:place u:ticks u:reference z:offset_ns u:error_ns"),
    12: ("notes", "s:text"),
    13: (
        "ends",
        "u:reason z:code u:ticks u:events u:requests u:persistent u:cost_ps "
        "u:unrecorded u:inside_ps u:request_ps",
    ),
    14: ("windows", "u:id u:bytes u:unit"),
    15: ("files", "u:id u:mode s:name"),
    16: ("usage", "u:queries " + " ".join(f"u:gap{b}" for b in range(16))),
    22: (
        "touched",
        "u:looking_us u:looks u:kib u:us u:broad_looks u:broad_kib u:broad_us",
    ),
}


CHECK = 0x40


def _crc_of_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


_CRC_OF_BYTE = [_crc_of_byte(byte) for byte in range(256)]


def crc32c(data: bytes) -> int:
    """Return the CRC32C of bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC_OF_BYTE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Cursor:
    """Reads varints and the like from bytes."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                assert shift <= 70
                return value

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def take(self, n: int) -> bytes:
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n : self.at]

    def bytes(self) -> bytes:
        return self.take(self.varint())

    def string(self) -> str:
        return self.bytes().decode(errors="replace")

    def fields(self, layout: str) -> dict:
        read = {"u": self.varint, "z": self.zigzag, "s": self.string, "b": self.bytes}
        return {f[2:]: read[f[0]]() for f in layout.split()}

    def group(self) -> list[int]:
        ranks: list[int] = []
        size = self.varint()
        while len(ranks) < size:
            first, stride, n = self.zigzag(), self.zigzag(), self.varint()
            ranks += [first + i * stride for i in range(n)]
        assert len(ranks) == size
        return ranks


@dataclass
class Event:
    """One event, with the shape's fields as they were for it."""

    function: str
    begin: int
    end: int
    fields: dict
    counts: tuple[int, int]
    requests: list[int] = field(default_factory=list)  # numbers; persistent: negative
    made: list[int] = field(default_factory=list)
    statuses: list[tuple[int, int, int]] = field(default_factory=list)
    foreign: list[tuple[int, int]] = field(default_factory=list)
    vectors: tuple[list[int] | None, list[int] | None] = (None, None)
    polls: int = 1
    inside: int = 0
    overhead: int = 0
    lost_us: int = 0
    queued_us: int | None = None
    object: int | None = None
    error: int | None = None

    def __getattr__(self, name: str) -> int:
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(name) from None

    def has(self, flag: int) -> bool:
        return bool(self.fields["flags"] & flag)


class Trace:
    """The contents of one file."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        names = (
            "magic version endian header_bytes clock_kind unit_shift mpi_family run_id "
            "world_rank world_size thread thread_level ticks_per_s start_ticks "
            "start_realtime_ns pid mpi_standard host boot_id mpi_library program"
        ).split()
        self.header = dict(zip(names, HEADER.unpack_from(data), strict=True))
        assert self.header["magic"] == MAGIC
        assert self.header["version"] == 1
        assert self.header["endian"] == 0x01020304
        self.tables: dict[str, dict[int, dict]] = {}
        self.lists: dict[int, list[int]] = {}
        self.vectors: dict[int, list[int]] = {0: []}
        self.comms: dict[int, dict] = {}
        self.counts: dict[str, int] = {}
        self.events: list[Event] = []
        self.clean = False
        self._made = self._persistent = self._before = self._last = 0
        self._context = 0
        self._short: dict[int, int] = {}
        self._long: dict[int, tuple[int, int]] = {}
        self._pairs: dict[int, list[tuple[int, int]]] = {}  # oldest first
        self._lags: dict[int, int] = {}
        self._queued_us: int | None = None
        self._now = self.header["start_ticks"] >> self.header["unit_shift"]
        self.checked = 0  # bytes that checksums cover
        self.checks = 0
        self._read(Cursor(data, self.header["header_bytes"]))

    def _read(self, c: Cursor) -> None:
        while c.at < len(c.data) and c.data[c.at]:
            tag = c.take(1)[0]
            if tag & 0x80:
                self._event(c, tag)
            else:
                length = c.varint()
                payload = c.take(length)
                if tag == CHECK:
                    self._check(c, Cursor(payload))
                else:
                    self._define(tag, Cursor(payload))
        self.bytes = c.at
        self.clean = "ends" in self.tables and c.at == len(c.data)
        assert not (self.clean and self.checks) or self.checked == self.bytes

    def _check(self, c: Cursor, payload: Cursor) -> None:
        following, stated = payload.varint(), payload.take(4)
        behind = c.at + following
        covered = c.data[self.checked : c.at - 4] + c.data[c.at : behind]
        assert crc32c(covered) == int.from_bytes(stated, "little")
        self.checked = behind
        self.checks += 1

    def _define(self, tag: int, c: Cursor) -> None:
        if tag in DEFINITIONS:
            name, layout = DEFINITIONS[tag]
            row = c.fields(layout)
            table = self.tables.setdefault(name, {})
            table[row.get("id", len(table))] = row
        elif tag == 20:
            known = c.varint()
            layout = "u:queued_us u:devices_us u:all_queued_us " * (known & 1)
            layout += "u:pressure_us" * (known >> 1 & 1)
            self.tables["load"] = {0: c.fields(layout)}
        elif tag == 21:
            self._queued_us = c.varint()
        elif tag == 4:
            self._comm(c)
        elif tag in (6, 7):
            number, n, last = c.varint(), c.varint(), 0
            target = (self.lists if tag == 6 else self.vectors)[number] = []
            for _ in range(n):
                last = last + c.zigzag() if tag == 6 else c.varint()
                target.append(last)
        elif tag == 11:
            for _ in range(c.varint()):
                name = self.tables["functions"][c.varint()]["name"]
                self.counts[name] = c.varint()
            self.units = {name: c.varint() for name in self.counts}

    def _comm(self, c: Cursor) -> None:
        row = c.fields("u:id u:kind z:parent u:sequence u:twin z:rank")
        row["members"], row["remote"] = c.group(), c.group()
        row["cart"] = [(c.varint(), c.varint()) for _ in range(c.varint())]
        row["sources"], row["destinations"] = [
            [c.varint() for _ in range(c.varint())] for _ in range(2)
        ]
        self.comms[row["id"]] = row

    def _event(self, c: Cursor, tag: int) -> None:
        gap = int.from_bytes(c.take(((tag >> 2) & 3) + 1), "little")
        duration = int.from_bytes(c.take((tag & 3) + 1), "little")
        shape = self._shape(c.varint() if tag & 0x40 else None)
        flags = shape["flags"]
        self._predict_counts(c, shape, given=bool(tag & 0x20))
        x = self._extras(c, shape) if tag & 0x10 else {}
        gap += x.pop("gap", 0) << 32
        duration += x.pop("duration", 0) << 32
        begin = self._now + gap
        self._now = begin + duration
        event = Event(
            self.tables["functions"][shape["function"]]["name"],
            begin,
            self._now,
            dict(shape),
            (shape["count_a"], shape["count_b"]),
            vectors=(
                self.vectors[shape["vector_a"]] if flags & VECTOR_A else None,
                self.vectors[shape["vector_b"]] if flags & VECTOR_B else None,
            ),
            queued_us=self._queued_us,
            **x,
        )
        self._queued_us = None
        self._requests(event)
        self.events.append(event)

    def _shape(self, given: int | None) -> dict:
        short = (31 * self._before + self._last) % 4096
        long = self._context >> 20
        context, predicted = self._long.get(long, (None, 0))
        if context != self._context:
            predicted = self._short.get(short, 0)
        number = predicted if given is None else given
        self._short[short] = number
        self._long[long] = (self._context, number)
        self._before, self._last = self._last, number
        self._context = ((self._context << 4) ^ (number * 0x9E3779B1)) % 2**32
        return self.tables["shapes"][number]

    def _predict_counts(self, c: Cursor, shape: dict, *, given: bool) -> None:
        number = shape["id"]
        first = (shape["count_a"], shape["count_b"])
        pairs = self._pairs.setdefault(number, [first] * 8)
        a, b = pairs[-self._lags.get(number, 1)]
        if given:
            a += c.zigzag() if shape["flags"] & HAS_A else 0
            b += c.zigzag() if shape["flags"] & HAS_B else 0
            if (a, b) in pairs:
                self._lags[number] = pairs[::-1].index((a, b)) + 1
        self._pairs[number] = [*pairs[1:], (a, b)]
        shape["count_a"], shape["count_b"] = a, b

    def _extras(self, c: Cursor, shape: dict) -> dict:
        bits, x = c.varint(), {}
        assert bits < 0x800
        if bits & 1:
            x["gap"], x["duration"] = c.varint(), c.varint()
        if bits & 2:
            x["overhead"] = c.varint()
        if bits & 4:
            x["lost_us"] = c.varint()
        if bits & 0x10:
            for name, flag in VARIES.items():
                if shape["flags"] & flag:
                    shape[name] += c.zigzag()
            if shape["flags"] & VARIES_LIST:
                shape["reference"] = c.varint()
        if bits & 0x20:
            for flag, name in ((VECTOR_A, "vector_a"), (VECTOR_B, "vector_b")):
                if shape["flags"] & flag:
                    shape[name] = c.varint()
        if bits & 0x40:
            x["statuses"] = [
                (c.varint(), c.zigzag(), c.zigzag()) for _ in range(c.varint())
            ]
        if bits & 0x80:
            x["polls"], x["inside"] = c.varint(), c.varint()
        if bits & 0x100:
            x["object"] = c.varint()
        if bits & 0x200:
            x["error"] = c.varint()
        if bits & 0x400:
            x["foreign"] = [(c.varint(), c.varint()) for _ in range(c.varint())]
        return x

    def _requests(self, event: Event) -> None:
        kind, value = event.reference & 3, event.reference >> 2
        elements = {0: [], 1: [value], 3: [-value]}.get(kind)
        if elements is None:
            elements = self.lists[value]
        event.requests = [self._made - e + 1 if e > 0 else e for e in elements]
        if event.has(CREATES):
            self._made += 1
            event.made = [self._made]
        if event.has(PERSISTENT):
            self._persistent += 1
            event.made = [-self._persistent]
        if event.has(STARTS):
            event.made = [self._made + 1 + i for i in range(len(elements))]
            self._made += len(elements)

    def of(self, *names: str) -> list[Event]:
        """Return the events of these functions."""
        return [e for e in self.events if e.function.removeprefix("MPI_") in names]

    def type_name(self, number: int) -> str:
        """Return the name of a datatype."""
        return self.tables["types"][number]["name"]


def read_run(folder: Path) -> list[Trace]:
    """Read the main streams of all ranks."""
    return [Trace(p) for p in sorted(folder.glob("rank-??????.skt"))]
