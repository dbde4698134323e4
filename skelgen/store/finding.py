"""Find rows by the beginnings of their identities."""

from __future__ import annotations

import re
from typing import get_args

from skelgen.errors import InputError, UsageError
from skelgen.store.rows import Row, Series
from skelgen.store.store import Store
from skelgen.store.tables import rows_of

_IDENTITY = re.compile(r"\S{1,200}")
#: Rows that begin alike are named up to here.
_NAMED = 5


def find(store: Store, begin: str) -> tuple[str, Row]:
    """Return the only row whose identity begins so, and its identity.

    Parameters
    ----------
    store : Store
    begin : str

    Raises
    ------
    UsageError
        When that is no identity.
    InputError
        When there is no such row, or several.
    """
    if not _IDENTITY.fullmatch(begin):
        raise UsageError(
            f"read {begin[:60]!r}, expected the id of a row; skelgen store list shows "
            "them"
        )
    found: dict[str, Row] = {}
    for kind in get_args(Row):
        if kind is Series:
            continue
        where = "WHERE identity LIKE ? ESCAPE '!' ORDER BY identity LIMIT ?"
        pattern = re.sub(r"([!%_])", r"!\1", begin) + "%"
        for one in rows_of(store.database, kind, where, [pattern, _NAMED + 1]):
            found[one.identity] = one.row
    if begin in found:
        return begin, found[begin]
    if not found:
        raise InputError(
            f"{begin}: there is no such row in {store.database.shown}; skelgen store "
            "list shows the runs"
        )
    if len(found) > 1:
        names = ", ".join(sorted(found)[:_NAMED])
        raise InputError(f"{begin}: {names} begin so; write more of the one you mean")
    return next(iter(found.items()))
