"""An open store: rows in, rows out."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from skelgen.errors import InputError
from skelgen.store.conditions import Condition, clause
from skelgen.store.database import BusyError, Database, damaged, sound_in
from skelgen.store.kinds import kind_of
from skelgen.store.lines import identity_of_recording
from skelgen.store.rows import (
    Coupling,
    Fact,
    Message,
    Row,
    Run,
    Series,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)
from skelgen.store.spool_store import Spool
from skelgen.store.tables import CheckedRow, checked, keep, remove, rows_of
from skelgen.store.values import REAL, TEXT, UnfitError, as_text

logger = logging.getLogger(__name__)

#: How long a writer waits for others that write at the same time [s].
_WAIT_S = 60.0
#: A fact that was measured again is another row.
_NEWEST_FACTS = (
    "WHERE identity IN (SELECT identity FROM (SELECT identity, ROW_NUMBER() OVER "
    "(PARTITION BY host, name, cores ORDER BY measured IS NULL, measured DESC, "
    "identity DESC) AS place FROM facts) AS placed WHERE place = 1) "
    "ORDER BY measured IS NULL, measured, identity"
)
#: How often rows are tried while writers wait for each other in a circle.
_ATTEMPTS = 5
#: Recordings in one statement.
_AT_ONCE = 100


class AddedRow(NamedTuple):
    """What became of a row that was to be added.

    Attributes
    ----------
    source : str
        Where the row comes from; else what it is.
    run : str
        Its identity; empty where it was refused.
    reason : str
        Why it was refused.
    """

    source: str
    run: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """What became of rows that were to be added.

    Attributes
    ----------
    added, already, refused : tuple of AddedRow
        Those that are new, those that the store had, and those that it cannot hold.
    pages : int
        Pages of recorded runs that are new, where these are no rows of their own.
    """

    added: tuple[AddedRow, ...] = ()
    already: tuple[AddedRow, ...] = ()
    refused: tuple[AddedRow, ...] = ()
    pages: int = 0


class StoredApplication(NamedTuple):
    """An application that a store knows runs of.

    Attributes
    ----------
    name : str
    runs : int
    last : float
        Start of the last run, seconds since 1970 in UTC; nan: not known [s].
    """

    name: str
    runs: int
    last: float


class Store:
    """An open store; `skelgen.store.open_store` opens it.

    Parameters
    ----------
    home : Database or Spool
        A database that takes rows from many at the same time, or one with a spool for
        rows that are added while another process writes.
    """

    def __init__(self, home: Database | Spool) -> None:
        #: When it is a list, it gets what is wrong with damaged rows, which are left
        #: out; else the first one is an error.
        self.faults: list[str] | None = None
        self._home = home
        self._spool = home if isinstance(home, Spool) else None

    @property
    def database(self) -> Database:
        """Return the database, without the lines that wait in a spool."""
        return self._home.database if isinstance(self._home, Spool) else self._home

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._home.close()

    def add(self, rows: Iterable[Row]) -> Added:
        """Add rows, each once however often it is added.

        It does not wait for others: while another process has the lock, the rows go
        into a file of this process, from which the next process takes them. Rows that
        wait so in another's file count as new.

        Raises
        ------
        UsageError
            When the store cannot be written; MachineError when the disk is full.
        """
        good, refused = _checked(rows)
        if not good:
            new: set[str] = set()
        elif self._spool is None:
            new = self._keep(good)
        else:
            new = self._spool.add(good)
        return _added(good, new, refused)

    def _keep(self, rows: Sequence[CheckedRow]) -> set[str]:
        """Add rows to a database that lets writers in at the same time.

        Those that would wait for each other in a circle begin again.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                with self.database.transaction():
                    return keep(self.database, rows)
            except BusyError as error:
                logger.info("%s", error)
        with self.database.transaction():
            return keep(self.database, rows)

    def remove(self, identities: Sequence[str]) -> int:
        """Remove rows of any kind; return how many there were."""
        alone = self._spool.alone() if self._spool else self.database.lock(_WAIT_S)
        with alone, self.database.transaction():
            return remove(self.database, list(identities))

    def runs(
        self,
        application: str | None = None,
        where: Sequence[Condition] = (),
        limit: int | None = None,
    ) -> list[Run]:
        """Return runs in the order of their start.

        Parameters
        ----------
        application : str, optional
        where : sequence of Condition
            All of them hold.
        limit : int, optional
            Only so many, the last ones.
        """
        sql, parameters = clause(application, where)
        if limit is None:
            sql += " ORDER BY started IS NULL, started, identity"
        else:
            sql += " ORDER BY started IS NOT NULL, started DESC, identity DESC LIMIT ?"
            parameters.append(max(0, limit))
        kept = rows_of(self.current(), Run, sql, parameters, self.faults)
        found = [one.row for one in kept]
        return found if limit is None else found[::-1]  # type: ignore[return-value]

    def count(
        self, application: str | None = None, where: Sequence[Condition] = ()
    ) -> int:
        """Return how many runs there are; see `runs`."""
        sql, parameters = clause(application, where)
        return int(
            self.current().execute(f"SELECT COUNT(*) FROM runs {sql}", parameters)[0][0]
        )

    def applications(self) -> list[StoredApplication]:
        """Return the applications that there are runs of, by name."""
        database = self.current()
        kept = database.execute(
            "SELECT application, COUNT(*), MAX(started) FROM runs "
            "GROUP BY application ORDER BY application"
        )
        with sound_in(database, "runs"):
            return [
                StoredApplication(TEXT.load(name), int(runs), REAL.load(last))
                for name, runs, last in kept
            ]

    def facts(self, host: str | None = None, name: str | None = None) -> list[Fact]:
        """Return what was measured of hosts and links, in the order of time."""
        return self._those(Fact, "measured", host=host, name=name)

    def newest_facts(self) -> list[Fact]:
        """Return the last measurement of each fact, in the order of time."""
        kept = rows_of(self.current(), Fact, _NEWEST_FACTS, (), self.faults)
        return [one.row for one in kept]  # type: ignore[misc]

    def messages(
        self, host: str | None = None, operation: str | None = None
    ) -> list[Message]:
        """Return times of MPI operations, in the order of time."""
        found = self._those(Message, "measured", operation=operation)
        return [one for one in found if host is None or host in one.hosts]

    def series(
        self,
        host: str | None = None,
        quantity: str | None = None,
        begin: float | None = None,
        end: float | None = None,
    ) -> list[Series]:
        """Return series, one for each host and quantity.

        Parameters
        ----------
        host, quantity : str, optional
        begin, end : float, optional
            Seconds since 1970 in UTC, both included [s].
        """
        sql, parameters = _equal(host=host, quantity=quantity)
        for limit, operator in ((begin, ">="), (end, "<=")):
            if limit is not None:
                sql += f"{' AND' if sql else 'WHERE'} time {operator} ?"
                parameters.append(limit)
        database = self.current()
        kept = database.execute(
            f"SELECT host, quantity, time, value FROM samples {sql} "
            "ORDER BY host, quantity, time",
            parameters,
        )
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for at, what, time, value in kept:
            try:
                key, sample = _key(at, what), (REAL.load(time), REAL.load(value))
            except UnfitError as error:
                if self.faults is None:
                    raise damaged(database, "samples", error) from error
                self.faults.append(f"table samples: {error.what}")
            else:
                found.setdefault(key, []).append(sample)
        return [
            Series(at, what, *zip(*samples, strict=True))
            for (at, what), samples in found.items()
        ]

    def predictions(
        self,
        application: str | None = None,
        method: str | None = None,
        source: str | None = None,
    ) -> list[StoredPrediction]:
        """Return predictions with what happened, in the order of time."""
        return self._those(
            StoredPrediction,
            "made",
            application=application,
            method=method,
            source=source,
        )

    def templates(self, application: str | None = None) -> list[Template]:
        """Return formulas by their names."""
        return self._those(Template, "name", application=application)

    def couplings(self, application: str | None = None) -> list[Coupling]:
        """Return times of kernels and their chains, in the order of time."""
        return self._those(Coupling, "measured", application=application)

    def models(
        self, application: str | None = None, name: str | None = None
    ) -> list[StoredModel]:
        """Return models, in the order of time."""
        return self._those(StoredModel, "fitted", application=application, name=name)

    def recordings(self, runs: Sequence[str]) -> list[StoredRecording]:
        """Return what pages of recorded runs show, by the identities of the runs."""
        database, found = self.current(), list[Any]()
        names = [identity_of_recording(one) for one in runs]
        for begin in range(0, len(names), _AT_ONCE):
            some = names[begin : begin + _AT_ONCE]
            where = f"WHERE identity IN ({','.join('?' * len(some))}) ORDER BY identity"
            found += rows_of(database, StoredRecording, where, some, self.faults)
        return [one.row for one in found]

    @property
    def spool_folder(self) -> Path | None:
        """Return the folder of its writers' files; None: it has none."""
        return self._spool.folder if self._spool else None

    def current(self) -> Database:
        """Return a database that has the rows of all writers, for reading."""
        return self._spool.current() if self._spool else self.database

    def _those(self, type_: Any, order: str, **values: str | None) -> list[Any]:
        sql, parameters = _equal(**values)
        sql += f" ORDER BY {order} IS NULL, {order}, identity"
        kept = rows_of(self.current(), type_, sql, parameters, self.faults)
        return [one.row for one in kept]


