"""Write the page of a recorded run into its folder.

As with the page of a skeleton's folder no command fails because of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import SkelgenError
from skelgen.events import Events, collect
from skelgen.events.sites import with_source
from skelgen.events.summary import RunSummary, summarise_run
from skelgen.launch.folders import replace_file
from skelgen.launch.record import read_facts
from skelgen.matching.threads import matched
from skelgen.phases.store import PHASES_FILE
from skelgen.phases.store import load as load_phases
from skelgen.phases.stored import PhaseSignature
from skelgen.pipeline.call_observers import MOST_MATCHED, SeenCalls
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.compile import application_of
from skelgen.pipeline.page_file import PAGE_FILE, has_run_page, with_regions
from skelgen.prediction.kept import KeptPrediction, load_kept
from skelgen.timeline import joined, lanes_of
from skelgen.trace import Trace, open_trace
from skelgen.web.page import phase_rows
from skelgen.web.recording import RunRecording, recording_of
from skelgen.web.render import render_page
from skelgen.web.run_page import answer_of_run, run_page

logger = logging.getLogger(__name__)


def write_run_page(
    run: Trace, events: Events, summary: RunSummary, notes: Sequence[str] = ()
) -> Path | None:
    """Write the page of a run; say in the log why it cannot be written.

    Parameters
    ----------
    run : Trace
    events : Events
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
        replace_file(path, _text(run, events, summary, notes))
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
    events = collect(run)
    summary = summarise_run(run, events)
    found = lines_of(run, [one.where for one in summary.sites])
    summary = summary.with_sites(with_source(summary.sites, found.frames))
    return write_run_page(run, events, summary, found.notes)


def _text(run: Trace, events: Events, summary: RunSummary, notes: Sequence[str]) -> str:
    phases = run.folder / PHASES_FILE
    page = run_page(
        recording_of_run(run, events, summary, notes),
        predictions=load_kept(run.folder),
        phases=load_phases(run.folder) if phases.is_file() else None,
    )
    return render_page(page)


def recording_of_run(
    run: Trace,
    events: Events,
    summary: RunSummary,
    notes: Sequence[str] = (),
    application: str = "",
) -> RunRecording:
    """Return what the page of a run is made of.

    Parameters
    ----------
    run : Trace
    events : Events
    summary : RunSummary
        With source lines.
    notes : sequence of str
        Why some of these are not known.
    application : str
        What it is called; as it was recorded where empty.
    """
    facts, seen = read_facts(run.folder), _seen(events)
    return recording_of(
        summary,
        computed_of_ranks_s(events),
        application=application or application_of(run.files[0].header, facts),
        command=facts.command if facts is not None else (),
        waits=seen.waits,
        notes=notes,
        timeline=seen.timeline,
    )


def computed_of_ranks_s(events: Events) -> NDArray[np.float64]:
    """Return the time of each rank outside of calls [s]."""
    inside = (events.leave_ns - events.enter_ns).astype(np.float64)
    calls = [
        inside[begin:end].sum() for begin, end in pairwise(events.calls.first.tolist())
    ]
    whole = (events.end_ns - events.begin_ns).astype(np.float64)
    computed: NDArray[np.float64] = np.maximum(whole - np.array(calls), 0.0)
    return computed / 1e9


def _seen(events: Events) -> SeenCalls:
    """Return wait states and timeline of a run; of large ones the timeline alone."""
    seen = SeenCalls()
    try:
        if len(events.calls) <= MOST_MATCHED:
            seen.look(*matched(events))
            return seen
    except SkelgenError as error:
        logger.info("no wait states: %s", error)
    seen.timeline = joined([lanes_of(events, range(events.calls.ranks))])
    return seen
