"""What the sources of `skelgen store add` hold."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.documents.archives import ArchiveLimits, is_archive
from skelgen.documents.files import MOST_BYTES, as_text, read_bytes
from skelgen.errors import InputError
from skelgen.launch.record import read_facts
from skelgen.pipeline.signatures import is_run
from skelgen.progress import Progress

if TYPE_CHECKING:
    from skelgen.store import Row, Run
    from skelgen.store.formats.reading import FileContent
    from skelgen.store.formats.typed_values import TypedValues


class Pages(Enum):
    """Whether recorded runs come with what their pages show."""

    NONE = 0
    OF_OWN = 1
    OF_SENT = 2  # of traces that anybody may have made


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
    from skelgen.pipeline.store_archives import archive_content
    from skelgen.pipeline.store_studies import rows_of_study
    from skelgen.store.formats.reading import FileContent, read_content, yaml_kind

    if source == STDIN:
        return _own(Path("stdin"), _stdin(), known)
    path = Path(source)
    if path.is_dir():
        return _folder(path, known, mapping, progress, pages)
    if is_archive(path):
        return archive_content(path, known, mapping, progress, limits, pages)
    content = read_bytes(path, pipes=True)
    kind = yaml_kind(content)
    if kind == "workload":
        return FileContent(rows_of_study(path, known, _made(path)))
    if kind:
        return FileContent((_phases(path, known),))
    return read_content(path, content, known, mapping, made=_made(path))


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
    from skelgen.store.formats.typed_values import TypedValues

    return _own(Path(what), content, TypedValues())


def _own(file: Path, content: bytes, known: TypedValues) -> FileContent:
    from skelgen.store.formats.reading import read_own

    lines = as_text(file, content).split("\n")
    numbered = [(at, line) for at, line in enumerate(lines, start=1) if line.strip()]
    return read_own(file, numbered, known)


def _folder(
    path: Path,
    known: TypedValues,
    mapping: Mapping[str, str],
    progress: Progress,
    pages: Pages,
) -> FileContent:
    """Read a recorded run, a phase signature, or a folder that a store exported."""
    from skelgen.phases.store import PHASES_FILE
    from skelgen.store.formats.reading import FileContent

    if is_run(path):
        return FileContent(_recorded(path, known, progress, pages))
    if (path / PHASES_FILE).is_file():
        return FileContent((_phases(path, known),))
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


def _recorded(
    folder: Path, known: TypedValues, progress: Progress, pages: Pages
) -> tuple[Row, ...]:
    """Return a recorded run, and what its page shows."""
    from skelgen.events import collect
    from skelgen.phases import store as phases_store
    from skelgen.pipeline.compile import application_of
    from skelgen.pipeline.recordings import recording_row
    from skelgen.store.formats.recorded import recorded, with_phases
    from skelgen.trace import open_trace
    from skelgen.units import NS_PER_S

    trace, facts = open_trace(folder, progress), read_facts(folder)
    events = collect(trace, progress)
    time_s = events.application_ns / NS_PER_S
    named = known.application or application_of(trace.files[0].header, facts)
    run = recorded(folder, trace, facts, time_s, replace(known, application=named))
    if (folder / phases_store.PHASES_FILE).is_file():
        run = with_phases(run, phases_store.load(folder))
    if pages is Pages.NONE:
        return (run,)
    page = recording_row(trace, events, run, sent=pages is Pages.OF_SENT)
    return (run,) if page is None else (run, page)


def _phases(path: Path, known: TypedValues) -> Run:
    from skelgen.phases import store as phases_store
    from skelgen.store.formats.recorded import of_signature

    return of_signature(path, phases_store.load(path), known)
