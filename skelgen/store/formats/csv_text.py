"""Tables as CSV: from bytes to runs, and from runs to text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from skelgen.documents.numbers import format_real
from skelgen.errors import InputError, UsageError
from skelgen.store.formats.cells import (
    shown_date,
    word,
    written,
    written_hosts,
    written_word,
)
from skelgen.store.formats.columns import (
    PREFIXES,
    RUN_COLUMNS,
    TIME_COLUMN,
    TypedColumns,
    columns_of,
    is_input,
)
from skelgen.store.formats.identity import identified
from skelgen.store.formats.limits import LimitError
from skelgen.store.formats.plain_table import plain_runs
from skelgen.store.formats.table import Reader, written_parts
from skelgen.store.formats.typed_values import NOTHING, TypedValues, is_empty
from skelgen.store.rows import Run

_SEPARATORS = ",;\t"
_BOM = b"\xef\xbb\xbf"
#: Bytes at the begin of text in other encodings.
_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
#: Columns that are written even if they say nothing.
_ALWAYS = ("application", TIME_COLUMN, "ranks", "status", "identity")


def read_csv(
    file: Path, content: bytes, mapping: Mapping[str, str], known: TypedValues = NOTHING
) -> tuple[list[Run], TypedColumns]:
    """Read a table.

    Parameters
    ----------
    file : Path
        For messages.
    content : bytes
        UTF-8 text with commas, semicolons or tabs; the first line names the columns.
    mapping : mapping
        Of `parse_mapping`.
    known : TypedValues
        What holds for all runs.

    Returns
    -------
    runs : list of Run
    columns : TypedColumns

    Raises
    ------
    InputError
        With line and column, for the first mistake.
    """
    text = _decoded(file, content)
    lines = _lines(file, text)
    number, headers = next(lines, (1, []))
    try:
        headers = [word(header.strip()) for header in headers]
    except LimitError as error:
        raise InputError(f"{file}: line {number}: {error}") from error
    if not any(headers):
        raise InputError(
            f"{file}: line 1: is empty; expected the names of the columns, such as "
            "app,time_s,ranks,n"
        )
    try:
        columns = columns_of(headers, mapping)
    except LimitError as error:
        raise InputError(f"{file}: line {number}: {error}") from error
    places = [headers.index(one.header) for one in columns.used]
    by_place = dict(zip(places, columns.used, strict=True))
    plain = None
    if number == 1:
        plain = plain_runs(file.name, text, _separator(text), by_place, known)
    if plain is not None:
        return plain, columns
    reader = Reader(file, columns.used, known)
    runs = _runs(file, lines, headers, places, reader)
    return list(identified(runs, file.name)), columns


def _runs(
    file: Path,
    lines: Iterator[tuple[int, list[str]]],
    headers: Sequence[str],
    places: Sequence[int],
    reader: Reader,
) -> Iterator[Run]:
    for line, row in lines:
        if not row or not any(row):
            continue
        if len(row) != len(headers):
            raise InputError(
                f"{file}: line {line}: read {len(row)} columns, expected the "
                f"{len(headers)} of line 1"
            )
        yield reader.run(line, [row[place].strip() for place in places])


def _lines(file: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each row, with the line at which it begins."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_separator(text), strict=True
    )
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{file}: line {line}: is not CSV: {error}; look for a quotation mark that "
            "is not closed"
        ) from error


def _separator(text: str) -> str:
    head = text.partition("\n")[0]
    return max(_SEPARATORS, key=head.count)


def _decoded(file: Path, content: bytes) -> str:
    """Return text; say by line and column what is not UTF-8."""
    content = content.removeprefix(_BOM)
    try:
        text = content.decode("utf-8")
        at = len(text[: text.index("\0")].encode()) if "\0" in text else -1
    except UnicodeDecodeError as error:
        at = error.start
    if at < 0:
        return text
    begin = content.rfind(b"\n", 0, at) + 1
    head = content.partition(b"\n")[0].decode("utf-8", "replace")
    separator = _separator(head).encode()
    line = content.count(b"\n", 0, at) + 1
    column = content.count(separator, begin, at) + 1
    encoding = _ENCODINGS.get(content[:2], "ISO-8859-1")
    remedy = f"convert the file, such as: iconv -f {encoding} -t UTF-8"
    if not content[at]:
        remedy = "is the file whole, and is it CSV? make it again"
    raise InputError(
        f"{file}: line {line}, column {column}: byte 0x{content[at]:02x} is not UTF-8 "
        f"text; {remedy}"
    )


def csv_text(runs: Sequence[Run]) -> str:
    """Write runs as CSV that `read_csv` reads back without loss.

    Columns that no run needs are left out. An input that is called like a column of
    another meaning is written as ``input.NAME``.

    Raises
    ------
    UsageError
        When an input is called as no column can be.
    """
    fields = tuple(
        name
        for name in RUN_COLUMNS
        if name in _ALWAYS or any(not is_empty(_value(run, name)) for run in runs)
    )
    mapped = tuple(
        (
            field,
            tuple(sorted({name for run in runs for name, _ in getattr(run, field)})),
        )
        for field in PREFIXES.values()
    )
    layout = CsvLayout(fields, mapped)
    return csv_head(layout) + csv_lines(runs, layout)


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """The columns of a table.

    Attributes
    ----------
    fields : tuple of str
        Names of `RUN_COLUMNS`.
    mapped : tuple of (str, tuple of str)
        ``inputs``, ``loads`` and ``costs`` with the names of those that have a column.
    """

    fields: tuple[str, ...]
    mapped: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, names: Iterable[tuple[str, str]]) -> Self:
        """Return a layout with all fields, and with these names of mappings."""
        those = tuple(names)
        mapped = (
            (field, tuple(name for kind, name in those if kind == field))
            for field in PREFIXES.values()
        )
        return cls(tuple(RUN_COLUMNS), tuple(mapped))


def csv_head(layout: CsvLayout) -> str:
    """Write the first line of a table; see `csv_text`."""
    return _written([_headers(layout.fields, dict(layout.mapped))])


def csv_lines(runs: Iterable[Run], layout: CsvLayout) -> str:
    """Write runs as the lines of a table that follow its first one."""
    rows = []
    for run in runs:
        pairs = {field: dict(getattr(run, field)) for field, _ in layout.mapped}
        rows.append(
            [_cell(run, name) for name in layout.fields]
            + [
                written(pairs[field][name]) if name in pairs[field] else ""
                for field, names in layout.mapped
                for name in names
            ]
        )
    return _written(rows)


def _written(rows: Iterable[Sequence[str]]) -> str:
    output = io.StringIO(newline="")
    csv.writer(output, lineterminator="\n").writerows(rows)
    return output.getvalue()


def _headers(fields: Sequence[str], mapped: Mapping[str, Sequence[str]]) -> list[str]:
    found = [_HEADERS.get(name, name) for name in fields]
    for begin, field in PREFIXES.items():
        for name in mapped[field]:
            header = f"{begin}{name}"
            if field == "inputs" and is_input(name):
                header = name
            if header != header.strip() or header[:1] == '"' or header == begin:
                raise UsageError(
                    f"the name {name!r} is none that a column can have; write "
                    "--format jsonl, or leave out runs that have it with --where"
                )
            found.append(written_word(header))
    return found


#: How columns are called whose field has another name.
_HEADERS = {"application": "app", TIME_COLUMN: "time_s", "identity": "id"}


def _value(run: Run, name: str) -> object:
    return getattr(run, "time_s" if name == TIME_COLUMN else name)


def _cell(run: Run, name: str) -> str:
    value = _value(run, name)
    if name == "started":
        return shown_date(run.started)
    if name == "parts":
        return written_parts(run.parts)
    if isinstance(value, tuple):
        return written_hosts(value)
    if isinstance(value, str):
        return written_word(value)
    return format_real(value) if isinstance(value, float) else str(value or "")
