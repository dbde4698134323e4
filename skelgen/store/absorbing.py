"""Take the lines of a spool into the database, each exactly once.

How far each file was read is kept in the database, in the transaction that adds its
rows: whoever dies at any time leaves both as they were before or after.
"""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path

from skelgen.documents import json_field
from skelgen.documents.files import as_text
from skelgen.errors import InputError
from skelgen.store import spool
from skelgen.store.database import Database
from skelgen.store.lines import (
    content_identity,
    from_field,
)
from skelgen.store.spool import SpoolFile, SpoolFileError, opened
from skelgen.store.tables import Checked, checked, keep
from skelgen.store.values import as_text as sql_text

logger = logging.getLogger(__name__)

#: What a writer absorbs between two looks at the clock [bytes].
_SHORT_BYTES = 16 << 10
_LONG_BYTES = 1 << 20
#: So much of a damaged line is kept [characters].
_MOST_KEPT = 100_000


def waits(database: Database, folder: Path) -> bool:
    """Say whether a spool has lines that the database does not have."""
    names = spool.names(folder)
    if not names:
        return False
    known = absorbed(database)
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            if (folder / name).stat().st_size > known.get(name, 0):
                return True
    return False


def absorbed(database: Database) -> dict[str, int]:
    """Return how much of each file the database has [bytes]."""
    return dict(database.execute("SELECT name, absorbed_bytes FROM spool_files"))


def absorb(
    database: Database,
    folder: Path,
    *,
    within_s: float | None = None,
    copy: bool = False,
) -> None:
    """Take the lines of all files of a spool into the database.

    The caller has the lock of the store.

    Parameters
    ----------
    database : Database
    folder : Path
    within_s : float, optional
        Stop after this time; the others' lines wait for the next one [s].
    copy : bool
        The database is a copy: the files stay.
    """
    end_s = None if within_s is None else time.monotonic() + within_s
    known = absorbed(database)
    names = spool.names(folder)
    for name in names:
        try:
            with opened(folder, name, lock=not copy) as file:
                if file is not None:
                    _absorb_file(database, folder, file, known.get(name, 0), end_s)
        except SpoolFileError as error:
            logger.warning("%s", error)
        if end_s is not None and time.monotonic() >= end_s:
            return
    _forget(database, known.keys() - set(names))
    if not copy:
        spool.sweep(folder)


def _absorb_file(
    database: Database,
    folder: Path,
    file: SpoolFile,
    begin: int,
    end_s: float | None,
) -> None:
    most = _LONG_BYTES if end_s is None else _SHORT_BYTES
    while lines := file.complete(begin, most):
        _keep_lines(database, folder / file.name, begin, lines)
        begin += len(lines)
        if end_s is not None and time.monotonic() >= end_s:
            return
    if file.ended:  # what is left is half a line, of a writer that was killed
        with contextlib.suppress(FileNotFoundError, PermissionError):
            (folder / file.name).unlink()


def _keep_lines(database: Database, file: Path, begin: int, lines: bytes) -> None:
    """Add the rows of some lines, and how far they go, or nothing."""
    good: list[Checked] = []
    damaged: list[tuple[str, str, str, str]] = []
    at = begin
    for line in lines.removesuffix(b"\n").split(b"\n"):
        try:
            good.append(read_line(line, file, at))
        except InputError as error:
            damaged.append(_damaged(line, file, at, error))
        at += len(line) + 1
    with database.transaction():
        keep(database, good)
        database.executemany(
            "INSERT INTO damaged_lines VALUES (?,?,?,?) ON CONFLICT DO NOTHING", damaged
        )
        database.execute(
            "INSERT INTO spool_files VALUES (?, ?) ON CONFLICT (name) "
            "DO UPDATE SET absorbed_bytes = excluded.absorbed_bytes",
            (file.name, begin + len(lines)),
        )
    for _, place, reason, _ in damaged:
        logger.warning(
            "%s: a damaged line was put aside (%s); skelgen store check lists it",
            place,
            reason,
        )


def read_line(line: bytes, file: Path, at: int) -> Checked:
    """Read a line of a spool file.

    Parameters
    ----------
    line : bytes
    file : Path
    at : int
        Where the line begins in its file [bytes].

    Raises
    ------
    InputError
        When it is no row.
    """
    text = as_text(file, line)
    return checked(from_field(json_field(text, file, f"byte {at}")))


def _damaged(
    line: bytes, file: Path, at: int, error: InputError
) -> tuple[str, str, str, str]:
    place = f"{file.name}, byte {at}"
    text = sql_text(line[:_MOST_KEPT].decode("utf-8", "backslashreplace"))
    text = text.replace("\0", "\\x00")
    return content_identity(f"{place} {text}"), sql_text(place), str(error), text


def _forget(database: Database, names: set[str]) -> None:
    """Forget files that are gone."""
    if names:
        with database.transaction():
            database.executemany(
                "DELETE FROM spool_files WHERE name = ?", [(name,) for name in names]
            )
