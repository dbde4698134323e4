"""What the sources of `skelgen store add` hold."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from skelgen.documents.archives import ArchiveLimits, is_archive
from skelgen.documents.files import MOST_BYTES, as_text, read_bytes
from skelgen.errors import InputError
from skelgen.pipeline.source_kinds import Pages
from skelgen.progress import Progress
from skelgen.store.formats.reading import FileContent, read_content, read_own, yaml_kind
from skelgen.store.formats.typed_values import TypedValues

#: Lines of our own format on standard input.
STDIN = "-"


def content_of(
    source: str,
    known: TypedValues,
    mapping: Mapping[str, str],
    progress: Progress,
    limits: ArchiveLimits | None = None,
    *,
    pages: Pages = Pages.NONE,
) -> FileContent:
    """Return what a source holds.

    Parameters
    ----------
    source : str
        A recorded run, a file, an archive, an exported folder, or ``-``.
    known : TypedValues
        What holds for all runs.
    mapping : mapping
        Columns by what they are.
    progress : Progress
    limits : ArchiveLimits, optional
        Of an archive.
    pages : Pages
        Whether recorded runs come with what their pages show.

    Raises
    ------
    InputError
        For the first mistake.
    """
    if source == STDIN:
        return _own(Path("stdin"), _stdin(), known)
    path = Path(source)
    if path.is_dir() or is_archive(path):
        return _of_several(path, known, mapping, progress, limits, pages)
    content = read_bytes(path, pipes=True)
    if kind := yaml_kind(content):
        return _signature(path, kind, known)
    return read_content(path, content, known, mapping, made=_made(path))


def _of_several(
    path: Path,
    known: TypedValues,
    mapping: Mapping[str, str],
    progress: Progress,
    limits: ArchiveLimits | None,
    pages: Pages,
) -> FileContent:
    """Read a folder or an archive, which may hold other sources."""
    # A process that reads a table stays small: no NumPy.
    from skelgen.pipeline.store_archives import archive_content
    from skelgen.pipeline.store_folders import folder_content

    if path.is_dir():
        own = folder_content(path, known, progress, pages)
        return own or _exported(path, known, mapping, progress)
    sent = Pages.NONE if pages is Pages.NONE else Pages.OF_SENT

    def read(one: Path) -> FileContent:
        return content_of(str(one), known, mapping, progress, pages=sent)

    return archive_content(path, read, limits)


def _exported(
    path: Path, known: TypedValues, mapping: Mapping[str, str], progress: Progress
) -> FileContent:
    """Read a folder that a store exported."""
    files = sorted(path.glob("*.jsonl"))
    if not files:
        raise InputError(
            f"{path}: holds no recorded run, no phase signature and no exported store; "
            "name such a folder, or a file"
        )
    contents = [content_of(str(one), known, mapping, progress) for one in files]
    return FileContent(
        tuple(row for one in contents for row in one.rows),
        tuple(entry for one in contents for entry in one.refused),
    )


def _signature(path: Path, kind: str, known: TypedValues) -> FileContent:
    """Read a study of a workload, or a phase signature."""
    # A process that reads a table stays small: no NumPy.
    from skelgen.pipeline.store_folders import row_of_phases
    from skelgen.pipeline.store_studies import rows_of_study

    if kind == "workload":
        return FileContent(rows_of_study(path, known, _made(path)))
    return FileContent((row_of_phases(path, known),))


def _made(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _stdin() -> bytes:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise InputError(f"stdin: is longer than {MOST_BYTES} bytes; send less at once")
    return content


def rows_of_lines(what: str, content: bytes) -> FileContent:
    """Return the rows of lines of our own format.

    Parameters
    ----------
    what : str
        Where they are from, for messages.
    content : bytes
    """
    return _own(Path(what), content, TypedValues())


def _own(file: Path, content: bytes, known: TypedValues) -> FileContent:
    lines = as_text(file, content).split("\n")
    numbered = [(at, line) for at, line in enumerate(lines, start=1) if line.strip()]
    return read_own(file, numbered, known)
