"""Twin of `skelgen.trace.stream`, in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.trace.format import trace_format
from skelgen.trace.stream import Decoded, EventColumns, Scan, TimeScale
from skelgen.trace.types import Header, TraceFacts
from skelgen.trace.workspace import dtype, kernel

_LARGEST_SIZE = 1 << 44
_LATEST_UNITS = 1 << 61
_LARGEST_NUMBER = 1 << 61
_LARGEST_PEER = 2**31 - 1
_EXTRAS = 0x7F7
_HISTORY = 8
_MOST_HANDLED = 1 << 20
#: Of CRC32C, its bits reversed.
_POLYNOMIAL = 0x82F63B78

_FIELDS = (
    "function flags comm peer tag peer2 tag2 op type_a type_b site reference "
    "count_a count_b vector_a vector_b"
).split()
_SIGNED = {"comm", "peer", "tag", "peer2", "tag2", "count_a", "count_b"}
_VALUES = ("peer", "tag", "peer2", "tag2")


class _Stop(Exception):  # noqa: N818 - not an error: the reason why reading ends
    """Reading ends at the present record."""

    def __init__(self, name: str) -> None:
        self.stop = int(getattr(kernel().lib, f"SKELGEN_STOP_{name}"))
        super().__init__(name)


class _Cursor:
    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def fixed(self, count: int) -> int:
        if self.end - self.at < count:
            raise _Stop("SHORT")
        self.at += count
        return int.from_bytes(self.data[self.at - count : self.at], "little")

    def varint(self, limit: int = 2**64 - 1) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.fixed(1)
            if shift == 63 and byte > 1:
                break
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > limit:
                    raise _Stop("RANGE")
                return value
        raise _Stop("VARINT")

    def changed(self, value: int, limit: int) -> int:
        step = self.varint()
        value += (step >> 1) ^ -(step & 1)
        if abs(value) > limit:
            raise _Stop("RANGE")
        return value


class _Walk:
    """Walks through the records; `event` is called for each event."""

    def __init__(self, data: bytes, header: Header, end: int) -> None:
        self.data, self.end, self.position = data, end, header.header_bytes
        self.definitions: list[tuple[int, int, int, int]] = []
        self.shapes: list[dict[str, Any]] = []
        self.short: dict[int, int] = {}
        self.long: dict[int, tuple[int, int]] = {}
        self.before = self.last = self.context = 0
        self.queued_us: int | None = None
        self.lists = self.vector_definitions = 0
        self.scale = TimeScale(header.unit_ns, 0, 0)
        self.facts = dict.fromkeys(TraceFacts.__slots__, 0)
        self.events: list[dict[str, Any]] = []
        self.c = trace_format()

    def run(self) -> int:
        """Go to the end; return why it is the end."""
        while True:
            if self.position >= self.end or not self.data[self.position]:
                return int(kernel().lib.SKELGEN_STOP_DATA)
            tag = self.data[self.position]
            cursor = _Cursor(self.data, self.position + 1, self.end)
            try:
                if tag & self.c["REC_EVENT"]:
                    self._event(cursor, tag)
                else:
                    self._definition(cursor, tag)
            except _Stop as stop:
                return stop.stop
            self.position = cursor.at
            if tag == self.c["REC_END"]:
                return int(kernel().lib.SKELGEN_STOP_END)

    def _definition(self, cursor: _Cursor, tag: int) -> None:
        length = cursor.varint()
        if length > self.end - cursor.at:
            raise _Stop("SHORT")
        inside = _Cursor(self.data, cursor.at, cursor.at + length)
        if tag == self.c["REC_SHAPE"]:
            self._shape(inside)
        elif tag == self.c["REC_LIST"]:
            self.lists = self._next(inside, self.lists)
        elif tag == self.c["REC_VECTOR"]:
            self.vector_definitions = self._next(inside, self.vector_definitions)
        elif tag == self.c["REC_QUEUED"]:
            self.queued_us = inside.varint(2**32 - 1)
        if tag not in (self.c["REC_SHAPE"], self.c["REC_QUEUED"]):
            self.definitions.append((self.position, cursor.at, length, tag))
        cursor.at += length

    def _next(self, cursor: _Cursor, count: int) -> int:
        number = cursor.varint()
        if number != count + 1 or number >= 2**32 - 1:
            raise _Stop("ID")
        return number

    def _shape(self, cursor: _Cursor) -> None:
        self._next(cursor, len(self.shapes))
        shape: dict[str, Any] = {"offset": self.position}
        for name in _FIELDS:
            if name == "reference":
                shape[name] = self._reference(cursor)
            elif name.startswith("vector"):
                shape[name] = self._vector(cursor)
            elif name in _SIGNED:
                wide = name.startswith("count")
                shape[name] = cursor.changed(
                    0, _LARGEST_NUMBER if wide else _LARGEST_PEER
                )
            else:
                shape[name] = cursor.varint(2**32 - 1)
        shape["history"] = [(shape["count_a"], shape["count_b"])] * _HISTORY
        shape["lag"] = 1
        self.shapes.append(shape)

    def _reference(self, cursor: _Cursor) -> int:
        reference = cursor.varint(2**32 - 1)
        is_list = reference & 3 == self.c["REF_LIST"]
        if is_list and reference >> 2 > self.lists:
            raise _Stop("REFERENCE")
        return reference

    def _vector(self, cursor: _Cursor) -> int:
        vector = cursor.varint(2**32 - 1)
        if vector > self.vector_definitions:
            raise _Stop("REFERENCE")
        return vector

    def _event(self, cursor: _Cursor, tag: int) -> None:
        gap = cursor.fixed(((tag & self.c["EVENT_GAP_BYTES"]) >> 2) + 1)
        duration = cursor.fixed((tag & self.c["EVENT_DURATION_BYTES"]) + 1)
        short, long = (31 * self.before + self.last) % 4096, self.context >> 20
        context, number = self.long.get(long, (None, 0))
        if context != self.context:
            number = self.short.get(short, 0)
        if tag & self.c["EVENT_SHAPE"]:
            number = cursor.varint()
        if not 0 < number <= len(self.shapes):
            raise _Stop("SHAPE")
        old = self.shapes[number - 1]
        shape = dict(old)
        a, b = shape["history"][-shape["lag"]]
        given = bool(tag & self.c["EVENT_COUNT"])
        if given and shape["flags"] & self.c["SHAPE_HAS_A"]:
            a = cursor.changed(a, _LARGEST_NUMBER)
        if given and shape["flags"] & self.c["SHAPE_HAS_B"]:
            b = cursor.changed(b, _LARGEST_NUMBER)
        shape["count_a"], shape["count_b"] = a, b
        event: dict[str, Any] = {
            "gap": gap,
            "duration": duration,
            "number": number,
            "shape": shape,
        }
        event |= {
            "overhead": 0,
            "lost_us": 0,
            "polls": 1,
            "inside": 0,
            "statuses": [],
            "foreign": [],
            "away": [],
        }
        if tag & self.c["EVENT_EXTRAS"]:
            self._extras(cursor, event)
        room = _LATEST_UNITS - self.facts["duration_units"]
        if event["gap"] > room or event["duration"] > room - event["gap"]:
            raise _Stop("RANGE")
        pairs = shape["history"]
        if given and (a, b) in pairs:
            shape["lag"] = pairs[::-1].index((a, b)) + 1
        shape["history"] = [*pairs[1:], (a, b)]
        self.shapes[number - 1] = shape
        self._count(event)
        self.short[short], self.long[long] = number, (self.context, number)
        self.before, self.last = self.last, number
        factor, shift = self.c["CONTEXT_FACTOR"], self.c["CONTEXT_SHIFT"]
        self.context = ((self.context << shift) ^ (number * factor)) & 0xFFFFFFFF

    def _extras(self, cursor: _Cursor, event: dict[str, Any]) -> None:
        bits = cursor.varint()
        if bits & ~_EXTRAS:
            raise _Stop("EXTRA")
        shape, c = event["shape"], self.c
        if bits & c["EXTRA_LONG"]:
            event["gap"] |= cursor.varint(_LATEST_UNITS >> 32) << 32
            event["duration"] |= cursor.varint(_LATEST_UNITS >> 32) << 32
        if bits & c["EXTRA_OVERHEAD"]:
            event["overhead"] = cursor.varint(_LATEST_UNITS)
        if bits & c["EXTRA_LOST"]:
            event["lost_us"] = cursor.varint(2**32 - 1)
        if bits & c["EXTRA_VALUES"]:
            for name in _VALUES:
                if shape["flags"] & c[f"SHAPE_VARIES_{name.upper()}"]:
                    shape[name] = cursor.changed(shape[name], _LARGEST_PEER)
            if shape["flags"] & c["SHAPE_VARIES_LIST"]:
                shape["reference"] = self._reference(cursor)
        if bits & c["EXTRA_VECTORS"]:
            for side in "ab":
                if shape["flags"] & c[f"SHAPE_VECTOR_{side.upper()}"]:
                    shape[f"vector_{side}"] = self._vector(cursor)
        self._rare_extras(cursor, event, bits)

    def _rare_extras(self, cursor: _Cursor, event: dict[str, Any], bits: int) -> None:
        row, c = self.facts["events"], self.c
        if bits & c["EXTRA_STATUS"]:
            for _ in range(cursor.varint()):
                position = cursor.varint(2**32 - 1)
                source = cursor.changed(0, _LARGEST_PEER)
                tag = cursor.changed(0, _LARGEST_PEER)
                event["statuses"].append((row, position, source, tag))
        if bits & c["EXTRA_REPEAT"]:
            event["polls"] = cursor.varint(_LARGEST_SIZE)
            event["inside"] = cursor.varint(_LATEST_UNITS)
        for name in ("OBJECT", "ERROR"):
            if bits & c[f"EXTRA_{name}"]:
                cursor.varint()
        if bits & c["EXTRA_FOREIGN"]:
            for _ in range(cursor.varint()):
                thread = cursor.varint(2**31 - 1)
                event["foreign"].append((row, thread, cursor.varint(_LARGEST_NUMBER)))

    def _count(self, event: dict[str, Any]) -> None:
        facts, flags, c = self.facts, event["shape"]["flags"], self.c
        facts["events"] += 1
        facts["requests"] += bool(flags & c["SHAPE_CREATES"])
        facts["persistent"] += bool(flags & c["SHAPE_PERSISTENT"])
        facts["errors"] += bool(flags & c["SHAPE_FAILED"])
        if flags & c["SHAPE_NOT_READY"]:
            facts["polls"] += event["polls"]
        facts["handled"] += _handled(event)
        facts["vectors"] += _has_vectors(event["shape"])
        facts["statuses"] += len(event["statuses"])
        facts["foreign"] += len(event["foreign"])
        overhead = min(event["overhead"], event["gap"])
        gap = event["gap"] - overhead
        facts["overhead_units"] += overhead
        facts["compute_units"] += event["gap"] + _work_amid(self.scale, event)
        if _nanoseconds(self.scale, gap) - 1000 * event["lost_us"] > c["LONG_GAP_NS"]:
            facts["long_units"] += gap
        facts["lost_us"] += event["lost_us"]
        if self.queued_us is not None and event["lost_us"]:
            queued_us = min(self.queued_us, event["lost_us"])
            event["away"] = [(queued_us, event["lost_us"] - queued_us)]
            facts["away"] += 1
            facts["told_us"] += event["lost_us"]
            facts["queued_us"] += queued_us
        self.queued_us = None
        event["begin"] = facts["duration_units"] + event["gap"]
        facts["duration_units"] += event["gap"] + event["duration"]
        self.events.append(event)


def _handled(event: dict[str, Any]) -> int:
    c, flags = trace_format(), event["shape"]["flags"]
    if flags & (c["SHAPE_CREATES"] | c["SHAPE_PERSISTENT"]):
        return 1
    if not flags & (c["SHAPE_STARTS"] | c["SHAPE_COMPLETES"]):
        return 0
    given = int(event["shape"]["count_a"])
    return min(max(given, 0), _MOST_HANDLED)


def _has_vectors(shape: dict[str, Any]) -> bool:
    c = trace_format()
    return bool(shape["flags"] & (c["SHAPE_VECTOR_A"] | c["SHAPE_VECTOR_B"]))


def checksum(data: Any, begin: int, end: int, before: int = 0) -> int:
    """Return the CRC32C of some bytes, see `skelgen.trace.stream.checksum`."""
    crc = ~before & 0xFFFFFFFF
    for byte in bytes(data)[begin:end]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return ~crc & 0xFFFFFFFF


def scan(data: Any, header: Header, end: int) -> Scan:
    """Walk through a file once, see `skelgen.trace.stream.scan`."""
    walk = _Walk(bytes(data), header, end)
    stop = walk.run()
    shapes = np.zeros(len(walk.shapes), dtype("call_shape"))
    for row, shape in zip(shapes, walk.shapes, strict=True):
        for name in ("offset", *_FIELDS):
            row[name] = shape[name]
    return Scan(
        stop=stop,
        position=walk.position,
        definitions=np.array(walk.definitions, dtype("definition")),
        shapes=shapes,
        facts=TraceFacts(**walk.facts),
    )


def decode(
    data: Any,
    header: Header,
    end: int,
    shapes: NDArray[np.void],
    columns: EventColumns,
    scale: TimeScale,
) -> Decoded:
    """Decode the events of a file, see `skelgen.trace.stream.decode`."""
    walk = _Walk(bytes(data), header, end)
    walk.run()
    variants: dict[tuple[int, ...], int] = {}
    implausible = 0
    vectors = []
    handled = 0
    for row, event in enumerate(walk.events):
        now, number = event["shape"], event["number"] - 1
        work = _work_amid(scale, event)
        key = (number, *(now[name] for name in _VALUES), int(work > 0))
        columns.variant[row] = variants.setdefault(key, len(variants))
        columns.reference[row] = now["reference"]
        size, cut = _size(shapes[number], event)
        columns.size_bytes[row] = size
        implausible += cut
        begin, leave = event["begin"], event["begin"] + event["duration"]
        columns.enter_ns[row] = scale.origin_ns + _nanoseconds(scale, begin + work)
        columns.leave_ns[row] = scale.origin_ns + _nanoseconds(scale, leave)
        gap = work + max(event["gap"] - event["overhead"], 0)
        gap_ns, polls = _nanoseconds(scale, gap), event["polls"] if work else 1
        recorder_ns = scale.cost_ns * polls
        recorder_ns += (handled * scale.request_cost_ps + 500) // 1000
        columns.compute_ns[row] = max(gap_ns - recorder_ns, 0)
        handled = _handled(event)
        if _has_vectors(now):
            vectors.append((row, now["vector_a"], now["vector_b"]))
    events = walk.events
    return Decoded(
        events=len(events),
        variants=np.array(list(variants), dtype("variant")),
        statuses=np.array([s for e in events for s in e["statuses"]], dtype("status")),
        foreign=np.array([f for e in events for f in e["foreign"]], dtype("foreign")),
        vectors=np.array(vectors, dtype("vectors")),
        away=np.array(
            [(row, *a) for row, e in enumerate(events) for a in e["away"]],
            dtype("away"),
        ),
        implausible=implausible,
    )


def _work_amid(scale: TimeScale, event: dict[str, Any]) -> int:
    """Return how long a rank worked between polls that found nothing [units]."""
    work, gaps = event["duration"] - event["inside"], event["polls"] - 1
    if gaps < 1 or work < 10 * event["inside"]:
        return 0
    return 0 if _nanoseconds(scale, work) < 10_000 * gaps else work


def _nanoseconds(scale: TimeScale, units: int) -> int:
    return int(min(float(units) * scale.ns_per_unit + 0.5, float(_LATEST_UNITS)))


def _size(shape: Any, event: dict[str, Any]) -> tuple[int, bool]:
    """Return the size of a call, and whether it had to be cut."""
    lib, now = kernel().lib, event["shape"]
    rule = int(shape["rule"])
    if rule == lib.SKELGEN_RULE_ROOT_A:
        root = now["peer"] in (int(shape["own"]), trace_format()["ROOT"])
        rule = lib.SKELGEN_RULE_A if root else lib.SKELGEN_RULE_B
    if rule == lib.SKELGEN_RULE_NONE:
        return 0, False
    if rule == lib.SKELGEN_RULE_POLLS:
        return event["polls"], False
    side = "b" if rule == lib.SKELGEN_RULE_B else "a"
    count, element = now[f"count_{side}"], int(shape[f"bytes_{side}"])
    if count < 0:
        return 0, True
    if element and count > _LARGEST_SIZE // element:
        return _LARGEST_SIZE, True
    return count * element, False
