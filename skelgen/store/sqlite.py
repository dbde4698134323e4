"""A store in one SQLite file."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from skelgen.documents.system import writing
from skelgen.errors import MachineError, SkelgenError, UsageError
from skelgen.store.database import BusyError, DamagedError
from skelgen.store.deadlines import late, left_s
from skelgen.store.file_systems import is_local
from skelgen.store.locks import locked
from skelgen.store.sharing import make_file

logger = logging.getLogger(__name__)

#: How long a statement waits for another process, and one of a writer [s].
_WAIT_S, _SHORT_WAIT_S = 10.0, 0.02
#: Memory for pages of the file, and of one of the many connections of a server [KiB].
_CACHE_KIB, _SERVED_CACHE_KIB = 64 << 10, 4 << 10
#: So often a statement looks whether its time is over: every millisecond or so.
_LOOK_INSTRUCTIONS = 20_000
#: The log is written back when it is longer, by those that wait and by others, and is
#: no longer than the first of these afterwards [bytes].
_LONG_LOG_BYTES, _VERY_LONG_LOG_BYTES = 4 << 20, 16 << 20
#: Where a file says whether it has a write-ahead log, and what it says then.
_FORMAT_BYTE, _LOG_FORMAT = 18, 2
#: How many problems `SqliteDatabase.problems` names.
_MOST_PROBLEMS = 100
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_DAMAGE = (
    "{}: is damaged or no store ({}); skelgen store check names what is damaged; "
    "restore a copy of it"
)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN)
#: What a full disk is for SQLite; the second one when even a log cannot begin.
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
#: So much room a log needs for its first row [bytes].
_ROOM_BYTES = 64 << 10


class SqliteDatabase:
    """A `Database` in one file.

    Parameters
    ----------
    connection : sqlite3.Connection
    path : Path
    lock_file : Path, optional
        Whoever writes locks it; None: nobody else has this database.
    mode : int
        Permissions of new files next to it.
    writable : bool
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        lock_file: Path | None,
        mode: int,
        *,
        writable: bool,
    ) -> None:
        self.path = path
        self.shown = str(path)
        self.writable = writable
        self._connection = connection
        self._lock_file = lock_file
        self._mode = mode
        if (left := left_s()) < math.inf:
            end_s = time.monotonic() + left
            connection.set_progress_handler(
                lambda: time.monotonic() > end_s, _LOOK_INSTRUCTIONS
            )

    @classmethod
    def open(cls, path: Path, lock_file: Path, mode: int) -> Self:
        """Open a file, if need be only for reading; an empty one is an empty database.

        Raises
        ------
        UsageError
            When it can be neither written nor read.
        InputError
            When it is damaged or no database.
        """
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        with _told(str(path)):
            if not writable:
                connection = _read_only(path)
                return cls(connection, path, lock_file, mode, writable=False)
            # Who opens or closes a file first or last changes it.
            with locked(lock_file, mode, 0.0) as mine:
                connection = _connected(path, "mode=rw")
                found = cls(connection, path, lock_file, mode, writable=True)
                try:
                    found._settle(alone=mine)
                except sqlite3.OperationalError as error:
                    connection.close()
                    if _code(error) not in _FULL or not path.stat().st_size:
                        raise
                    connection = _without_room(path)
                    return cls(connection, path, lock_file, mode, writable=False)
                except BaseException:
                    connection.close()
                    raise
                return found

    def snapshot(self) -> Self:
        """Return a copy in memory, which nobody else has."""
        with _told(self.shown):
            memory = sqlite3.connect(":memory:", isolation_level=None)
            self._connection.backup(memory)
        return type(self)(memory, self.path, None, self._mode, writable=True)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return the rows that it gives."""
        with _told(self.shown):
            return self._connection.execute(_own(sql), parameters).fetchall()

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters."""
        with _told(self.shown):
            self._connection.executemany(sql, rows)

    def count_new(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Insert rows; say how many were not there yet."""
        with _told(self.shown):
            return max(0, self._connection.executemany(sql, rows).rowcount)

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

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """See one state of all tables within, whatever others write meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # nothing was written
                self._connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def lock(self, wait_s: float) -> Iterator[bool]:
        """Let one process at a time write; gives whether it is this one."""
        if self._lock_file is None:
            yield True
            return
        with locked(self._lock_file, self._mode, wait_s) as mine, self.patient(wait_s):
            yield mine
            if mine:
                self._write_back(_LONG_LOG_BYTES if wait_s else _VERY_LONG_LOG_BYTES)

    @contextlib.contextmanager
    def patient(self, wait_s: float) -> Iterator[None]:
        """Let statements wait so long for others within; 0: hardly at all [s]."""
        self._wait(max(wait_s, _SHORT_WAIT_S))
        try:
            yield
        finally:
            self._wait(_WAIT_S)

    def has_table(self, name: str) -> bool:
        """Say whether there is such a table."""
        sql = "SELECT 1 FROM sqlite_schema WHERE name = ?"
        return bool(self.execute(sql, (name,)))

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
        try:
            with (
                _told(str(beside)),
                contextlib.closing(sqlite3.connect(beside)) as copy,
            ):
                self._connection.backup(copy)
            with writing(target):
                beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        return str(target)

    def problems(self) -> list[str]:
        """Return damage of pages and indexes, and rows that refer to nothing."""
        check = f"PRAGMA integrity_check({_MOST_PROBLEMS})"
        found = [
            f"pages: {part}"
            for (line,) in self.execute(check)
            for part in str(line).splitlines()
            if part != "ok"
        ]
        lost = self.execute("PRAGMA foreign_key_check")
        return found + [
            f"table {table}: a row refers to a row of {parent} that is not there"
            for table, _, parent, _ in lost[:_MOST_PROBLEMS]
        ]

    def close(self) -> None:
        """Close the connection."""
        ours = self._lock_file if self.writable else None
        alone = locked(ours, self._mode, 0.0) if ours else contextlib.nullcontext()
        with _told(self.shown), alone:
            self._connection.close()

    def _settle(self, *, alone: bool) -> None:
        """Use the log that the file system can have."""
        local = is_local(self.path)
        if _has_log(self.path) != local:
            with contextlib.nullcontext() if alone else self.lock(_WAIT_S):
                # Without this a log needs memory that several machines cannot share.
                self._pragma("locking_mode", "NORMAL" if local else "EXCLUSIVE")
                self._pragma("journal_mode", "WAL" if local else "DELETE")
                self._pragma("locking_mode", "NORMAL")
                self._connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        # Here a log begins, which takes room.
        self._connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        self._pragma("synchronous", "NORMAL" if local else "FULL")
        self._pragma("wal_autocheckpoint", 0)
        self._pragma("journal_size_limit", _LONG_LOG_BYTES)
        served = left_s() < math.inf
        self._pragma("cache_size", -(_SERVED_CACHE_KIB if served else _CACHE_KIB))

    def _write_back(self, most_bytes: int) -> None:
        """Write a long log back into the file, as far as no reader needs it."""
        log = self.path.with_name(f"{self.path.name}-wal")
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size > most_bytes:
                self.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _wait(self, wait_s: float) -> None:
        self._pragma("busy_timeout", int(wait_s * 1000))

    def _pragma(self, name: str, value: str | int) -> None:
        with _told(self.shown):
            self._connection.execute(f"PRAGMA {name} = {value}").fetchall()


def told(error: sqlite3.Error, shown: str) -> SkelgenError:
    """Return what SQLite refused as an error of one line with what to do."""
    code = _code(error)
    if code == sqlite3.SQLITE_INTERRUPT:
        return late(shown)
    if code in _BUSY:
        return BusyError(f"{shown}: another process has it ({error}); try again")
    if code in _DAMAGED or "decode to UTF-8" in str(error):
        return DamagedError(_DAMAGE.format(shown, error))
    if code == sqlite3.SQLITE_FULL or (
        code in (*_FULL, *_READ_ONLY) and _lacks_room(Path(shown))
    ):
        return MachineError(
            f"{shown} cannot be written: the disk is full; free some room, or name a "
            "place on another disk"
        )
    if code in _READ_ONLY:
        return UsageError(
            f"{shown} cannot be written ({error}); change its permissions and those "
            "of its folder, or name another place"
        )
    return MachineError(
        f"{shown} cannot be used ({error}); look whether the disk or your quota of it "
        "is full, and try again"
    )


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _lacks_room(path: Path) -> bool:
    """Say whether the disk of a file is full."""
    try:
        about = os.statvfs(path.parent)
    except OSError:
        return False
    return about.f_bavail * about.f_frsize < _ROOM_BYTES and not (
        about.f_flag & os.ST_RDONLY
    )


@contextlib.contextmanager
def _told(shown: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise told(error, shown) from error
    except UnicodeError as error:  # of a name within the file, in SQLite's message
        raise DamagedError(_DAMAGE.format(shown, "a name is not UTF-8")) from error


def _connected(path: Path, options: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        timeout=_WAIT_S,
        isolation_level=None,
        uri=True,
    )


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a file that cannot be written, nor perhaps its folder."""
    connection = _connected(path, "mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
    except sqlite3.OperationalError as error:
        connection.close()
        if _code(error) not in (*_READ_ONLY, *_FULL):
            raise
        # Its log needs a file that cannot be made: what is in the log is not seen.
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size:
            logger.warning(
                "%s: the newest rows cannot be read without leave to write in %s, and "
                "room there",
                path,
                path.parent,
            )
        connection = _connected(path, "immutable=1")
    return connection


def _without_room(path: Path) -> sqlite3.Connection:
    """Open a file on a full disk for reading: an index of its log fits in memory.

    That takes the file from others meanwhile. Where one has it, the log is not seen.
    """
    connection = _connected(path, "mode=rw")
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except sqlite3.OperationalError:
        connection.close()
        return _read_only(path)
    return connection


def _has_log(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(_FORMAT_BYTE + 1)[_FORMAT_BYTE:] == bytes([_LOG_FORMAT])


def _own(sql: str) -> str:
    """Return a statement in the words of SQLite: a clustered table has no row ids."""
    return sql.replace("/* clustered */", "WITHOUT ROWID")
