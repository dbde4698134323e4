"""Tell by its content what a file is, and read the rows that it holds."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.documents import Field, json_field
from skelgen.documents.files import as_text
from skelgen.errors import InputError
from skelgen.store.formats import extrap_json, extrap_text
from skelgen.store.formats.answers import is_answer, read_answer
from skelgen.store.formats.columns import TypedColumns
from skelgen.store.formats.csv_text import read_csv
from skelgen.store.formats.extrap_runs import runs_of
from skelgen.store.formats.json_table import read_objects
from skelgen.store.formats.limits import LimitError, check_run
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.lines import KIND, from_field
from skelgen.store.rows import Row, Run
from skelgen.store.store import AddedRow

logger = logging.getLogger(__name__)

_OBJECT = re.compile(rb"\s*\{")
#: How the YAML files of skelgen begin, after their checksum and a remark.
_YAML = re.compile(rb"(#[^\n]*\n)*skelgen_(?P<kind>[a-z]+):")


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds.

    Attributes
    ----------
    rows : tuple of Row
    refused : tuple of AddedRow
        Lines of our own format that are no rows.
    """

    rows: tuple[Row, ...]
    refused: tuple[AddedRow, ...] = ()


def yaml_kind(content: bytes) -> str:
    """Return what a YAML file of ours is, ``phases`` or ``workload``; else nothing."""
    found = _YAML.match(content)
    return found["kind"].decode() if found else ""


def read_content(
    file: Path,
    content: bytes,
    known: TypedValues,
    mapping: Mapping[str, str],
    *,
    made: float,
) -> FileContent:
    """Read a file that is no YAML.

    Parameters
    ----------
    file : Path
        For messages.
    content : bytes
    known : TypedValues
        What holds for all rows.
    mapping : mapping
        Of `skelgen.store.formats.columns.parse_mapping`.
    made : float
        Date of the file, seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        For the first mistake, with its line; in a file of our own format a line that
        is no row is refused and the others are read.
    """
    if _OBJECT.match(content):
        return _read_json(file, content, known, mapping, made)
    text = content.decode("utf-8", "replace")
    if extrap_text.EXTRAP_BEGINS.match(text):
        experiment = extrap_text.read_text(file, as_text(file, content))
        return FileContent(tuple(runs_of(file, experiment, mapping, known)))
    runs, columns = read_csv(file, content, mapping, known)
    return _table(file, runs, columns)


def _read_json(
    file: Path,
    content: bytes,
    known: TypedValues,
    mapping: Mapping[str, str],
    made: float,
) -> FileContent:
    text = as_text(file, content)
    lines = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    whole = _whole(file, text, lines)
    if whole is None:
        return _read_lines(file, lines, known, mapping)
    if is_answer(whole):
        return FileContent(tuple(read_answer(whole, known, made)))
    if extrap_json.is_experiment(whole):
        experiment = extrap_json.read_document(whole)
        return FileContent(tuple(runs_of(file, experiment, mapping, known)))
    if len(lines) == 1:
        return _read_lines(file, lines, known, mapping)
    raise InputError(
        f"{file}: is JSON of no kind that a store reads; expected JSON lines, an "
        "answer of skelgen, or measurements of Extra-P"
    )


def _whole(file: Path, text: str, lines: Sequence[tuple[int, str]]) -> Field | None:
    """Return a document; None for JSON lines."""
    if len(lines) > 1:
        try:
            json_field(lines[0][1], file, f"line {lines[0][0]}")
        except InputError:
            return json_field(text, file)
        return None
    try:
        return json_field(text, file)
    except InputError:
        return None


def _read_lines(
    file: Path,
    lines: Sequence[tuple[int, str]],
    known: TypedValues,
    mapping: Mapping[str, str],
) -> FileContent:
    first = json_field(lines[0][1], file, f"line {lines[0][0]}")
    if isinstance(first.value, dict) and KIND in first.value:
        return read_own(file, lines, known)
    fields = [(n, json_field(line, file, f"line {n}")) for n, line in lines]
    if extrap_json.is_measurement(first):
        experiment = extrap_json.read_lines(fields)
        return FileContent(tuple(runs_of(file, experiment, mapping, known)))
    runs, columns = read_objects(file, fields, mapping, known)
    return _table(file, runs, columns)


def _table(file: Path, runs: Sequence[Run], columns: TypedColumns) -> FileContent:
    if columns.left_out:
        logger.warning(
            "%s: columns left out: %s; name those you want with --columns",
            file,
            ", ".join(columns.left_out)[:300],
        )
    return FileContent(tuple(runs))


def read_own(
    file: Path, lines: Sequence[tuple[int, str]], known: TypedValues
) -> FileContent:
    """Read lines of our own format; those that are no rows are refused.

    Parameters
    ----------
    file : Path
        For messages.
    lines : sequence of (int, str)
        With their numbers.
    known : TypedValues
        What holds for all runs.
    """
    rows: list[Row] = []
    refused: list[AddedRow] = []
    for number, line in lines:
        place = f"line {number}"
        try:
            row = from_field(json_field(line, file, place))
            rows.append(check_run(known.complete(row)) if isinstance(row, Run) else row)
        except LimitError as error:
            refused.append(AddedRow(str(file), place, f"{file}: {place}: {error}"))
        except InputError as error:
            refused.append(AddedRow(str(file), place, str(error)))
    return FileContent(tuple(rows), tuple(refused))
