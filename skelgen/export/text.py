"""RecordRows of numbers as text: templates with holes, filled by the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from skelgen.export.kernel import address, records

_BUFFER_BYTES = 1 << 18
#: Room that the kernel needs behind texts, and for a number [bytes].
_SLACK, _NUMBER = 16, 32

Column = NDArray[Any] | int


@dataclass(frozen=True, slots=True)
class Hole:
    """Where a column's number stands in a template.

    Attributes
    ----------
    column : int
    style : str
        ``integer``; ``thousandths``: with three digits behind the point; ``name``: the
        text of that number; ``or``: an integer, or `text` when it is negative.
    text : str
    """

    column: int
    style: str = "integer"
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RecordRows:
    """RecordRows to be written, in the order of their keys.

    Attributes
    ----------
    key : array
        Ascending. Groups are merged by it; of equal ones the earlier group's comes
        first.
    kind : array or int
        Template of each row, or what the OTF2 library writes; negative: nothing.
    columns : sequence of arrays and ints
        An int stands in all rows.
    time_ns : array or None
        When lanes are merged, see `merge` [ns].
    """

    key: NDArray[Any]
    kind: Column
    columns: Sequence[Column]
    time_ns: NDArray[np.int64] | None = None


class RowGroups:
    """Groups of rows as the kernel wants them."""

    def __init__(self, groups: Sequence[RecordRows]) -> None:
        ffi = records().ffi
        self.count = len(groups)
        self.rows = sum(len(rows.key) for rows in groups)
        self.table = ffi.new("struct skelgen_record_group[]", max(self.count, 1))
        self._kept: list[NDArray[Any]] = []
        for group, rows in zip(self.table, groups, strict=False):
            group.count = count = len(rows.key)
            group.key = self._pointer(rows.key, "int64_t", np.int64)
            kind = rows.kind
            if isinstance(kind, int):
                kind = np.full(count, kind, np.int32)
            group.kind = self._pointer(kind, "int32_t", np.int32)
            self._attach_columns(group, rows.columns)
            if rows.time_ns is not None:
                group.time = self._pointer(rows.time_ns, "int64_t", np.int64)

    def _attach_columns(self, group: Any, columns: Sequence[Column]) -> None:
        """Tell the kernel of columns; it reads numbers of 32 and 64 bits in place."""
        group.columns = len(columns)
        stride, narrow, values = group.stride, group.narrow, group.values
        for i, column in enumerate(columns):
            if isinstance(column, int):
                values[i] = self._pointer(np.array([column]), "uint8_t", np.int64)
                continue
            narrow[i] = is_narrow = column.dtype == np.int32
            stride[i] = 4 if is_narrow else 8
            number = np.int32 if is_narrow else np.int64
            values[i] = self._pointer(column, "uint8_t", number)

    def _pointer(self, array: NDArray[Any], kind: str, number: Any) -> Any:
        own = np.ascontiguousarray(array, number)
        self._kept.append(own)
        return address(records(), own, kind)


class NumberedTexts:
    """Texts that a hole can name by their number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def texts(self) -> list[str]:
        """Return all texts by their numbers."""
        return list(self._numbers)

    def clear(self) -> None:
        """Forget all: numbers begin anew."""
        self._numbers.clear()


