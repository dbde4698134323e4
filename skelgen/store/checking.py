"""Find and name what is damaged in a store."""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.store import spool
from skelgen.store.database import DamagedError, Database
from skelgen.store.kinds import RowKind, kinds
from skelgen.store.lines import content_of, seal_of
from skelgen.store.migrations import version_of
from skelgen.store.opening import open_store
from skelgen.store.rows import Series
from skelgen.store.samples import sample_problems
from skelgen.store.store import Store
from skelgen.store.tables import rows_of, table_of
from skelgen.store.values import TEXT

#: Rows in memory at a time.
_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of a store found.

    Attributes
    ----------
    version : int
        Of the tables; 0: it could not be read.
    problems : tuple of str
        What is damaged, one line each.
    """

    version: int
    problems: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Say whether nothing is damaged."""
        return not self.problems


def check_store(place: str | None = None) -> Health:
    """Check a store: its pages, its rows, and the lines of its writers.

    Parameters
    ----------
    place : str, optional
        File or URL; see `skelgen.store.place_of`.

    Raises
    ------
    InputError
        When there is no store, or one of a newer version.
    UsageError
        When it cannot be read.
    """
    try:
        store = open_store(place, make=False)
    except DamagedError as error:
        return Health(0, (str(error),))
    with store:
        return health_of(store)


def health_of(store: Store) -> Health:
    """Check an open store; see `check_store`."""
    problems: list[str] = []
    version = 0
    database = store.database
    try:
        version = version_of(database)
        problems += database.problems()
        problems += _spool_problems(store)
        database = store.current()
    except DamagedError as error:
        problems.append(str(error))
    for kind in kinds().values():
        if kind.type is not Series:
            try:
                problems += _row_problems(database, kind)
            except DamagedError as error:
                problems.append(f"table {table_of(kind)}: {error}")
    try:
        problems += sample_problems(database)
    except DamagedError as error:
        problems.append(f"table samples: {error}")
    try:
        problems += _line_problems(database)
    except DamagedError as error:
        problems.append(f"table damaged_lines: {error}")
    return Health(version, tuple(dict.fromkeys(problems)))


def _row_problems(database: Database, kind: RowKind) -> list[str]:
    """Return the rows that are not what their checksums say."""
    problems: list[str] = []
    table = table_of(kind)
    last = ""
    while True:
        faults: list[str] = []
        found = rows_of(
            database,
            kind.type,
            "WHERE identity > ? ORDER BY identity LIMIT ?",
            (last, _AT_ONCE),
            faults,
        )
        problems += faults
        for one in found:
            try:
                fits = seal_of(content_of(one.row)) == one.seal
            except InputError:
                fits = False
            if not fits:
                problems.append(
                    f"table {table}, identity {one.identity}: is not what its checksum "
                    "says; restore a copy, or remove this row and add it again"
                )
        identities = database.execute(
            f"SELECT MAX(identity) FROM (SELECT identity FROM {table} "
            "WHERE identity > ? ORDER BY identity LIMIT ?) AS a_few",
            (last, _AT_ONCE),
        )
        if identities[0][0] is None:
            return problems
        last = identities[0][0]


def _line_problems(database: Database) -> list[str]:
    """Return the lines of writers that were no rows."""
    return [
        f"{TEXT.load(place)}: a writer's line is damaged ({TEXT.load(reason)}); it is "
        f"kept in the table damaged_lines; skelgen store remove {identity} forgets it"
        for identity, place, reason in database.execute(
            "SELECT identity, place, reason FROM damaged_lines ORDER BY place"
        )
    ]


def _spool_problems(store: Store) -> list[str]:
    """Return the files of writers that cannot be read."""
    problems = []
    folder = store.spool_folder
    if folder is None:
        return []
    for name in spool.names(folder):
        try:
            with spool.opened(folder, name, lock=False):
                pass
        except spool.SpoolFileError as error:
            problems.append(str(error))
    return problems
