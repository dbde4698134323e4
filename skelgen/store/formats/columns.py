"""Which column of a table is which field of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.errors import UsageError
from skelgen.store.formats.cells import TIME_UNITS
from skelgen.store.formats.limits import LimitError, check_word

TIME_COLUMN = "time"
#: Fields of a run and other names of their columns.
RUN_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "application": ("app",),
    TIME_COLUMN: (),
    "ranks": (),
    "nodes": (),
    "ranks_per_node": (),
    "executable": (),
    "hosts": (),
    "allocation": (),
    "started": (),
    "status": (),
    "system": (),
    "mpi": (),
    "parts": (),
    "source": (),
    "identity": ("id",),
    "author": (),
}
#: Beginnings of columns whose end is a name.
PREFIXES = {"input.": "inputs", "load.": "loads", "cost.": "costs"}
_NAMES = {
    other: name for name, others in RUN_COLUMNS.items() for other in (name, *others)
}
#: ``time_ms``, ``time [ms]``, ``time (ms)``, ``t/ms``, ``time.ms``.
_UNIT = re.compile(r"(?P<name>.*?)\s*[_\[(/ .]\s*(?P<unit>[A-Za-zµ]+)\s*[\])]?")


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column and what it holds.

    Attributes
    ----------
    header : str
        As the table names it.
    field : str
        A name of `RUN_COLUMNS`, or ``inputs``, ``loads``, ``costs``.
    name : str
        Of the input, load or cost.
    unit : str
        Of times; empty where neither header nor mapping says it.
    """

    header: str
    field: str
    name: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class TypedColumns:
    """The columns of a table.

    Attributes
    ----------
    used : tuple of TypedColumn
    left_out : tuple of str
        Headers of those that nobody asked for.
    """

    used: tuple[TypedColumn, ...]
    left_out: tuple[str, ...] = ()


def parse_mapping(text: str) -> dict[str, str]:
    """Read ``time=t_sec,ranks=np,n=size``: field or input, and its column.

    Raises
    ------
    UsageError
        When it is something else.
    """
    found: dict[str, str] = {}
    typed = " ".join(text.split())[:80]
    for part in text.split(",") if text else ():
        name, equals, header = (word.strip() for word in part.partition("="))
        if not (name and equals and header):
            raise UsageError(
                f"--columns {typed}: {part.strip()[:60]!r} is not a name and its "
                "column, such as time=t_sec,ranks=np,n=size"
            )
        if name in found:
            raise UsageError(f"--columns {typed}: {name[:60]!r} is given twice")
        found[name] = header
    return found


def columns_of(headers: Sequence[str], mapping: Mapping[str, str]) -> TypedColumns:
    """Say what each column holds.

    Columns that are named like fields need no mapping. Without any mapping the others
    are inputs; with one they are left out.

    Parameters
    ----------
    headers : sequence of str
    mapping : mapping
        Of `parse_mapping`.

    Raises
    ------
    LimitError
        When a column is missing, or there twice.
    """
    _check_headers(headers)
    asked: dict[str, str] = {}
    for name, header in mapping.items():
        if header not in headers:
            raise LimitError(
                f"there is no column {header!r} for {name}; it has "
                f"{_listed(headers)}; name one with --columns {name}=..."
            )
        if header in asked:
            raise LimitError(
                f"column {header!r} is asked for as {asked[header]} and {name}"
            )
        asked[header] = name
    used, left_out = [], []
    for header in headers:
        if header in asked:
            used.append(_mapped(header, asked[header]))
        elif (column := _named(header)) is not None:
            used.append(column)
        elif mapping:
            left_out.append(header)
        else:
            used.append(TypedColumn(header, "inputs", header))
    _check_once(used, headers)
    return TypedColumns(tuple(used), tuple(left_out))


def _check_headers(headers: Sequence[str]) -> None:
    for number, header in enumerate(headers, start=1):
        if not header:
            raise LimitError(f"column {number} has no name; write one into line 1")
        check_word(header)
        if header in headers[: number - 1]:
            raise LimitError(f"two columns are called {header!r}; rename one")


def _named(header: str) -> TypedColumn | None:
    """Return the field that a header names by itself."""
    for begin, field in PREFIXES.items():
        if header.startswith(begin) and len(header) > len(begin):
            return TypedColumn(header, field, header[len(begin) :])
    name, unit = split_unit(header)
    if name.lower() == TIME_COLUMN:
        return TypedColumn(header, TIME_COLUMN, unit=unit)
    known = _NAMES.get(header.strip().lower())
    return None if known in (None, TIME_COLUMN) else TypedColumn(header, str(known))


def is_input(header: str) -> bool:
    """Say whether a column is an input where no mapping says what it is."""
    return _named(header) is None


def _mapped(header: str, wanted: str) -> TypedColumn:
    """Return the field that the user gave a header."""
    for begin, field in PREFIXES.items():
        if wanted.startswith(begin) and len(wanted) > len(begin):
            return TypedColumn(header, field, wanted[len(begin) :])
    name, unit = split_unit(wanted)
    if name != TIME_COLUMN:
        known = _NAMES.get(wanted)
        return (
            TypedColumn(header, known)
            if known
            else TypedColumn(header, "inputs", wanted)
        )
    own = split_unit(header)[1]
    if unit and own and TIME_UNITS[unit] != TIME_UNITS[own]:
        raise LimitError(
            f"column {header!r} is in {own}, --columns {wanted}={header} says {unit}; "
            "give one unit"
        )
    return TypedColumn(header, TIME_COLUMN, unit=unit or own)


def split_unit(text: str) -> tuple[str, str]:
    """Split ``time_ms`` into name and unit of time; no unit where there is none.

    Examples
    --------
    >>> split_unit("time [ms]"), split_unit("t_sec"), split_unit("my_time")
    (('time', 'ms'), ('t', 'sec'), ('my_time', ''))
    """
    found = _UNIT.fullmatch(text.strip())
    if found is not None and found["name"] and found["unit"].lower() in TIME_UNITS:
        return found["name"].strip(), found["unit"].lower()
    return text.strip(), ""


def _check_once(used: Sequence[TypedColumn], headers: Sequence[str]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for column in used:
        key = column.field, column.name
        if key in seen:
            raise LimitError(
                f"columns {seen[key]!r} and {column.header!r} are both "
                f"{column.name or column.field}; choose one with --columns"
            )
        seen[key] = column.header
    if (TIME_COLUMN, "") not in seen:
        raise LimitError(
            f"no column says the time; it has {_listed(headers)}; name it, such as "
            f"--columns time={headers[0] if headers else 't'}"
        )


def _listed(headers: Sequence[str]) -> str:
    shown = ", ".join(header[:40] for header in headers[:12])
    return f"{shown}, ..." if len(headers) > 12 else shown
