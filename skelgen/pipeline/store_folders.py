"""What folders hold for a store: recorded runs and phase signatures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skelgen.launch.record import read_facts
from skelgen.phases import store as phases_store
from skelgen.pipeline.provenance import application_of
from skelgen.pipeline.recordings import recording_row
from skelgen.pipeline.run_reading import read_run
from skelgen.pipeline.source_kinds import Pages, is_run
from skelgen.progress import Progress
from skelgen.store import Row, Run
from skelgen.store.formats.reading import FileContent
from skelgen.store.formats.recorded import of_signature, recorded, with_phases
from skelgen.store.formats.typed_values import TypedValues
from skelgen.trace import open_trace
from skelgen.units import NS_PER_S


def is_whole(folder: Path) -> bool:
    """Say whether a folder is a recorded run or a phase signature."""
    return is_run(folder) or (folder / phases_store.PHASES_FILE).is_file()


def folder_content(
    path: Path, known: TypedValues, progress: Progress, pages: Pages
) -> FileContent | None:
    """Read a recorded run or a phase signature; None where a folder is neither."""
    if is_run(path):
        return FileContent(_recorded(path, known, progress, pages))
    if is_whole(path):
        return FileContent((row_of_phases(path, known),))
    return None


def _recorded(
    folder: Path, known: TypedValues, progress: Progress, pages: Pages
) -> tuple[Row, ...]:
    """Return a recorded run, and what its page shows."""
    trace, facts = open_trace(folder, progress), read_facts(folder)
    reading = read_run(trace, progress)
    time_s = reading.totals.run.application_ns / NS_PER_S
    named = known.application or application_of(trace.files[0].header, facts)
    run = recorded(folder, trace, facts, time_s, replace(known, application=named))
    if (folder / phases_store.PHASES_FILE).is_file():
        run = with_phases(run, phases_store.load(folder))
    if pages is Pages.NONE:
        return (run,)
    page = recording_row(trace, reading, run, sent=pages is Pages.OF_SENT)
    return (run,) if page is None else (run, page)


def row_of_phases(path: Path, known: TypedValues) -> Run:
    """Return the run of a phase signature."""
    return of_signature(path, phases_store.load(path), known)
