"""Read a table column by column, where each of its cells says what it says plainly.

Most tables do, and are read several times as fast. Of any other table nothing is read
here: `skelgen.store.formats.table.Reader` goes through it cell by cell, and knows the
line and the column of a mistake.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

from skelgen.store.formats.cells import TIME_UNITS
from skelgen.store.formats.columns import PREFIXES, TIME_COLUMN, TypedColumn
from skelgen.store.formats.identity import identified_values, values_of
from skelgen.store.formats.limits import (
    LARGEST_NUMBER,
    LEAST_TIME_S,
    MOST_STARTED_S,
    MOST_TIME_S,
    LimitError,
    check_run,
)
from skelgen.store.formats.table import FIELD, READERS
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.rows import Run

#: Fields of numbers, and the least and the most that each may be.
_NUMBERS: Mapping[str, tuple[float, float]] = {
    TIME_COLUMN: (LEAST_TIME_S, MOST_TIME_S),
    "started": (0.0, MOST_STARTED_S),
    **dict.fromkeys(PREFIXES.values(), (-LARGEST_NUMBER, LARGEST_NUMBER)),
}
#: Of these characters `float` reads what a cell may say, but for longer powers of ten.
_is_numeric = re.compile(r"[-+.0-9eE\n]*").fullmatch
_has_long_power = re.compile("[eE][-+]?[0-9]{5}").search
_APPLICATION = [one.name for one in fields(Run)].index("application")
_USUAL = {one.name: one.default for one in fields(Run)}


class _NotPlain(Exception):  # noqa: N818 -- no error: another reader takes the table
    """A table has to be read cell by cell."""


def plain_runs(
    name: str,
    text: str,
    separator: str,
    columns: Mapping[int, TypedColumn],
    known: TypedValues,
) -> list[Run] | None:
    """Return the runs of a table with their identities; None: it is not plain.

    Parameters
    ----------
    name : str
        Of the file.
    text : str
        CSV; its first line names the columns.
    separator : str
    columns : mapping
        Those that are used, by their places in a row.
    known : TypedValues
        What holds for all runs.
    """
    if any(column.field == "parts" for column in columns.values()):
        return None
    try:
        rows = _rows(text, separator)
        cells = list(zip(*rows, strict=True))
        values = _values(
            [(one, [*map(str.strip, cells[at])]) for at, one in columns.items()]
        )
        sources = _sources(name, len(rows))
        return list(identified_values(_complete(values, sources, known), name))
    except (_NotPlain, LimitError):
        return None


def _rows(text: str, separator: str) -> list[list[str]]:
    """Return the rows below the first; each is one line and as long as the others."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        head, *rows = reader
    except (csv.Error, ValueError) as error:
        raise _NotPlain from error
    if len(rows) + 1 != reader.line_num or not rows:
        raise _NotPlain
    if {len(row) for row in rows} != {len(head)} or not all(map(any, rows)):
        raise _NotPlain
    return rows


def _sources(name: str, count: int) -> list[str]:
    return [f"{name} line {line}" for line in range(2, count + 2)]


def _values(
    columns: Sequence[tuple[TypedColumn, Sequence[str]]],
) -> dict[str, list[Any]]:
    """Return the values of each field; None where a cell says nothing."""
    found: dict[str, list[Any]] = {}
    named: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    for column, cells in columns:
        values = _column(column, cells)
        if column.name:
            named[column.field][column.name] = values
        else:
            found[FIELD.get(column.field, column.field)] = values
    for field, by_name in named.items():
        pairs = [
            [*zip(repeat(name), values, strict=False)]
            for name, values in sorted(by_name.items())
        ]
        found[field] = list(zip(*pairs, strict=True))
        if any(None in values for values in by_name.values()):
            found[field] = [
                tuple(pair for pair in row if pair[1] is not None)
                for row in found[field]
            ]
    return found


def _column(column: TypedColumn, cells: Sequence[str]) -> list[Any]:
    if column.field in _NUMBERS:
        least, most = _NUMBERS[column.field]
        found = _numbers(cells, TIME_UNITS[column.unit] if column.unit else 1.0)
        if found and least <= min(found) and max(found) <= most:
            return found
        if column.field == TIME_COLUMN:  # each may have a unit, and none may be missing
            raise _NotPlain
    read = READERS[column.field]
    known = {cell: read(cell) if cell else None for cell in set(cells)}
    return [known[cell] for cell in cells]


def _numbers(cells: Sequence[str], factor: float) -> list[float]:
    """Return cells as numbers; nothing where one is none."""
    text = "\n".join(cells)
    if not _is_numeric(text) or _has_long_power(text):
        return []
    try:
        found = [*map(float, cells)]
    except ValueError:
        return []
    return found if factor == 1.0 else [number * factor for number in found]


def _complete(
    values: Mapping[str, Sequence[Any]], sources: Sequence[str], known: TypedValues
) -> Iterator[Sequence[Any]]:
    """Give the values of each run; what was typed is checked with the first."""
    usual = {**_USUAL, "application": known.otherwise, **known.given}
    of_fields = []
    for field, value in usual.items():
        instead = sources if field == "source" else repeat(value, len(sources))
        found = values.get(field, instead)
        if field in values and None in found:
            pairs = zip(found, instead, strict=True)
            found = [other if own is None else own for own, other in pairs]
        of_fields.append(found)
    completes = bool(known.given or known.inputs)
    for number, row in enumerate(zip(*of_fields, strict=True)):
        if completes or not number:
            run = known.complete(Run(*row))
            yield values_of(run if number else check_run(run))
        elif row[_APPLICATION]:
            yield row
        else:
            raise _NotPlain
