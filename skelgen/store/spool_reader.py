"""Take the lines of a spool into the database, each exactly once.

How far each file was read is kept in the database, in the transaction that adds its
rows: whoever dies at any time leaves both as they were before or after.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from skelgen.store.tables import CheckedRow, checked, keep
from skelgen.store.values import as_text as sql_text

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Pace:
    """How much is taken at a time.

    Attributes
    ----------
    files : int
        Whose first lines are taken in one transaction.
    first_bytes : int
        Of each of them [bytes].
    bytes : int
        Of a file with more lines [bytes].
    """

    files: int
    first_bytes: int
    bytes: int


#: Of who works for others and looks at the clock, and of who needs all lines.
_BRIEF = _Pace(8, 1 << 10, 4 << 10)
_THOROUGH = _Pace(200, 64 << 10, 1 << 20)
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
    end_s = math.inf if within_s is None else time.monotonic() + within_s
    pace = _THOROUGH if within_s is None else _BRIEF
    known = absorbed(database)
    names = spool.names(folder)
    for begin in range(0, len(names), pace.files):
        some = names[begin : begin + pace.files]
        with contextlib.ExitStack() as stack:
            files = [
                file
                for name in some
                if (file := _opened(stack, folder, name, lock=not copy)) is not None
            ]
            _absorb_files(database, folder, files, known, end_s, pace)
        if time.monotonic() >= end_s:
            return
    _forget(database, known.keys() - set(names))
    if not copy:
        spool.sweep(folder)


def _opened(
    stack: contextlib.ExitStack, folder: Path, name: str, *, lock: bool
) -> SpoolFile | None:
    try:
        return stack.enter_context(opened(folder, name, lock=lock))
    except SpoolFileError as error:
        logger.warning("%s", error)
        return None


def _absorb_files(
    database: Database,
    folder: Path,
    files: Sequence[SpoolFile],
    known: Mapping[str, int],
    end_s: float,
    pace: _Pace,
) -> None:
    """Take the beginnings of some files in one transaction, then what is left."""
    begins = {file.name: known.get(file.name, 0) for file in files}
    first = [
        (folder / file.name, begins[file.name], lines)
        for file in files
        if (lines := file.complete(begins[file.name], pace.first_bytes))
    ]
    if first:
        _keep_lines(database, first)
    for path, begin, lines in first:
        begins[path.name] = begin + len(lines)
    for file in files:
        path, begin = folder / file.name, begins[file.name]
        while lines := file.complete(begin, pace.bytes):
            if time.monotonic() >= end_s:
                return
            _keep_lines(database, [(path, begin, lines)])
            begin += len(lines)
        if file.ended:  # what is left is half a line, of a writer that was killed
            with contextlib.suppress(FileNotFoundError, PermissionError):
                path.unlink()


def _keep_lines(database: Database, blocks: Sequence[tuple[Path, int, bytes]]) -> None:
    """Add the rows of lines of files, and how far these were read, or nothing."""
    good: list[CheckedRow] = []
    damaged: list[tuple[str, str, str, str]] = []
    for file, begin, lines in blocks:
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
        database.executemany(
            "INSERT INTO spool_files VALUES (?, ?) ON CONFLICT (name) "
            "DO UPDATE SET absorbed_bytes = excluded.absorbed_bytes",
            [(file.name, begin + len(lines)) for file, begin, lines in blocks],
        )
    for _, place, reason, _ in damaged:
        logger.warning(
            "%s: a damaged line was put aside (%s); skelgen store check lists it",
            place,
            reason,
        )


def read_line(line: bytes, file: Path, at: int) -> CheckedRow:
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
