"""Rows in and out of the tables."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from skelgen.store.database import DamagedError, Database
from skelgen.store.deadlines import check_deadline
from skelgen.store.kinds import RowField, RowKind, kind_of, kinds
from skelgen.store.lines import (
    content_of,
    identity_of,
    identity_of_recording,
    seal_of,
)
from skelgen.store.rows import Row, Run, RunPart, Series
from skelgen.store.samples import keep_samples, remove_series
from skelgen.store.values import REAL, TEXT, UnfitError, as_real, as_text

#: Fields of a run with tables of their own.
_APART = ("inputs", "loads", "costs", "parts")
#: Kinds of `run_values` and the fields of a run that they are from.
_NAMED = {"input": "inputs", "load": "loads", "cost": "costs"}
#: Values by field, and parts, as they are kept.
_Apart = tuple[dict[str, list[Any]], list[Any]]
_text, _real = TEXT.load, REAL.load
#: Identities in one statement, and rows between two looks whether time is over.
_AT_ONCE, _LOOK_ROWS = 500, 1000


class CheckedRow(NamedTuple):
    """A row that can be kept.

    Attributes
    ----------
    row : Row
    identity : str
    seal : str
        Checksum of its content.
    is_ascii : bool
        Whether all its text is known to be ASCII.
    """

    row: Row
    identity: str
    seal: str
    is_ascii: bool = False


def checked(row: Row) -> CheckedRow:
    """Check that a store can hold a row.

    Raises
    ------
    InputError
        With the value that it cannot hold.
    """
    content = content_of(row)
    return CheckedRow(
        row, identity_of(row, content), seal_of(content), is_ascii="\\u" not in content
    )


@functools.cache
def table_of(kind: RowKind) -> str:
    """Return the name of the table of a kind of rows."""
    return {"series": "samples"}.get(kind.word, f"{kind.word}s")


@functools.cache
def columns_of(kind: RowKind) -> tuple[RowField, ...]:
    """Return the fields of a kind of rows that are columns of its table."""
    return tuple(
        field
        for field in kind.fields
        if field.name != "identity" and not (kind.type is Run and field.name in _APART)
    )


def known(database: Database, kind: RowKind, identities: Sequence[str]) -> set[str]:
    """Return those identities that the table of a kind has; of series none."""
    found: set[str] = set()
    if kind.type is Series:
        return found
    for begin in range(0, len(identities), _AT_ONCE):
        some = identities[begin : begin + _AT_ONCE]
        marks = ",".join("?" * len(some))
        found.update(
            identity
            for (identity,) in database.execute(
                f"SELECT identity FROM {table_of(kind)} WHERE identity IN ({marks})",
                some,
            )
        )
    return found


def keep(database: Database, rows: Iterable[CheckedRow]) -> set[str]:
    """Add rows that are not there yet; return the identities that are new.

    The caller has a transaction open.
    """
    by_type: dict[type[Row], dict[str, CheckedRow]] = defaultdict(dict)
    new: set[str] = set()
    for one in rows:
        if isinstance(one.row, Series):
            if keep_samples(database, one.row):
                new.add(one.identity)
        else:
            by_type[type(one.row)].setdefault(one.identity, one)
    for type_, found in by_type.items():
        kind = kind_of(type_)
        there = known(database, kind, list(found))
        fresh = [one for identity, one in found.items() if identity not in there]
        fresh.sort(key=attrgetter("identity"))  # pages fill one after the other
        insert(database, kind, fresh)
        new.update(one.identity for one in fresh)
    return new


def insert(database: Database, kind: RowKind, rows: Sequence[CheckedRow]) -> None:
    """Add rows of one kind; those whose identity is there change nothing."""
    columns = columns_of(kind)
    names = ", ".join(["identity", *(field.name for field in columns), "seal"])
    marks = ",".join("?" * (len(columns) + 2))
    binds = [
        (at, field.values.bind)
        for at, field in enumerate(columns, 1)
        if field.values.bind is not None
    ]
    of_ascii = [(at, bind) for at, bind in binds if bind is not as_text]
    values = attrgetter(*(field.name for field in columns))

    def bound(one: CheckedRow) -> list[Any]:
        found = [one.identity, *values(one.row), one.seal]
        for at, bind in of_ascii if one.is_ascii else binds:
            found[at] = bind(found[at])
        return found

    database.executemany(
        f"INSERT INTO {table_of(kind)} ({names}) VALUES ({marks}) "
        "ON CONFLICT DO NOTHING",
        map(bound, rows),
    )
    if kind.type is Run:
        _insert_parts_of_runs(database, rows)


def rows_of(
    database: Database,
    type_: type[Row],
    where: str = "",
    parameters: Sequence[Any] = (),
    faults: list[str] | None = None,
) -> list[CheckedRow]:
    """Return rows of a kind, but series, as they were kept.

    Parameters
    ----------
    database : Database
    type_ : type
    where : str
        What follows the table's name: a condition, an order, a limit.
    parameters : sequence
        Of `where`.
    faults : list of str, optional
        Gets what is wrong with rows that hold a value that none can have.

    Raises
    ------
    DamagedError
        When there is such a row and no `faults`.
    """
    kind = kind_of(type_)
    table = table_of(kind)
    names = ", ".join(field.name for field in columns_of(kind))
    with database.reading():
        apart = _parts_of_runs(database, where, parameters) if type_ is Run else {}
        kept = database.execute(
            f"SELECT identity, seal, {names} FROM {table} {where}", parameters
        )
    found = []
    for at, (identity, seal, *values) in enumerate(kept):
        if not at % _LOOK_ROWS:
            check_deadline(database.shown)
        try:
            row = _row(kind, identity, values, apart.get(identity, ({}, [])))
        except UnfitError as error:
            fault = f"table {table}, identity {identity!s:.60}: {error.what}"
            if faults is None:
                raise DamagedError(
                    f"{database.shown}: {fault}; skelgen store check names all damage"
                ) from None
            faults.append(fault)
        else:
            found.append(CheckedRow(row, identity, seal))
    return found


def _row(kind: RowKind, identity: str, values: Sequence[Any], apart: _Apart) -> Row:
    columns = columns_of(kind)
    fields: dict[str, Any] = {
        field.name: field.values.load(value)
        for field, value in zip(columns, values, strict=True)
    }
    if kind.has_identity:
        fields["identity"] = _text(identity)
    named, parts = apart
    for field_name, pairs in named.items():
        if field_name not in _APART:
            raise UnfitError(f"it has values of the unknown kind {field_name!s:.60}")
        fields[field_name] = tuple(
            sorted(
                (
                    (_text(name), _real(number) if word is None else _text(word))
                    for name, number, word in pairs
                ),
                key=itemgetter(0),
            )
        )
    if parts:
        fields["parts"] = tuple(
            RunPart(_text(name), _text(kind), *map(_real, numbers))
            for name, kind, *numbers in parts
        )
    row: Row = kind.type(**fields)
    return row


def remove(database: Database, identities: Sequence[str]) -> int:
    """Remove rows and damaged lines with these identities; return how many."""
    removed = remove_series(database, set(identities))
    for identity in identities:
        sql = "SELECT 1 FROM damaged_lines WHERE identity = ?"
        removed += len(database.execute(sql, (identity,)))
    _delete(database, "damaged_lines", "identity", identities)
    for kind in kinds().values():
        if kind.type is Series:
            continue
        there = sorted(known(database, kind, identities))
        if kind.type is Run:
            for table in ("run_values", "parts"):
                _delete(database, table, "run", there)
            pages = [identity_of_recording(one) for one in there]
            _delete(database, "recordings", "identity", pages)
        _delete(database, table_of(kind), "identity", there)
        removed += len(there)
    return removed


def _delete(database: Database, table: str, column: str, keys: Sequence[str]) -> None:
    for begin in range(0, len(keys), _AT_ONCE):
        some = keys[begin : begin + _AT_ONCE]
        marks = ",".join("?" * len(some))
        database.execute(f"DELETE FROM {table} WHERE {column} IN ({marks})", some)


def _insert_parts_of_runs(database: Database, rows: Sequence[CheckedRow]) -> None:
    values: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    apart = attrgetter(*_NAMED.values())
    for one in rows:
        run = one.row
        assert isinstance(run, Run)
        for kind, pairs in zip(_NAMED, apart(run), strict=True):
            for name, value in pairs:
                number = word = None
                if isinstance(value, str):
                    word = as_text(value)
                elif value == value:  # noqa: PLR0124 -- often called
                    number = float(value)
                own = name if one.is_ascii else as_text(name)
                values.append((one.identity, kind, own, number, word))
        for place, part in enumerate(run.parts):
            parts.append((one.identity, place, *_bound(part)))
    database.executemany(
        "INSERT INTO run_values VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING", values
    )
    database.executemany(
        "INSERT INTO parts VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING", parts
    )


def _bound(part: RunPart) -> tuple[Any, ...]:
    return (
        as_text(part.name),
        as_text(part.kind),
        as_real(part.time_s),
        as_real(part.weight),
        as_real(part.share),
    )


def _parts_of_runs(
    database: Database, where: str, parameters: Sequence[Any]
) -> dict[str, _Apart]:
    """Return what has tables of its own, by the identity of the run, as it is kept."""
    chosen = f"WHERE run IN (SELECT identity FROM runs {where})" if where else ""
    found: dict[str, _Apart] = defaultdict(lambda: (defaultdict(list), []))
    for run, kind, *value in database.execute(
        f"SELECT run, kind, name, number, word FROM run_values {chosen}", parameters
    ):
        found[run][0][_NAMED.get(kind, kind)].append(value)
    for run, *part in database.execute(
        "SELECT run, name, kind, time_s, weight, share FROM parts "
        f"{chosen} ORDER BY run, place",
        parameters,
    ):
        found[run][1].append(part)
    return found
