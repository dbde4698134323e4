"""From a recorded run to its phases and their signature, or that from disk."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError, UsageError
from skelgen.events import Calls, Events, collect
from skelgen.events.unrecorded_work import unseen_of
from skelgen.launch.folders import replace_file
from skelgen.launch.record import read_facts
from skelgen.launch.replaceable_output import check_file
from skelgen.matching import Matching
from skelgen.phases import store
from skelgen.phases.extract import extract
from skelgen.phases.sign import sign
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.string import logical_trace
from skelgen.phases.thresholds import FEWEST_OCCURRENCES
from skelgen.phases.types import Parameters, Phases
from skelgen.pipeline.call_observers import SeenCalls
from skelgen.pipeline.execution_order import matched
from skelgen.pipeline.page_file import has_page
from skelgen.pipeline.provenance import provenance_of
from skelgen.pipeline.source_kinds import is_run
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.symbols.cluster import clusters_of
from skelgen.symbols.types import Clusters
from skelgen.ticks import place
from skelgen.ticks.table import TickTable, tick_table
from skelgen.trace import Trace, open_trace
from skelgen.web.fill import PICTURE_BEGINS
from skelgen.web.tick_picture import render_ticks

logger = logging.getLogger(__name__)

#: Share of the time in repeated phases below which they are of no use [1].
_LEAST_REPEATED = 0.5


def phases(
    source: Path,
    parameters: Parameters | None = None,
    *,
    output: Path | None = None,
    picture: Path | None = None,
    force: bool = False,
    progress: Progress = NO_PROGRESS,
) -> PhaseSignature:
    """Return the phase signature of a run, made now or stored.

    Parameters
    ----------
    source : Path
        Folder of a run, folder with a phase signature, or its file.
    parameters : Parameters, optional
        For runs only: what is stored has its own.
    output : Path, optional
        Folder, or YAML file, to store it in.
    picture : Path, optional
        SVG file to draw the phases into.
    force : bool
        Replace files that exist.
    progress : Progress
    """
    target = store.file_of(output) if output is not None else None
    seen = SeenCalls()
    look = seen.look if target is not None and has_page(target.parent) else None
    _check_files(target, picture, force=force)
    if is_run(source):
        found, signature, warnings = of_run(source, parameters, progress, look)
        for warning in warnings:
            logger.warning("%s", warning)
        if picture is not None:
            # What draws pictures is loaded when one is drawn.
            from skelgen.web.phase_picture import render_phases

            replace_file(picture, render_phases(found))
    else:
        if parameters is not None or picture is not None:
            raise UsageError(
                f"{source} is no recorded run: how phases are found, and their "
                "picture, need the trace"
            )
        signature = _stored(source)
    _warn_if_aperiodic(signature)
    if target is not None:
        store.save(signature, target)
        if target.name == store.PHASES_FILE:
            # What draws pages is loaded when one is drawn.
            from skelgen.pipeline.page import update_page

            update_page(target.parent, phases=signature, timeline=seen.timeline)
    return signature


def _warn_if_aperiodic(signature: PhaseSignature) -> None:
    if signature.repeated_share < _LEAST_REPEATED:
        logger.warning(
            "only %.0f %% of the time repeats %d times and more: to execute the phases "
            "would take almost as long as the application; build a skeleton instead: "
            "skelgen build RUN --scale K",
            100 * signature.repeated_share,
            FEWEST_OCCURRENCES,
        )


def _stored(source: Path) -> PhaseSignature:
    if not source.exists():
        raise InputError(f"{source} does not exist; record a run first")
    return store.load(source)


def _check_files(stored: Path | None, picture: Path | None, *, force: bool) -> None:
    """Refuse files that exist, unless they may be replaced."""
    if stored is not None:
        check_file(stored, store.PHASES_BEGIN, force=force)
    if picture is not None:
        check_file(picture, PICTURE_BEGINS, force=force)


def ticks(
    folder: Path,
    first: int,
    count: int,
    *,
    picture: Path | None = None,
    force: bool = False,
    progress: Progress = NO_PROGRESS,
) -> TickTable:
    """Return a stretch of the logical trace of a recorded run.

    Parameters
    ----------
    folder : Path
    first, count : int
        First tick, and number of ticks.
    picture : Path, optional
        SVG file to draw it into.
    force : bool
        Replace a file that exists.
    progress : Progress
    """
    _check_files(None, picture, force=force)
    events, matching = matched(collect(open_trace(folder, progress), progress))
    calls = events.calls
    table = tick_table(calls, matching, place(calls, matching), first, count)
    if picture is not None:
        replace_file(picture, render_ticks(table, first, count))
    return table


def of_run(
    folder: Path,
    parameters: Parameters | None = None,
    progress: Progress = NO_PROGRESS,
    look: Callable[[Events, Matching], None] | None = None,
) -> tuple[Phases, PhaseSignature, tuple[str, ...]]:
    """Return the phases of a recorded run, their signature, and what to warn of.

    Parameters
    ----------
    folder : Path
    parameters : Parameters, optional
    progress : Progress
    look : callable, optional
        Shown what the phases are found in, which is gone afterwards.
    """
    run = open_trace(folder, progress)
    events, matching, clock, symbols = clocked(run, progress)
    if look is not None:
        look(events, matching)
    # What nobody asks for any more goes: what follows takes as much memory.
    events = replace(events, enter_ns=events.enter_ns[:0].copy())
    trace = logical_trace(events.calls, matching, clock, symbols, events.sites)
    del clock, symbols
    found = extract(events, matching, trace, parameters)
    warnings = (*events.warnings, *matching.problems)
    return found, _signature(run, found, events.calls), warnings


def clocked(
    run: Trace, progress: Progress
) -> tuple[Events, Matching, NDArray[np.int64], Clusters]:
    """Return what the phases of a run are found in.

    Times between calls are left out, and of symbols all but who has which.
    """
    progress.start("finding the phases", 3)
    events = collect(run)
    progress.advance(1)
    events, matching = matched(events)
    progress.advance(1)
    symbols = clusters_of(events.calls, matching)
    unused: dict[str, Any] = {
        name: getattr(symbols, name)[:0].copy()
        for name in ("fate", "size_bytes", "varying_peer")
    }
    symbols = replace(symbols, **unused)
    events = replace(events, compute_ns=events.compute_ns[:0].copy())
    progress.finish()
    return events, matching, place(events.calls, matching), symbols


def _signature(run: Trace, found: Phases, calls: Calls) -> PhaseSignature:
    facts = read_facts(run.folder)
    threads = Counter(file.header.world_rank for file in run.files)
    return sign(
        found,
        calls,
        provenance_of(run, facts, None),
        facts,
        max(threads.values()),
        unseen_of(run.files),
    )
