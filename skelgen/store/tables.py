"""Rows in and out of the tables."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from skelgen.errors import InputError
from skelgen.store.database import Database
from skelgen.store.kinds import RowField, RowKind, kind_of
from skelgen.store.rows import Part, Row, Run, Series
from skelgen.store.values import REAL, TEXT, UnfitError, as_real, as_text

#: Fields of a run with tables of their own.
_APART = ("inputs", "loads", "costs", "parts")
#: Kinds of `run_values` and the fields of a run that they are from.
_NAMED = {"input": "inputs", "load": "loads", "cost": "costs"}
_text, _real = TEXT.load, REAL.load
#: Identities in one statement.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Checked:
    """A row that can be kept.

    Attributes
    ----------
    row : Row
    identity : str
    seal : str
        Checksum of its content.
    """

    row: Row
    identity: str
    seal: str


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
    """Return those identities that the table of a kind has."""
    found: set[str] = set()
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


def keep(database: Database, rows: Iterable[Checked]) -> set[str]:
    """Add rows that are not there yet; return the identities that are new.

    The caller has a transaction open.
    """
    by_type: dict[type[Row], dict[str, Checked]] = defaultdict(dict)
    new: set[str] = set()
    for one in rows:
        if isinstance(one.row, Series):
            if _keep_samples(database, one.row):
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


def insert(database: Database, kind: RowKind, rows: Sequence[Checked]) -> None:
    """Add rows of one kind; those whose identity is there change nothing."""
    columns = columns_of(kind)
    names = ", ".join(["identity", *(field.name for field in columns), "seal"])
    marks = ",".join("?" * (len(columns) + 2))
    binds = [field.values.bind for field in columns]
    values = attrgetter(*(field.name for field in columns))
    database.executemany(
        f"INSERT INTO {table_of(kind)} ({names}) VALUES ({marks}) "
        "ON CONFLICT DO NOTHING",
        [
            [
                one.identity,
                *[
                    value if bind is None else bind(value)
                    for bind, value in zip(binds, values(one.row), strict=True)
                ],
                one.seal,
            ]
            for one in rows
        ],
    )
    if kind.type is Run:
        _insert_parts_of_runs(database, rows)


def rows_of(
    database: Database,
    type_: type[Row],
    where: str = "",
    parameters: Sequence[Any] = (),
) -> list[Checked]:
    """Return rows of a kind, but series, as they were kept.

    Parameters
    ----------
    database : Database
    type_ : type
    where : str
        What follows the table's name: a condition, an order, a limit.
    parameters : sequence
        Of `where`.

    Raises
    ------
    InputError
        When a value is none that a row can have.
    """
    kind = kind_of(type_)
    columns = columns_of(kind)
    names = ", ".join(["identity", "seal", *(field.name for field in columns)])
    table = table_of(kind)
    apart = _parts_of_runs(database, where, parameters) if type_ is Run else {}
    found = []
    loads = [(field.name, field.values.load) for field in columns]
    has_identity = any(field.name == "identity" for field in kind.fields)
    for identity, seal, *values in database.execute(
        f"SELECT {names} FROM {table} {where}", parameters
    ):
        try:
            fields = {
                name: load(value)
                for (name, load), value in zip(loads, values, strict=True)
            }
        except UnfitError as error:
            raise InputError(
                f"{database.shown}: table {table}, identity {identity}: {error.what}; "
                "skelgen store check names all damage"
            ) from None
        if has_identity:
            fields["identity"] = identity
        row = kind.type(**fields, **apart.get(identity, {}))
        found.append(Checked(row, identity, seal))
    return found


def remove(database: Database, identities: Sequence[str], types: Iterable[Any]) -> int:
    """Remove rows with these identities; return how many there were."""
    removed = 0
    for type_ in types:
        kind = kind_of(type_)
        there = sorted(known(database, kind, identities))
        if type_ is Run:
            for table in ("run_values", "parts"):
                _delete(database, table, "run", there)
        _delete(database, table_of(kind), "identity", there)
        removed += len(there)
    return removed


def _delete(database: Database, table: str, column: str, keys: Sequence[str]) -> None:
    database.executemany(
        f"DELETE FROM {table} WHERE {column} = ?", [(key,) for key in keys]
    )


def _insert_parts_of_runs(database: Database, rows: Sequence[Checked]) -> None:
    values: list[tuple[Any, ...]] = []
    parts: list[tuple[Any, ...]] = []
    for one in rows:
        run = one.row
        assert isinstance(run, Run)
        for kind, field in _NAMED.items():
            for name, value in getattr(run, field):
                number = None if isinstance(value, str) else as_real(float(value))
                word = as_text(value) if isinstance(value, str) else None
                values.append((one.identity, kind, as_text(name), number, word))
        for place, part in enumerate(run.parts):
            parts.append((one.identity, place, *_bound(part)))
    database.executemany(
        "INSERT INTO run_values VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING", values
    )
    database.executemany(
        "INSERT INTO parts VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING", parts
    )


def _bound(part: Part) -> tuple[Any, ...]:
    return (
        as_text(part.name),
        as_text(part.kind),
        as_real(part.time_s),
        as_real(part.weight),
        as_real(part.share),
    )


def _parts_of_runs(
    database: Database, where: str, parameters: Sequence[Any]
) -> dict[str, dict[str, Any]]:
    """Return the fields with tables of their own, by the identity of the run."""
    chosen = f"run IN (SELECT identity FROM runs {where})" if where else "1 = 1"
    named: dict[tuple[str, str], list[tuple[str, float | str]]] = defaultdict(list)
    for run, kind, name, number, word in database.execute(
        "SELECT run, kind, name, number, word FROM run_values "
        f"WHERE {chosen} ORDER BY run, kind, name",
        parameters,
    ):
        value = _real(number) if word is None else _text(word)
        named[run, _NAMED.get(kind, kind)].append((_text(name), value))
    parts: dict[str, list[Part]] = defaultdict(list)
    for run, name, kind, *numbers in database.execute(
        "SELECT run, name, kind, time_s, weight, share FROM parts "
        f"WHERE {chosen} ORDER BY run, place",
        parameters,
    ):
        parts[run].append(Part(_text(name), _text(kind), *map(_real, numbers)))
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for (run, field), pairs in named.items():
        found[run][field] = tuple(sorted(pairs))
    for run, those in parts.items():
        found[run]["parts"] = tuple(those)
    return found


def _keep_samples(database: Database, series: Series) -> bool:
    """Add the samples that are not there yet; say whether there were any."""
    host, quantity = as_text(series.host), as_text(series.quantity)
    count = "SELECT COUNT(*) FROM samples WHERE host = ? AND quantity = ?"
    before = database.execute(count, (host, quantity))
    database.executemany(
        "INSERT INTO samples VALUES (?,?,?,?) ON CONFLICT DO NOTHING",
        [
            (host, quantity, time, as_real(value))
            for time, value in zip(series.times, series.values, strict=True)
        ],
    )
    return database.execute(count, (host, quantity)) != before
