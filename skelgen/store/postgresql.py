"""A store in a PostgreSQL database.

Writers do not wait for each other there, so rows need no spool.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import errors as refusals

from skelgen.errors import InputError, MachineError, SkelgenError, UsageError
from skelgen.store.database import BusyError, DamagedError
from skelgen.store.deadlines import check_deadline, late, left_s
from skelgen.store.idle_connections import idle_connections
from skelgen.store.postgresql_session import PostgresqlSession, new_session

#: So much longer than it should a statement may take [s].
_TOO_LONG_S = 1.0
#: Number of the lock of a store, the same for all processes: "skelgen" in ASCII.
_LOCK = 0x736B656C67656E

_BUSY = (
    refusals.LockNotAvailable,
    refusals.DeadlockDetected,
    refusals.SerializationFailure,
    refusals.TooManyConnections,
)
_DAMAGED = (refusals.DataCorrupted, refusals.IndexCorrupted)
_FULL = (refusals.DiskFull, refusals.OutOfMemory)
_FORBIDDEN = (refusals.InsufficientPrivilege, refusals.ReadOnlySqlTransaction)


class PostgresqlDatabase:
    """A `skelgen.store.database.Database` on a server.

    Parameters
    ----------
    url : str
    shown : str
        The URL for messages, without a password.

    Raises
    ------
    UsageError
        When the URL is none, or the server refuses it.
    MachineError
        When the server does not answer.
    """

    def __init__(self, url: str, shown: str) -> None:
        self.shown = shown
        self._url = url
        self._idle = idle_connections()
        taken = None if self._idle is None else self._idle.take(url)
        self._session = (
            taken if isinstance(taken, PostgresqlSession) else new_session(url, shown)
        )
        self._connection = self._session.connection
        self._within = False
        try:
            self.writable = self._is_writable()
        except BaseException:
            self.close()
            raise

    def _is_writable(self) -> bool:
        """Say whether rows can be added; newer servers say it as they answer."""
        info = self._connection.info
        told = [info.parameter_status(name) for name in _READ_ONLY]
        if None in told:
            return self.execute("SHOW transaction_read_only") == [("off",)]
        return told == ["off", "off"]

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return the rows that it gives.

        Within a transaction, one that gives none waits for the next that does.
        """
        self._limit()
        with self._told(), self._connection.cursor() as cursor:
            cursor.execute(_own(sql), parameters)
            return cursor.fetchall() if _GIVES_ROWS.match(sql) else []

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters."""
        with self._told(), self._connection.cursor() as cursor:
            for many, parameters in _together(sql, rows):
                cursor.execute(_own(many), parameters)

    def count_new(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Insert rows; say how many were not there yet."""
        new = 0
        for many, parameters in _together(sql, rows):
            new += len(self.execute(f"{many} RETURNING 1", parameters))
        return new

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that happens within, or nothing.

        Statements are sent together: the server answers when rows are asked for, and
        in the end.
        """
        self._limit()
        connection, limit_s = self._connection, self._session.limit_s
        was_within, self._within = self._within, True
        try:
            with self._told(), connection.pipeline(), connection.transaction():
                yield
        finally:
            self._within, self._session.limit_s = was_within, limit_s

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of all tables within, whatever others write meanwhile."""
        if self._within:
            yield
            return
        with self.transaction():
            self.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    @contextlib.contextmanager
    def lock(self, wait_s: float) -> Iterator[bool]:
        """Let one process at a time do what others must not see half done.

        Adding rows does not need it.
        """
        taken = self._take(wait_s)
        try:
            yield taken
        finally:
            if taken:
                try:
                    self.execute("SELECT pg_advisory_unlock(?)", (_LOCK,))
                except SkelgenError:  # a lost connection has none
                    self._session.has_lock = True

    def _take(self, wait_s: float) -> bool:
        (answer,) = self.execute("SELECT pg_try_advisory_lock(?)", (_LOCK,))
        if answer[0] or wait_s <= 0:
            return bool(answer[0])
        limit = f"{max(1, int(1000 * wait_s))}ms"
        try:
            with self.transaction():
                self.execute("SELECT set_config('lock_timeout', ?, true)", (limit,))
                self.execute("SELECT pg_advisory_lock(?)", (_LOCK,))
        except BusyError:
            return False
        return True

    def has_table(self, name: str) -> bool:
        """Say whether there is such a table."""
        return bool(self.execute(_HAS_TABLE, (name,)))

    def is_empty(self) -> bool:
        """Say whether there is no table at all."""
        return not self.execute(f"{_TABLES} LIMIT 1")

    def copy(self, version: int) -> str:
        """Copy all tables into a schema; an earlier copy is replaced."""
        ((own,),) = self.execute("SELECT current_schema")
        schema = _quoted(f"{own}_version_{version}")
        tables = [name for (name,) in self.execute(_TABLES)]
        with self.transaction():
            self.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
            self.execute(f"CREATE SCHEMA {schema}")
            for name in tables:
                table = _quoted(name)
                self.execute(f"CREATE TABLE {schema}.{table} AS SELECT * FROM {table}")
        return f"the schema {schema} of {self.shown}"

    def problems(self) -> list[str]:
        """Return tables that cannot be read and indexes that are not to be used."""
        found = [
            f"index {name}: the server says that it is not valid; REINDEX INDEX {name}"
            for (name,) in self.execute(_INVALID_INDEXES)
        ]
        for (name,) in self.execute(_TABLES):
            try:
                self.execute(f"SELECT MAX(LENGTH(a::text)) FROM {_quoted(name)} AS a")
            except DamagedError as error:
                found.append(f"table {name}: {error}")
        return found

    def close(self) -> None:
        """Close the connection, or keep it for the next request."""
        if self._idle is None:
            self._session.close()
        else:
            self._idle.give(self._url, self._session)

    def _limit(self) -> None:
        """Give the next statement the time that is left, nearly.

        Raises
        ------
        LateError
            When there is none.
        """
        check_deadline(self.shown)
        left, session = left_s(), self._session
        if left == session.limit_s or left <= session.limit_s <= left + _TOO_LONG_S:
            return
        limit_ms = 0 if left == math.inf else max(1, math.ceil(1000 * left))
        local = "LOCAL " if self._within else ""
        with self._told():
            self._connection.execute(
                f"SET {local}statement_timeout = {limit_ms}".encode()
            )
        session.limit_s = limit_ms / 1000 or math.inf

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if isinstance(error, refusals.QueryCanceled) and left_s() < math.inf:
                raise late(self.shown) from error
            raise told(error, self.shown) from error


