"""From the rows of a table to runs."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skelgen.documents import Field
from skelgen.documents.json_document import json_field
from skelgen.errors import InputError
from skelgen.store.formats import cells
from skelgen.store.formats.cells import TIME_UNITS, Cell
from skelgen.store.formats.columns import TIME_COLUMN, TypedColumn
from skelgen.store.formats.limits import LimitError, check_run, check_time
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.rows import Run, RunPart

_PART = ("name", "kind", "time_s", "weight", "share")


class Reader:
    """Reads rows of one table; times must all have one unit.

    Parameters
    ----------
    file : Path
        For messages.
    columns : sequence of TypedColumn
        In the order of the cells.
    known : TypedValues
        What holds for all runs.
    """

    def __init__(
        self, file: Path, columns: Sequence[TypedColumn], known: TypedValues
    ) -> None:
        self._file, self._known, self._given = file, known, known.given
        self._is_sure = False
        self._columns = [(one, self._reader(one)) for one in columns]
        self._unit = next((one.unit for one in columns if one.field == TIME_COLUMN), "")
        self._unit_line = 1 if self._unit else 0

    def run(self, line: int, row: Sequence[Cell]) -> Run:
        """Read a row.

        Parameters
        ----------
        line : int
            Of the file, from 1.
        row : sequence of str, float, bool or None
            A cell for each column; empty or None where nothing is known.

        Raises
        ------
        InputError
            With line and column.
        """
        values: dict[str, Any] = {}
        mapped: dict[str, list[tuple[str, Any]]] = {}
        for (column, read), cell in zip(self._columns, row, strict=True):
            if cell is None or cell == "":
                if column.field == TIME_COLUMN:
                    raise self._error(line, column, "read nothing, expected a time")
                continue
            try:
                found = (
                    read(cell)
                    if column.field != TIME_COLUMN
                    else self._time(line, cell)
                )
            except LimitError as error:
                raise self._error(line, column, str(error)) from error
            if column.name:
                mapped.setdefault(column.field, []).append((column.name, found))
            else:
                values[FIELD.get(column.field, column.field)] = found
        return self._checked(line, values, mapped)

    def _checked(
        self,
        line: int,
        values: dict[str, Any],
        mapped: Mapping[str, Iterable[tuple[str, Any]]],
    ) -> Run:
        for name, pairs in mapped.items():
            values[name] = tuple(sorted(pairs))
        for name, wanted in self._given.items():
            values.setdefault(name, wanted)
        values.setdefault("application", self._known.otherwise)
        values.setdefault("source", f"{self._file.name} line {line}")
        run = Run(**values)
        if self._given or self._known.inputs:
            run = self._known.complete(run)
        if self._is_sure and run.application and not run.parts:
            return run  # its cells were checked, and what is known with the first one
        try:
            self._is_sure = True
            return check_run(run)
        except LimitError as error:
            raise InputError(f"{self._file}: line {line}: {error}") from error

    def _time(self, line: int, cell: Cell) -> float:
        number, unit = cells.time_and_unit(cell)
        if not self._unit_line:
            self._unit, self._unit_line = unit, line
        elif unit and TIME_UNITS[unit] != TIME_UNITS.get(self._unit):
            have = f"{self._unit or 'no unit'} in line {self._unit_line}"
            raise LimitError(f"read {cell!r}, but {have}; give all times one unit")
        elif not unit and self._unit and self._unit_line > 1:
            raise LimitError(
                f"read {cell!r} without a unit, but {self._unit} in line "
                f"{self._unit_line}; give all times one unit"
            )
        factor = TIME_UNITS[self._unit] if self._unit else 1.0
        return check_time(number * factor)

    def _reader(self, column: TypedColumn) -> Callable[[Cell], Any]:
        if column.field == "parts":
            return functools.partial(_parts, self._file)
        return READERS[column.field]

    def _error(self, line: int, column: TypedColumn, what: str) -> InputError:
        return InputError(
            f"{self._file}: line {line}, column {column.header[:60]!r}: {what}"
        )


#: Fields whose name differs from their column's.
FIELD = {TIME_COLUMN: "time_s"}
#: What reads a cell, by the field of its column.
READERS: Mapping[str, Callable[[Cell], Any]] = {
    "application": cells.word,
    TIME_COLUMN: cells.number,
    "ranks": cells.count,
    "nodes": cells.count,
    "ranks_per_node": cells.count,
    "executable": cells.word,
    "hosts": functools.lru_cache(4096)(cells.hosts),
    "allocation": cells.word,
    "started": cells.date,
    "status": cells.status,
    "system": cells.word,
    "mpi": cells.word,
    "source": cells.word,
    "identity": cells.word,
    "author": cells.word,
    "inputs": cells.value,
    "loads": cells.number,
    "costs": cells.number,
}


def _parts(file: Path, cell: Cell) -> tuple[RunPart, ...]:
    """Read parts as `written_parts` writes them."""
    try:
        field = json_field(cells.word(cell), Path(file.name))
        return tuple(_part(one) for one in field.items())
    except InputError as error:
        raise LimitError(str(error)) from error


def _part(field: Field) -> RunPart:
    values = field.items()
    if len(values) != len(_PART):
        raise field.error(f"read {len(values)} values, expected {', '.join(_PART)}")
    name, kind, *numbers = values
    return RunPart(name.text(), kind.text(), *(one.amount() for one in numbers))


def written_parts(parts: Iterable[RunPart]) -> str:
    """Write parts into one cell."""
    rows = [[getattr(one, name) for name in _PART] for one in parts]
    return json.dumps(rows, separators=(",", ":")) if rows else ""


def rows_of(
    lines: Iterable[tuple[int, Sequence[Cell]]], reader: Reader
) -> Iterator[Run]:
    """Read all rows; see `Reader.run`."""
    for line, row in lines:
        yield reader.run(line, row)
