"""A store in one SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from skelgen.documents.system import writing
from skelgen.errors import InputError, MachineError, SkelgenError, UsageError
from skelgen.store.database import BusyError
from skelgen.store.file_systems import is_local
from skelgen.store.locks import locked
from skelgen.store.sharing import make_file

#: How long a statement waits for another process [s].
_WAIT_S = 10.0
_CACHE_KIB = 64 << 10
#: How many problems `SqliteDatabase.problems` names.
_MOST_PROBLEMS = 100
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)


class SqliteDatabase:
    """A `Database` in one file.

    Parameters
    ----------
    path : Path
        An empty file is an empty database.
    lock_file : Path
        Whoever writes locks it.
    mode : int
        Permissions of new files beside it.
    """

    def __init__(self, path: Path, lock_file: Path, mode: int) -> None:
        self.path = path
        self.shown = str(path)
        self.writable = True
        self._lock_file = lock_file
        self._mode = mode
        with self._told():
            self._connection = _connected(f"{path.absolute().as_uri()}?mode=rw")
            local = is_local(path)
            self._pragma("journal_mode", "WAL" if local else "DELETE")
            self._pragma("synchronous", "NORMAL" if local else "FULL")
            self._pragma("cache_size", -_CACHE_KIB)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return the rows that it gives."""
        with self._told():
            return self._connection.execute(_own(sql), parameters).fetchall()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters."""
        with self._told():
            self._connection.executemany(sql, rows)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that happens within, or nothing."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            raise

    def lock(self, wait_s: float) -> AbstractContextManager[bool]:
        """Let one process at a time write; gives whether it is this one."""
        return locked(self._lock_file, self._mode, wait_s)

    def has_table(self, name: str) -> bool:
        """Say whether there is such a table."""
        return bool(self.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)))

    def is_empty(self) -> bool:
        """Say whether there is no table at all."""
        return not self.execute("SELECT 1 FROM sqlite_schema LIMIT 1")

    def copy(self, version: int) -> str:
        """Copy the file before a migration; an earlier copy is replaced."""
        target = self.path.with_name(f"{self.path.name}.version-{version}")
        beside = target.with_name(f".{target.name}.new")
        with writing(beside):
            beside.unlink(missing_ok=True)
            make_file(beside, self._mode)
        with self._told(), contextlib.closing(sqlite3.connect(beside)) as copy:
            self._connection.backup(copy)
        with writing(target):
            beside.replace(target)
        return str(target)

    def problems(self) -> list[str]:
        """Return damage of pages and indexes, and rows that refer to nothing."""
        check = f"PRAGMA integrity_check({_MOST_PROBLEMS})"
        found = [str(line) for (line,) in self.execute(check) if line != "ok"]
        lost = self.execute("PRAGMA foreign_key_check")
        return found + [
            f"table {table}: a row refers to a row of {parent} that is not there"
            for table, _, parent, _ in lost[:_MOST_PROBLEMS]
        ]

    def close(self) -> None:
        """Close the connection."""
        with self._told():
            self._connection.close()

    def _pragma(self, name: str, value: str | int) -> None:
        self._connection.execute(f"PRAGMA {name} = {value}").fetchall()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise told(error, self.shown) from error


def told(error: sqlite3.Error, shown: str) -> SkelgenError:
    """Return what SQLite refused as an error of one line with what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _BUSY:
        return BusyError(f"{shown}: another process has it ({error}); try again")
    if code in _DAMAGED:
        return InputError(
            f"{shown}: is damaged or no store ({error}); skelgen store check names "
            "what is damaged; restore a copy of it"
        )
    if code == sqlite3.SQLITE_FULL:
        return MachineError(
            f"{shown} cannot be written: the disk is full; free some room, or name a "
            "place on another disk"
        )
    if code in _READ_ONLY:
        return UsageError(
            f"{shown} cannot be written ({error}); change its permissions and those "
            "of its folder, or name another place"
        )
    return MachineError(f"{shown} cannot be used: {error}; try again")


def _connected(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, timeout=_WAIT_S, isolation_level=None, uri=True)


def _own(sql: str) -> str:
    """Return a statement in the words of SQLite: a clustered table has no row ids."""
    return sql.replace("/* clustered */", "WITHOUT ROWID")
