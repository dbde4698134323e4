"""Series of loads in a CSV file: time, and a column for each node or link."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skelgen.documents.dates import moment_s
from skelgen.documents.files import read_text
from skelgen.documents.numbers import NumberError, real
from skelgen.errors import InputError
from skelgen.forecasts import Samples

#: More than the nodes and links of any site.
_MOST_COLUMNS = 10_000
#: What a cell says that has no value.
_NOTHING = frozenset(["na", "nan", "null", "none", "-", "inf", "-inf"])


def read_loads(path: Path) -> list[Samples]:
    """Read a file with a header ``time,n1,n2`` and a line for each moment.

    Times are seconds since 1970, or dates such as 2026-11-24T10:00:00Z; without a zone
    they are in UTC. An empty cell is no sample.

    Raises
    ------
    InputError
        With the line that is something else.
    """
    try:
        lines = list(csv.reader(io.StringIO(read_text(path).removeprefix("\ufeff"))))
    except csv.Error as error:
        raise InputError(
            f"{path}: is no CSV file ({error}); expected a header time,n1,n2 and lines "
            "of numbers"
        ) from error
    names = _names(path, lines[0] if lines else [])
    columns: list[list[tuple[float, float]]] = [[] for _ in names]
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names) + 1:
            raise InputError(
                f"{path} line {number}: read {len(cells)} cells, expected "
                f"{len(names) + 1} as in the header"
            )
        time = _time(path, number, cells[0])
        for column, cell in zip(columns, cells[1:], strict=True):
            if cell.strip():
                column.append((time, _value(path, number, cell)))
    found = []
    for name, column in zip(names, columns, strict=True):
        pairs = np.array(column, np.float64).reshape(-1, 2)
        found.append(Samples(name, pairs[:, 0], pairs[:, 1]))
    return found


def _names(path: Path, header: Sequence[str]) -> list[str]:
    names = [name.strip() for name in header]
    if (
        not 2 <= len(names) <= _MOST_COLUMNS
        or names[0].lower() not in ("time", "timestamp")
        or not all(names)
        or len(set(names)) < len(names)
    ):
        shown = ",".join(names)[:60]
        raise InputError(
            f"{path} line 1: read {shown!r}, expected a header such as time,n1,n2, "
            "each name once"
        )
    return names[1:]


def _time(path: Path, number: int, cell: str) -> float:
    """Read a time [s]."""
    try:
        return moment_s(cell.strip())
    except NumberError as error:
        raise InputError(f"{path} line {number}: {error}") from error


def _value(path: Path, number: int, cell: str) -> float:
    text = cell.strip()
    if text.lower() in _NOTHING:
        return math.nan
    try:
        return real(text)
    except NumberError as error:
        raise InputError(f"{path} line {number}: {error}") from error
