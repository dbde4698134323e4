"""Open the store that the user means."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from pathlib import Path

from skelgen.documents.system import writing
from skelgen.errors import InputError, MachineError, NoFileError
from skelgen.launch.folders import private_folder
from skelgen.store.database import BusyError, Database
from skelgen.store.location import Place, place_of
from skelgen.store.migrations import is_current, migrate, scripts
from skelgen.store.sharing import make_file, make_folder, mode_in
from skelgen.store.spool import LOCK
from skelgen.store.spool_store import Spool
from skelgen.store.sqlite import SqliteDatabase
from skelgen.store.store import Store

logger = logging.getLogger(__name__)

#: How long another process may take to bring the store to this version [s].
_WAIT_S = 60.0


def open_store(place: str | None = None, *, make: bool = True) -> Store:
    """Open a store; use it in a ``with`` statement.

    Parameters
    ----------
    place : str, optional
        File or URL; see `place_of`.
    make : bool
        Make an empty one where there is none.

    Raises
    ------
    NoFileError
        When there is none and `make` is false.
    InputError
        When it is of a newer version, damaged, or no store.
    UsageError
        When it cannot be written there.
    MachineError
        When the disk is full, or a server does not answer.
    """
    where = place_of(place)
    logger.debug("store: %s", where.shown)
    if where.is_url:
        database = _postgresql(where)
        _bring_up(database)
        return Store(database)
    path = Path(where.where).expanduser()
    _find(path, make=make)
    about = path.stat()
    mode = about.st_mode & 0o666
    folder = path.with_name(f"{path.name}.spool")
    if os.access(path.parent, os.W_OK):
        with writing(folder):
            make_folder(folder, mode)

    def connect() -> SqliteDatabase:
        file = SqliteDatabase.open(path, folder / LOCK, mode)
        _bring_up(file)
        return file

    spool = Spool(connect, folder, mode)
    # Who only adds a row need not wait for other processes that write.
    if not (make and about.st_size and spool.is_left_to_others()):
        spool.connect()
    return Store(spool)


def _bring_up(database: Database) -> None:
    """Bring a database to the last version, or close it."""
    try:
        versions = scripts()
        if not is_current(database, versions):
            with database.lock(_WAIT_S) as mine:
                if not mine:
                    raise BusyError(
                        f"{database.shown}: another process has its lock; try again"
                    )
                migrate(database, versions)
    except BaseException:
        database.close()
        raise


def _find(path: Path, *, make: bool) -> None:
    """Make an empty file where there is none."""
    if not path.exists():
        if not make:
            raise NoFileError(
                f"{path}: there is no store yet; skelgen store add makes one, --store "
                "names another"
            )
        with writing(path):
            private_folder(path.parent)
            with contextlib.suppress(FileExistsError):
                make_file(path, mode_in(path.parent))
    elif not path.is_file():
        raise InputError(f"{path}: is no file; name a file or a PostgreSQL URL")


def _postgresql(place: Place) -> Database:
    try:
        backend = importlib.import_module("skelgen.store.postgresql")
    except ImportError as error:
        raise MachineError(
            f"{place.shown}: psycopg is missing, which PostgreSQL needs; pip install "
            "'skelgen[postgresql]', or name a file"
        ) from error
    database: Database = backend.PostgresqlDatabase(place.where, place.shown)
    return database
