"""From a recorded run to its phases."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.launch.folders import new_file
from skelgen.progress import NO_PROGRESS, Progress

if TYPE_CHECKING:
    from skelgen.phases import Parameters, Phases

logger = logging.getLogger(__name__)


def phases(
    folder: Path,
    parameters: Parameters,
    *,
    picture: Path | None = None,
    force: bool = False,
    progress: Progress = NO_PROGRESS,
) -> Phases:
    """Extract the phases of a recorded run.

    Parameters
    ----------
    folder : Path
    parameters : Parameters
    picture : Path, optional
        SVG file to draw them into.
    force : bool
        Replace a file that exists.
    progress : Progress
    """
    if picture is None:
        return _extracted(folder, parameters, progress)
    from skelgen.web import render_phases

    with new_file(picture, force=force) as beside:
        found = _extracted(folder, parameters, progress)
        beside.write_text(render_phases(found), encoding="utf-8")
    return found


def _extracted(folder: Path, parameters: Parameters, progress: Progress) -> Phases:
    from skelgen.events import collect
    from skelgen.matching import match
    from skelgen.phases import extract
    from skelgen.symbols import cluster
    from skelgen.ticks import place
    from skelgen.trace import open_trace

    run = open_trace(folder, progress)
    progress.start("finding the phases", 4)
    events = collect(run)
    progress.advance(1)
    matching = match(events.calls)
    for problem in (*events.warnings, *matching.problems):
        logger.warning("%s", problem)
    progress.advance(1)
    symbols = cluster(events, matching)
    progress.advance(1)
    found = extract(
        events, matching, place(events.calls, matching), symbols, parameters
    )
    progress.finish()
    return found
