"""Add what a file of somebody else holds to a store, and say what became of it."""

from __future__ import annotations

from collections.abc import Callable

from skelgen.errors import SkelgenError
from skelgen.pipeline import store
from skelgen.pipeline.authors import signed
from skelgen.pipeline.read_process import SentFile, read_apart
from skelgen.store import Added, AddedRow, Run
from skelgen.store.formats.reading import FileContent
from skelgen.web.upload_outcome import Uploaded


def add_upload(
    place: str | None,
    name: str,
    sent: SentFile,
    *,
    author: str,
    charge: Callable[[int], None],
) -> Uploaded:
    """Read a file apart, and add its rows: all of them in one go, or none.

    Parameters
    ----------
    place : str, optional
        Of the store, which has to be there.
    name : str
        As its sender calls it.
    sent : SentFile
    author : str
        Who sent it.
    charge : callable
        Is told how many bytes will be kept, and may refuse them.
    """
    try:
        found = read_apart(sent)
    except SkelgenError as error:
        return Uploaded(name, Added(refused=(AddedRow(name, "", str(error)),)))
    charge(found.size_bytes)
    rows = signed(found.content.rows, author)
    content = FileContent(rows, found.content.refused)
    added = store.store_add_content(place, content, make=False)
    runs = frozenset(row.identity for row in rows if isinstance(row, Run))
    return Uploaded(name, added, runs, found.notes)


def added_of(done: list[Uploaded]) -> Added:
    """Return what became of several files together."""
    return Added(
        tuple(entry for one in done for entry in one.added.added),
        tuple(entry for one in done for entry in one.added.already),
        tuple(entry for one in done for entry in one.added.refused),
    )