class TextWriter:
    """Writes rows as text.

    Attributes
    ----------
    names : NumberedTexts
    """

    def __init__(self) -> None:
        self.names = NumberedTexts()
        self._templates: dict[tuple[str | Hole, ...], int] = {}
        self._text = records().ffi.new("struct skelgen_text *")
        self._kept: list[NDArray[Any]] = []
        self._known = (-1, -1, -1)
        self._buffer = np.empty(_BUFFER_BYTES, np.uint8)
        self._cleared = self._longest_name = 0

    def template(self, *parts: str | Hole) -> int:
        """Return the number of a template."""
        return self._templates.setdefault(parts, len(self._templates))

    def forget_names(self) -> None:
        """Let names begin anew."""
        self.names.clear()
        self._cleared += 1

    def write(self, groups: Sequence[RecordRows], out: BinaryIO) -> None:
        """Write rows into a file."""
        text, given = self._attached(), RowGroups(groups)
        text.row_end = text.row_time = records().ffi.NULL
        while True:
            text.out = address(records(), self._buffer, "uint8_t")
            text.capacity, text.used = len(self._buffer), 0
            stop = records().lib.skelgen_write_text(text, given.table, given.count)
            out.write(self._buffer[: text.used].data)
            if stop == records().lib.SKELGEN_RECORDS_DONE:
                return
            if not text.used:
                self._buffer = np.empty(2 * len(self._buffer), np.uint8)

    def lane(self, groups: Sequence[RecordRows], lane: TextLane) -> None:
        """Write rows into a lane, in place of what it holds."""
        text, given = self._attached(), RowGroups(groups)
        lane.attach(text, given.rows)
        while records().lib.skelgen_write_text(text, given.table, given.count):
            lane.grow(text)
        lane.count = int(text.row_count)

    def _attached(self) -> Any:
        """Tell the kernel of templates and names that are new."""
        known = (len(self._templates), len(self.names), self._cleared)
        if known != self._known:
            self._known, self._kept = known, []
            self._attach_names()
            self._attach_templates()
        return self._text

    def _attach_templates(self) -> None:
        parts, literals, first, longest = [], b"", [0], []
        for template in self._templates:
            longest.append(_SLACK)
            for literal, hole in _pairs(template):
                text, other = literal.encode(), hole.text.encode() if hole else b""
                kind = (
                    _styles()[hole.style]
                    if hole
                    else records().lib.SKELGEN_TEXT_NOTHING
                )
                begin = len(literals)
                column = hole.column if hole else 0
                end = begin + len(text)
                parts.append((kind, column, begin, len(text), end, len(other)))
                literals += text + other
                by_name = kind == records().lib.SKELGEN_TEXT_NAME
                longest[-1] += len(text) + len(other) + _NUMBER
                longest[-1] += self._longest_name if by_name else 0
            first.append(len(parts))
        own_parts = records().ffi.new("struct skelgen_text_part[]", parts)
        self._parts = own_parts
        self._text.parts = own_parts
        self._text.part_first = self._keep(first, np.int64, "int64_t")
        self._text.longest = self._keep(longest, np.int64, "int64_t")
        self._text.template_count = len(self._templates)
        self._text.literals = self._keep_bytes(literals)

    def _attach_names(self) -> None:
        texts = [text.encode() for text in self.names.texts()]
        first = np.cumsum([0, *map(len, texts)])
        self._text.names = self._keep_bytes(b"".join(texts))
        self._text.name_first = self._keep(first, np.int64, "int64_t")
        self._text.name_count = len(texts)
        self._longest_name = max(map(len, texts), default=0)

    def _keep_bytes(self, text: bytes) -> Any:
        padded = text + bytes(_SLACK)
        return self._keep(np.frombuffer(padded, np.uint8), np.uint8, "uint8_t")

    def _keep(self, values: Any, number: Any, kind: str) -> Any:
        array = np.ascontiguousarray(values, number)
        self._kept.append(array)
        return address(records(), array, kind)


def _styles() -> dict[str, int]:
    """Return the kernel's kinds of holes."""
    lib = records().lib
    return {
        "integer": lib.SKELGEN_TEXT_INTEGER,
        "thousandths": lib.SKELGEN_TEXT_THOUSANDTHS,
        "name": lib.SKELGEN_TEXT_NAME,
        "or": lib.SKELGEN_TEXT_OR,
    }


def _pairs(template: Sequence[str | Hole]) -> Iterator[tuple[str, Hole | None]]:
    """Return each hole of a template with the text in front of it, and the rest."""
    text = ""
    for part in template:
        if isinstance(part, Hole):
            yield text, part
            text = ""
        else:
            text += part
    if text:
        yield text, None


