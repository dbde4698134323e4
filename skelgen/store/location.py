"""Where the store is, and why there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.errors import UsageError

STORE_VARIABLE = "SKELGEN_STORE"
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store is.

    Attributes
    ----------
    where : str
        File, or URL of a PostgreSQL database.
    why : str
        ``--store``, ``SKELGEN_STORE`` or ``usual``.
    """

    where: str
    why: str

    @property
    def is_url(self) -> bool:
        """Say whether it is a PostgreSQL database."""
        return self.where.startswith(_SCHEMES)

    @property
    def shown(self) -> str:
        """Return the place for people: without a password."""
        if not self.is_url:
            return self.where
        # Passwords with characters that should have been escaped are hidden as well.
        scheme, _, rest = self.where.partition("://")
        user, at, server = rest.rpartition("@")
        user = user.partition("?")[0].partition(":")[0]
        return f"{scheme}://{user}{at}{server.partition('?')[0]}"

    @property
    def is_set(self) -> bool:
        """Say whether the user asked for a store, or has one."""
        return self.why != "usual" or Path(self.where).exists()


def place_of(place: str | None = None) -> Place:
    """Return where the store is.

    Parameters
    ----------
    place : str, optional
        As ``--store`` names it; else ``SKELGEN_STORE`` does, else it is in the user's
        data folder.

    Raises
    ------
    UsageError
        When the URL is of another kind.
    """
    if place:
        found = Place(place, "--store")
    elif named := os.environ.get(STORE_VARIABLE):
        found = Place(named, STORE_VARIABLE)
    else:
        return Place(str(_paths.data() / "store.db"), "usual")
    if "://" in found.where and not found.is_url:
        scheme = found.where.partition("://")[0]
        raise UsageError(
            f"{found.why}: read a URL that begins with {scheme[:30]}://, expected a "
            "file or postgresql://..."
        )
    return found
