"""Who added rows through a server: the name of the token is kept with them."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable
from dataclasses import replace

from skelgen.errors import InputError
from skelgen.pipeline.kept_model import document_of, kept_of
from skelgen.store import Row, Run, StoredModel


def own_name() -> str:
    """Return the name of the user whose process this is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # nobody has a name for this user
        return str(os.getuid())


def signed(rows: Iterable[Row], author: str) -> tuple[Row, ...]:
    """Return rows that say who added them, whatever they said before.

    Runs and models have an author. A model that cannot be read stays as it is: pages
    say why they do not show it.
    """
    found: list[Row] = []
    for row in rows:
        if isinstance(row, Run):
            found.append(replace(row, author=author))
        elif isinstance(row, StoredModel):
            found.append(_signed_model(row, author))
        else:
            found.append(row)
    return tuple(found)


def _signed_model(row: StoredModel, author: str) -> StoredModel:
    try:
        kept = kept_of("", row)
        document = document_of(kept.model, author, kept.origin)
    except InputError:
        return row
    return replace(row, document=document)
