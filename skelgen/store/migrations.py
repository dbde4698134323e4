"""The version of a store's tables, and the way from an older one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from skelgen import _paths
from skelgen.errors import InputError
from skelgen.store.database import DamagedError, Database
from skelgen.store.samples import seal_samples

#: What is done once the SQL of a version was run.
_THEN: Mapping[int, Callable[[Database], None]] = {2: seal_samples}

logger = logging.getLogger(__name__)


def scripts() -> list[str]:
    """Return the SQL text of each version, from version 1 on."""
    files = sorted(_paths.store_schemas().glob("[0-9]*.sql"))
    return [file.read_text(encoding="utf-8") for file in files]


def version_of(database: Database) -> int:
    """Return the version of the tables; 0: there are none.

    Raises
    ------
    InputError
        When the database is another program's; DamagedError when it does not say.
    """
    # In this order: another process may make all tables between the two questions.
    if database.is_empty():
        return 0
    if not database.has_table("store_versions"):
        raise InputError(
            f"{database.shown}: is another program's database, no store; name another "
            "place"
        )
    version = database.execute("SELECT MAX(version) FROM store_versions")[0][0] or 0
    if not isinstance(version, int):
        raise DamagedError(
            f"{database.shown}: table store_versions: read {version!s:.60}, expected a "
            "number; restore a copy of it"
        )
    return version


def is_current(database: Database, versions: Sequence[str]) -> bool:
    """Say whether the tables are of the last version.

    Raises
    ------
    InputError
        When they are of a newer one, or another program's.
    """
    version = version_of(database)
    if version > len(versions):
        raise InputError(
            f"{database.shown}: is a store of version {version}, this skelgen reads "
            f"up to version {len(versions)}; use a newer skelgen"
        )
    return version == len(versions)


def migrate(database: Database, versions: Sequence[str]) -> None:
    """Bring the tables to the last version; nothing happens to those that are.

    A copy is made before. The caller has the lock.

    Raises
    ------
    InputError
        See `is_current`.
    """
    if is_current(database, versions):
        return
    version = version_of(database)
    if version:
        copy = database.copy(version)
        logger.warning(
            "the store is brought from version %d to %d; a copy of it as it was is %s",
            version,
            len(versions),
            copy,
        )
    with database.transaction():
        for number, script in enumerate(versions[version:], version + 1):
            for statement in statements(script):
                database.execute(statement)
            if number in _THEN:
                _THEN[number](database)
            database.execute(
                "INSERT INTO store_versions VALUES (?, ?)", (number, time.time())
            )


def statements(script: str) -> list[str]:
    """Return the statements of a script: each ends with a line's last semicolon."""
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    parts = "\n".join(lines).split(";\n")
    return [part.strip().rstrip(";") for part in parts if part.strip()]
