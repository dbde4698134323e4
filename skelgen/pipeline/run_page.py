"""Write the page of a recorded run into its folder.

As with the page of a skeleton's folder no command fails because of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import SkelgenError
from skelgen.events.sites import with_source
from skelgen.events.summary import RunSummary, summary_of
from skelgen.events.totals import RunTotals
from skelgen.launch.folders import replace_file
from skelgen.launch.record import read_facts
from skelgen.phases.store import PHASES_FILE
from skelgen.phases.store import load as load_phases
from skelgen.phases.stored import PhaseSignature
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.page_file import PAGE_FILE, has_run_page, with_regions
from skelgen.pipeline.provenance import application_of
from skelgen.pipeline.run_reading import RunReading, read_run
from skelgen.prediction.kept import KeptPrediction, load_kept
from skelgen.trace import Trace, open_trace
from skelgen.web.page import phase_rows
from skelgen.web.recording import RunRecording, recording_of
from skelgen.web.render import render_page
from skelgen.web.run_page import answer_of_run, run_page

logger = logging.getLogger(__name__)


def write_run_page(
    run: Trace, reading: RunReading, summary: RunSummary, notes: Sequence[str] = ()
) -> Path | None:
    """Write the page of a run; say in the log why it cannot be written.

    Parameters
    ----------
    run : Trace
    reading : RunReading
    summary : RunSummary
        With source lines.
    notes : sequence of str
        Why some of these are not known.

    Returns
    -------
    Path or None
        Of the page; None where the folder is not ours, or cannot be written.
    """
    path = run.folder / PAGE_FILE
    try:
        if not has_run_page(run.folder):
            return None
        replace_file(path, _text(run, reading, summary, notes))
    except (SkelgenError, OSError) as error:
        logger.warning("%s was not written: %s", path, error)
        return None
    return path


def update_run_page(
    folder: Path,
    predictions: Sequence[KeptPrediction] | None,
    phases: PhaseSignature | None,
) -> None:
    """Put what is known now into the page of a run; make one where there is none."""
    kept = load_kept(folder) if predictions is None else predictions
    regions: dict[str, object] = {}
    if kept:
        regions["answer"] = answer_of_run("", kept)
    if phases is not None:
        regions["phases"] = phase_rows(phases)
    if not with_regions(folder / PAGE_FILE, regions):
        page_of_run(folder)


def page_of_run(folder: Path) -> Path | None:
    """Read a run and write its page; see `write_run_page`."""
    run = open_trace(folder)
    reading = read_run(run)
    summary = summary_of(run, reading.totals)
    found = lines_of(run, [one.where for one in summary.sites])
    summary = summary.with_sites(with_source(summary.sites, found.frames))
    return write_run_page(run, reading, summary, found.notes)


def _text(
    run: Trace, reading: RunReading, summary: RunSummary, notes: Sequence[str]
) -> str:
    phases = run.folder / PHASES_FILE
    page = run_page(
        recording_of_run(run, reading, summary, notes),
        predictions=load_kept(run.folder),
        phases=load_phases(run.folder) if phases.is_file() else None,
    )
    return render_page(page)


def recording_of_run(
    run: Trace,
    reading: RunReading,
    summary: RunSummary,
    notes: Sequence[str] = (),
    application: str = "",
) -> RunRecording:
    """Return what the page of a run is made of.

    Parameters
    ----------
    run : Trace
    reading : RunReading
    summary : RunSummary
        With source lines.
    notes : sequence of str
        Why some of these are not known.
    application : str
        What it is called; as it was recorded where empty.
    """
    facts, seen = read_facts(run.folder), reading.look()
    return recording_of(
        summary,
        computed_of_ranks_s(reading.totals),
        application=application or application_of(run.files[0].header, facts),
        command=facts.command if facts is not None else (),
        waits=seen.waits,
        notes=notes,
        timeline=seen.timeline,
    )


def computed_of_ranks_s(totals: RunTotals) -> NDArray[np.float64]:
    """Return the time of each rank outside of calls [s]."""
    whole_ns = totals.run.end_ns - totals.run.begin_ns
    computed: NDArray[np.float64] = np.maximum(whole_ns - totals.inside_ns, 0) / 1e9
    return computed
