"""Tables as JSON lines: an object for each run, its names are the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skelgen.documents import Field
from skelgen.errors import InputError
from skelgen.store.formats.cells import Cell
from skelgen.store.formats.columns import TypedColumns, columns_of
from skelgen.store.formats.identity import identified
from skelgen.store.formats.limits import LimitError
from skelgen.store.formats.table import Reader
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run


def read_objects(
    file: Path,
    lines: Sequence[tuple[int, Field]],
    mapping: Mapping[str, str],
    known: TypedValues = NOTHING,
) -> tuple[list[Run], TypedColumns]:
    """Read a table.

    Parameters
    ----------
    file : Path
        For messages.
    lines : sequence of (int, Field)
        Number and object of each line; a name that a line lacks is an empty cell.
    mapping : mapping
        Of `parse_mapping`.
    known : TypedValues
        What holds for all runs.

    Raises
    ------
    InputError
        With line and column, for the first mistake.
    """
    rows = [(number, _cells(number, line)) for number, line in lines]
    headers = list(dict.fromkeys(name for _, row in rows for name in row))
    try:
        columns = columns_of(headers, mapping)
    except LimitError as error:
        raise InputError(f"{file}: {error}") from error
    reader = Reader(file, columns.used, known)
    names = [one.header for one in columns.used]
    runs = (
        reader.run(number, [row.get(name) for name in names]) for number, row in rows
    )
    return list(identified(runs, file.name)), columns


def _cells(number: int, line: Field) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for name, field in line.mapping(optional=None).items():
        value = field.value
        if isinstance(value, dict | list):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise InputError(
                f"{line.file}: line {number}, column {name[:60]!r}: read {kind}, "
                "expected a number or a word"
            )
        found[name] = value
    return found
