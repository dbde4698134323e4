"""Processes that open a store and write to it; they import little, to begin at once."""

from __future__ import annotations

from skelgen.store import Run, open_store
from skelgen.store.migrations import version_of

#: Rows that each writer has for itself, and so many that all of them have.
ROWS = 40


def own(writer: int) -> list[str]:
    """Return the identities that one writer adds."""
    return [f"{writer}-{number}" for number in range(ROWS)]


def shared() -> list[str]:
    """Return the identities that every writer adds."""
    return [f"all-{number}" for number in range(ROWS)]


def opened(place: str) -> int:
    """Open a store, and return its version."""
    with open_store(place) as store:
        return version_of(store.database)


def write(place: str, writer: int) -> None:
    """Add rows, each with one that others add as well."""
    with open_store(place) as store:
        for names in zip(own(writer), shared(), strict=True):
            store.add(Run("a", 1.0, identity=name) for name in names)
