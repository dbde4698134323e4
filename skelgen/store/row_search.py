"""Find rows by the beginnings of their identities."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    # A whole identity is found by an index, the beginning of one by a look at all.
    if whole := _found(store, "WHERE identity = ?", [begin]):
        return begin, whole[begin]
    where = "WHERE identity LIKE ? ESCAPE '!' ORDER BY identity LIMIT ?"
    pattern = re.sub(r"([!%_])", r"!\1", begin) + "%"
    found = _found(store, where, [pattern, _NAMED + 1])
    if not found:
        raise InputError(
            f"{begin}: there is no such row in {store.database.shown}; skelgen store "
            "list shows the runs"
        )
    if len(found) > 1:
        names = ", ".join(sorted(found)[:_NAMED])
        raise InputError(f"{begin}: {names} begin so; write more of the one you mean")
    return next(iter(found.items()))


def _found(store: Store, where: str, parameters: Sequence[str | int]) -> dict[str, Row]:
    """Return rows of all kinds but series, by their identities."""
    return {
        one.identity: one.row
        for kind in get_args(Row)
        if kind is not Series
        for one in rows_of(store.current(), kind, where, parameters)
    }