class TemplatesByCode:
    """Templates that are made when rows first need them.

    Parameters
    ----------
    writer : TextWriter
    parts : callable
        Returns the parts of the template for a code.
    """

    def __init__(
        self, writer: TextWriter, parts: Callable[[int], tuple[str | Hole, ...]]
    ) -> None:
        self._writer, self._parts = writer, parts
        self._known = np.zeros(0, np.int32)

    def numbers(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the number of the template for each code, which is small."""
        most = int(codes.max(initial=-1))
        if most >= len(self._known):
            larger = np.full(2 * most + 64, -1, np.int32)
            larger[: len(self._known)] = self._known
            self._known = larger
        found = self._known[codes]
        if found.min(initial=0) < 0:
            for code in np.flatnonzero(np.bincount(codes[found < 0])).tolist():
                self._known[code] = self._writer.template(*self._parts(code))
            found = self._known[codes]
        return found


class TextLane:
    """The text of one stream until it is merged with that of others.

    Attributes
    ----------
    count : int
        RecordRows that it holds.
    """

    def __init__(self) -> None:
        self.count = 0
        self.bytes = np.empty(0, np.uint8)
        self.time_ns = np.empty(0, np.int64)
        self.end = np.empty(0, np.int64)

    def attach(self, text: Any, rows: int) -> None:
        """Tell the kernel where so many rows go."""
        if len(self.end) < rows:
            self.time_ns, self.end = (np.empty(rows, np.int64) for _ in range(2))
        text.row_time = address(records(), self.time_ns, "int64_t")
        text.row_end = address(records(), self.end, "int64_t")
        text.row_capacity, text.row_count, text.used = rows, 0, 0
        if not len(self.bytes):
            self.bytes = np.empty(64 * (rows + 1), np.uint8)
        self._attach_bytes(text)

    def grow(self, text: Any) -> None:
        """Make room for more text."""
        larger = np.empty(2 * len(self.bytes), np.uint8)
        larger[: text.used] = self.bytes[: text.used]
        self.bytes = larger
        self._attach_bytes(text)

    def _attach_bytes(self, text: Any) -> None:
        text.out = address(records(), self.bytes, "uint8_t")
        text.capacity = len(self.bytes)


def merge(
    lanes: Sequence[TextLane], refill: Callable[[int], bool], out: BinaryIO
) -> None:
    """Write the rows of lanes in order of time; rows of one lane keep theirs.

    Parameters
    ----------
    lanes : sequence of TextLane
        Empty ones.
    refill : callable
        Fills a lane, given by its number, with what follows; False: nothing does.
    out : file
    """
    ffi, lib = records().ffi, records().lib
    buffer = np.empty(_BUFFER_BYTES, np.uint8)
    heap = np.empty(len(lanes), np.int64)
    given = ffi.new("struct skelgen_lanes *")
    table = ffi.new("struct skelgen_lane[]", max(len(lanes), 1))
    given.lanes, given.count = table, len(lanes)
    given.heap = address(records(), heap, "int64_t")
    while True:
        given.out = address(records(), buffer, "uint8_t")
        given.capacity = len(buffer)
        stop = lib.skelgen_merge_text(given)
        if stop == lib.SKELGEN_RECORDS_NEXT:
            _refill(table[given.wanted], lanes[given.wanted], refill(given.wanted))
            continue
        out.write(buffer[: given.used].data)
        if stop == lib.SKELGEN_RECORDS_DONE:
            return
        if not given.used:
            buffer = np.empty(2 * len(buffer), np.uint8)
        given.used = 0


def _refill(given: Any, lane: TextLane, filled: bool) -> None:
    """Tell the kernel what a lane holds now."""
    given.next, given.ended = 0, not filled
    given.count = lane.count if filled else 0
    given.bytes = address(records(), lane.bytes, "uint8_t")
    given.time = address(records(), lane.time_ns, "int64_t")
    given.end = address(records(), lane.end, "int64_t")