#: Statements that give rows.
_GIVES_ROWS = re.compile(r"\s*(SELECT |SHOW |WITH |INSERT .* RETURNING )", re.DOTALL)
#: What a server says of itself that keeps rows from being added.
_READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
#: Parameters of one statement, and rows in it.
_MOST_PARAMETERS, _MOST_ROWS = 60_000, 1000
_MARKS = re.compile(r"VALUES (\(\?(?:,\?)*\))")
_TABLES = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema"
#: A look-up in one index: each request asks.
_HAS_TABLE = (
    "SELECT 1 FROM pg_catalog.pg_class WHERE relname = ? AND relkind IN ('r', 'p') "
    "AND relnamespace = current_schema::regnamespace"
)
_INVALID_INDEXES = (
    "SELECT indexrelid::regclass::text FROM pg_catalog.pg_index "
    "JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid "
    "WHERE relnamespace = current_schema::regnamespace "
    "AND NOT (indisvalid AND indisready)"
)


def _together(
    sql: str, rows: Iterable[Sequence[Any]]
) -> Iterator[tuple[str, list[Any]]]:
    """Give statements that do to many rows at a time what one does to each."""
    marks = _MARKS.search(sql)
    if marks is None:
        yield from ((sql, [*row]) for row in rows)
        return
    width = marks[1].count("?")
    most = min(_MOST_ROWS, _MOST_PARAMETERS // width)
    left = iter(rows)
    while some := list(itertools.islice(left, most)):
        values = ",".join([marks[1]] * len(some))
        many = f"{sql[: marks.start(1)]}{values}{sql[marks.end(1) :]}"
        yield many, [*itertools.chain.from_iterable(some)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def told(error: psycopg.Error, shown: str) -> SkelgenError:
    """Return what the server refused as an error of one line with what to do."""
    reason = " ".join(str(error).split())
    if isinstance(error, _BUSY):
        return BusyError(f"{shown}: others are using it ({reason}); try again")
    if isinstance(error, _DAMAGED):
        return DamagedError(
            f"{shown}: is damaged ({reason}); restore a copy of the database"
        )
    if isinstance(error, _FULL):
        return MachineError(f"{shown}: the server is full ({reason}); free some room")
    if isinstance(error, _FORBIDDEN):
        return UsageError(
            f"{shown}: cannot be written ({reason}); ask its owner: GRANT, or name "
            "another place"
        )
    if isinstance(error, refusals.ProgramLimitExceeded):
        return InputError(
            f"{shown}: a name is too long for it ({reason}); shorten it, or use a "
            "store in a file"
        )
    return MachineError(f"{shown}: cannot be used ({reason}); try again")


@functools.lru_cache(maxsize=256)
def _own(sql: str) -> bytes:
    """Return a statement in the words of psycopg; NULL is last as it is in SQLite."""
    told = sql.replace("/* nulls last */", "NULLS LAST")
    return told.replace("%", "%%").replace("?", "%s").encode()
