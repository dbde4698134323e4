"""What the store needs of a database; SQLite and PostgreSQL give it.

The SQL text is the subset that both understand, with ``?`` for parameters.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from skelgen.errors import InputError, MachineError
from skelgen.store.values import UnfitError


class BusyError(MachineError):
    """Another process has the database; what was to be written may wait."""


class DamagedError(InputError):
    """What is kept is not what was written."""


def damaged(database: Database, table: str, error: UnfitError) -> DamagedError:
    """Return the error that says in one line that a value is none that was written."""
    return DamagedError(
        f"{database.shown}: table {table}: {error.what}; skelgen store check names all "
        "damage"
    )


@contextlib.contextmanager
def sound_in(database: Database, table: str) -> Iterator[None]:
    """Say in one line that a value is none that was written there.

    Raises
    ------
    DamagedError
    """
    try:
        yield
    except UnfitError as error:
        raise damaged(database, table, error) from error


class Database(Protocol):
    """A connection to a database.

    Every method turns what the database refuses into an error of one line:
    `BusyError`, `DamagedError`, `MachineError` where it is full or
    does not answer, `UsageError` where it cannot be written.

    Attributes
    ----------
    shown : str
        The database for messages, without a password.
    writable : bool
        Whether rows can be added.
    """

    shown: str
    writable: bool

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run one statement and return the rows that it gives, as tuples."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of parameters."""

    def count_new(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Insert rows; say how many were not there yet."""

    def transaction(self) -> AbstractContextManager[None]:
        """Keep all that happens within, or nothing."""

    def reading(self) -> AbstractContextManager[None]:
        """See one state of all tables within, whatever others write meanwhile."""

    def lock(self, wait_s: float) -> AbstractContextManager[bool]:
        """Let one process at a time write; gives whether it is this one.

        A process that dies gives the lock back.
        """

    def has_table(self, name: str) -> bool:
        """Say whether there is such a table."""

    def is_empty(self) -> bool:
        """Say whether there is no table at all."""

    def copy(self, version: int) -> str:
        """Copy everything before a migration from a version; say where to."""

    def problems(self) -> list[str]:
        """Return what the database finds damaged in itself, one line each."""

    def close(self) -> None:
        """Close the connection."""
