"""What archives hold that `skelgen store add` reads: recorded runs and other files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.documents.archives import ArchiveLimits, is_archive, unpack
from skelgen.errors import InputError, SkelgenError
from skelgen.pipeline.signatures import is_run
from skelgen.progress import Progress

if TYPE_CHECKING:
    from skelgen.pipeline.store_sources import Pages
    from skelgen.store import AddedRow, Row
    from skelgen.store.formats.reading import FileContent
    from skelgen.store.formats.typed_values import TypedValues


def archive_content(
    path: Path,
    known: TypedValues,
    mapping: Mapping[str, str],
    progress: Progress,
    limits: ArchiveLimits | None,
    pages: Pages,
) -> FileContent:
    """Return what the recorded runs and files of an archive hold.

    It is unpacked into a folder that is removed afterwards. A source in it with a
    mistake is refused, and the others are read.

    Parameters
    ----------
    path : Path
    known : TypedValues
        What holds for all runs.
    mapping : mapping
        Columns by what they are.
    progress : Progress
    limits : ArchiveLimits, optional
    pages : Pages
        Whether recorded runs come with what their pages show.

    Raises
    ------
    InputError
        When it cannot be unpacked, or holds nothing.
    """
    with tempfile.TemporaryDirectory(prefix="skelgen-") as name:
        folder = Path(name)
        unpack(path, folder, limits or ArchiveLimits(), shown=str(path))
        return _content(folder, str(path), known, mapping, progress, pages)


def _content(
    folder: Path,
    shown: str,
    known: TypedValues,
    mapping: Mapping[str, str],
    progress: Progress,
    pages: Pages,
) -> FileContent:
    """Return what an unpacked archive holds, in whose name messages and sources are."""
    from skelgen.pipeline.store_sources import Pages, content_of
    from skelgen.store import AddedRow
    from skelgen.store.formats.reading import FileContent

    def told(text: str) -> str:
        return text.replace(f"{folder}/", f"{shown}: ").replace(str(folder), shown)

    of_sent = Pages.NONE if pages is Pages.NONE else Pages.OF_SENT
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
            found = content_of(str(source), known, mapping, progress, pages=of_sent)
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
    from skelgen.phases.store import PHASES_FILE

    whole = is_run(folder) or (folder / PHASES_FILE).is_file()
    if whole or any(folder.glob("*.jsonl")):
        yield folder
        return
    for one in sorted(folder.iterdir()):
        if one.is_dir():
            yield from _sources(one)
        else:
            yield one


def _named(row: Row, told: Callable[[str], str]) -> Row:
    """Return a row whose source is the archive, not the folder that is removed."""
    from skelgen.store import Run, StoredPrediction

    if isinstance(row, Run | StoredPrediction):
        return replace(row, source=told(row.source))
    return row
