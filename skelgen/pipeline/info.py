"""Say what a recorded run holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.events.describe import describe
from skelgen.events.sites import with_source
from skelgen.events.summary import RunSummary, summary_of
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.run_reading import read_run
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import open_trace


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A recorded run, for machines and in words.

    Attributes
    ----------
    summary : RunSummary
    text : str
    page : Path or None
        The page that was written.
    """

    summary: RunSummary
    text: str
    page: Path | None


def info(
    folder: Path, *, page: bool = True, progress: Progress = NO_PROGRESS
) -> RunInfo:
    """Describe a recorded run, and write its page.

    The words leave out what was already said as a warning while the run was read.

    Parameters
    ----------
    folder : Path
    page : bool
        Write a page into the run's folder, where that is ours and writable.
    progress : Progress
    """
    run = open_trace(folder, progress)
    reading = read_run(run, progress)
    summary = summary_of(run, reading.totals)
    found = lines_of(run, [one.where for one in summary.sites])
    summary = summary.with_sites(with_source(summary.sites, found.frames))
    written = None
    if page:
        # What draws pages is loaded when one is drawn.
        from skelgen.pipeline.run_page import write_run_page

        written = write_run_page(run, reading, summary, found.notes)
    said = set(run.warnings)
    new = tuple(text for text in summary.warnings if text not in said)
    text = describe(replace(summary, warnings=new), found.notes)
    return RunInfo(summary, text, written)
