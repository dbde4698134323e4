"""Add to a database that many write, without waiting for any of them.

A writer that others do not disturb adds its rows to the database. While others write it
only appends them to a file: whoever would take in the rows of all would be the one that
all work for, and wait for that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skelgen.documents import sealed_json
from skelgen.errors import SkelgenError
from skelgen.store.database import BusyError, DamagedError, Database
from skelgen.store.kinds import kind_of
from skelgen.store.lines import to_line
from skelgen.store.locks import holder, is_locked
from skelgen.store.rows import Row, Run, StoredPrediction
from skelgen.store.spool import LOCK, is_busy
from skelgen.store.spool_reader import absorb, waits
from skelgen.store.spool_writer import SpoolWriter
from skelgen.store.sqlite import SqliteDatabase
from skelgen.store.tables import CheckedRow, keep, known
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)

#: How long a writer works for others when it adds a row [s].
_FOR_OTHERS_S = 0.01
#: How long a reader waits for a process that has the lock [s].
_PATIENCE_S = 5.0
#: How long one waits that must write [s].
_LONG_PATIENCE_S = 60.0


class Spool:
    """The spool of a store in a file.

    Parameters
    ----------
    connect : callable
        Opens the database.
    folder : Path
    mode : int
        Permissions of its files.
    """

    def __init__(
        self, connect: Callable[[], SqliteDatabase], folder: Path, mode: int
    ) -> None:
        self._connect = connect
        self._database: SqliteDatabase | None = None
        self.folder = folder
        self._writer = SpoolWriter(folder, mode)
        self._view: SqliteDatabase | None = None

    @property
    def database(self) -> SqliteDatabase:
        """Return the database, opened when it is first asked for."""
        if self._database is None:
            self._database = self._connect()
        return self._database

    def connect(self) -> None:
        """Open the database; see `skelgen.store.open_store` for what is refused."""
        self._database = self._connect()

    def add(self, rows: Sequence[CheckedRow]) -> set[str]:
        """Add rows to the database, or to the spool while another process writes.

        Returns
        -------
        set of str
            Identities of those that the database did not have.
        """
        if self.is_left_to_others():
            return self._append(rows)
        try:
            with self.database.lock(0.0) as mine:
                if mine:
                    absorb(self.database, self.folder, within_s=_FOR_OTHERS_S)
                    with self.database.transaction():
                        return keep(self.database, rows)
        except BusyError:
            pass  # a reader without a log has the file
        return self._append(rows)

    def current(self) -> Database:
        """Return a database that has the lines of all writers.

        That is the store's own. It is a copy in memory where the lines cannot be added
        to it: another process has had the lock for too long, or it cannot be written.
        """
        if not waits(self.database, self.folder):
            return self.database
        why = "it cannot be written"
        if self.database.writable:
            try:
                with self.database.lock(0.0 if self._view else _PATIENCE_S) as mine:
                    if mine:
                        absorb(self.database, self.folder)
                        return self.database
                why = f"{holder(self.folder / LOCK) or 'another process'} has its lock"
            except DamagedError:
                raise
            except SkelgenError as error:
                why = str(error)
        return self._viewed(why)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from writing, once the database has all lines.

        Raises
        ------
        BusyError
            When another process has the lock for too long.
        """
        with self.database.lock(_LONG_PATIENCE_S) as mine:
            if not mine:
                who = holder(self.folder / LOCK) or "another process"
                raise BusyError(
                    f"{self.database.shown}: {who} has its lock for more than "
                    f"{format_seconds(_LONG_PATIENCE_S)}; try again, or end it"
                )
            absorb(self.database, self.folder)
            yield

    def close(self) -> None:
        """Leave what this process spooled to others, or add it now if nobody writes."""
        if self._view:
            self._view.close()
        if self._writer.close() and not self.is_left_to_others():
            try:
                with self.database.lock(0.0) as mine:
                    if mine:
                        absorb(self.database, self.folder, within_s=_FOR_OTHERS_S)
            except SkelgenError as error:  # the rows are safe where they are
                logger.info("%s", error)
        if self._database is not None:
            self._database.close()

    def is_left_to_others(self) -> bool:
        """Say whether others write now: the database is theirs, or a reader's."""
        busy = is_busy(self.folder, self._writer.name)
        return busy or (self._database is None and is_locked(self.folder / LOCK))

    def _append(self, rows: Sequence[CheckedRow]) -> set[str]:
        there: set[str] = set()
        if self._database is not None:
            # Else, or when it is busy, the one that absorbs them finds out.
            with contextlib.suppress(BusyError), self._database.patient(0.0):
                for type_ in {type(one.row) for one in rows}:
                    those = [one.identity for one in rows if type(one.row) is type_]
                    there |= known(self._database, kind_of(type_), those)
        new = [one for one in rows if one.identity not in there]
        self._writer.append(
            [sealed_json(to_line(_identified(one)), indent=None) for one in new]
        )
        return {one.identity for one in new}

    def _viewed(self, why: str) -> Database:
        if self._view is None:
            logger.warning(
                "%s: rows that others added are read but not put in: %s",
                self.database.shown,
                why,
            )
        else:
            self._view.close()
        self._view = self.database.snapshot()
        absorb(self._view, self.folder, copy=True)
        return self._view


def _identified(one: CheckedRow) -> Row:
    """Return a row that has its identity in its line, where such rows have one."""
    if isinstance(one.row, Run | StoredPrediction):
        return dataclasses.replace(one.row, identity=one.identity)
    return one.row