@functools.lru_cache(maxsize=256)
def _key(host: Any, quantity: Any) -> tuple[str, str]:
    """Return the names of a series as they are kept in each of its samples."""
    return TEXT.load(host), TEXT.load(quantity)


def _equal(**values: str | None) -> tuple[str, list[Any]]:
    """Return SQL that holds where columns have these values, and its parameters."""
    given = {name: value for name, value in values.items() if value is not None}
    sql = " AND ".join(f"{name} = ?" for name in given)
    return (f"WHERE {sql}" if sql else ""), [as_text(one) for one in given.values()]


def _checked(rows: Iterable[Row]) -> tuple[list[CheckedRow], list[AddedRow]]:
    good: list[CheckedRow] = []
    refused: list[AddedRow] = []
    for row in rows:
        try:
            good.append(checked(row))
        except InputError as error:
            refused.append(AddedRow(_source(row), "", str(error)))
    return good, refused


def _source(row: Row) -> str:
    return str(getattr(row, "source", "")) or kind_of(type(row)).word


def _added(rows: list[CheckedRow], new: set[str], refused: list[AddedRow]) -> Added:
    added, already = [], []
    left = set(new)
    for one in rows:
        entry = AddedRow(_source(one.row), one.identity)
        if one.identity in left:
            left.discard(one.identity)
            added.append(entry)
        else:
            already.append(entry)
    return Added(tuple(added), tuple(already), tuple(refused))
