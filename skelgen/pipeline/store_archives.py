"""What archives hold that `skelgen store add` reads: recorded runs and other files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from skelgen.documents.archives import ArchiveLimits, is_archive, unpack
from skelgen.errors import InputError, SkelgenError
from skelgen.pipeline.store_folders import is_whole
from skelgen.store import AddedRow, Row, Run, StoredPrediction
from skelgen.store.formats.reading import FileContent


def archive_content(
    path: Path, read: Callable[[Path], FileContent], limits: ArchiveLimits | None
) -> FileContent:
    """Return what the recorded runs and files of an archive hold.

    It is unpacked into a folder that is removed afterwards. A source in it with a
    mistake is refused, and the others are read.

    Parameters
    ----------
    path : Path
    read : callable
        How a folder or file of it is read.
    limits : ArchiveLimits, optional

    Raises
    ------
    InputError
        When it cannot be unpacked, or holds nothing.
    """
    with tempfile.TemporaryDirectory(prefix="skelgen-") as name:
        folder = Path(name)
        unpack(path, folder, limits or ArchiveLimits(), shown=str(path))
        return _content(folder, str(path), read)


def _content(
    folder: Path, shown: str, read: Callable[[Path], FileContent]
) -> FileContent:
    """Return what an unpacked archive holds, in whose name messages and sources are."""

    def told(text: str) -> str:
        return text.replace(f"{folder}/", f"{shown}: ").replace(str(folder), shown)

    rows: list[Row] = []
    refused: list[AddedRow] = []
    sources = list(_sources(folder))
    if not sources:
        raise InputError(
            f"{shown}: holds no file; pack the folder of a run: tar czf run.tar.gz run/"
        )
    for source in sources:
        try:
            if is_archive(source):
                raise InputError(f"{source}: is an archive in an archive; unpack it")
            found = read(source)
        except SkelgenError as error:
            refused.append(AddedRow(told(str(source)), "", told(str(error))))
            continue
        rows += (_named(one, told) for one in found.rows)
        refused += (
            AddedRow(told(one.source), one.run, told(one.reason))
            for one in found.refused
        )
    return FileContent(tuple(rows), tuple(refused))


def _sources(folder: Path) -> Iterator[Path]:
    """Yield folders that are read as a whole, and all other files."""
    if is_whole(folder) or any(folder.glob("*.jsonl")):
        yield folder
        return
    for one in sorted(folder.iterdir()):
        if one.is_dir():
            yield from _sources(one)
        else:
            yield one


def _named(row: Row, told: Callable[[str], str]) -> Row:
    """Return a row whose source is the archive, not the folder that is removed."""
    if isinstance(row, Run | StoredPrediction):
        return replace(row, source=told(row.source))
    return row
