"""Workload studies: add recorded runs, say what to record next, predict."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.launch.command import program_words
from skelgen.launch.folders import alone, new_file
from skelgen.launch.mpi import MpiKind
from skelgen.launch.names import application_name
from skelgen.launch.secrets import hidden
from skelgen.models.planning import PlannedRun, Range
from skelgen.phases import store as phases_store
from skelgen.phases.extract import extract_each
from skelgen.phases.string import logical_trace
from skelgen.phases.types import Parameters
from skelgen.pipeline.keep_predictions import Keeping, ModelAnswer, Subject, keep
from skelgen.pipeline.model_pages import write_study_page
from skelgen.pipeline.phases import clocked
from skelgen.pipeline.source_kinds import is_run
from skelgen.pipeline.trust import method_errors
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import open_trace
from skelgen.web.fill import PICTURE_BEGINS
from skelgen.web.workload_picture import render_workload
from skelgen.workload import (
    Study,
    WorkloadTime,
    aligned,
    next_workload,
    predict_workload,
    share_known,
    store,
)
from skelgen.workload.predicting import METHOD, Method
from skelgen.workload.store import is_measured, load_measured
from skelgen.workload.types import Point, Workload, point_phases, same_by

logger = logging.getLogger(__name__)

#: Ways to cut a run into phases that are tried to find those of the study: what an
#: iteration may take of the time, and what a loop must, depend on the workload.
_LONGEST = (0.01, 0.001, 0.1, 1.0, 0.0)
_RELEVANCE = (0.01, 0.05, 0.002)
#: Share of a run's time in known phases below which its functions say little [1].
_FEW_KNOWN = 0.9


def workload_add(
    file: Path, run: Path, at: Workload, *, progress: Progress = NO_PROGRESS
) -> tuple[Study, float]:
    """Add a recorded run to a study, which is made when there is none.

    Parameters
    ----------
    file : Path
        Of the study.
    run : Path
        Folder of a run, a phase signature, or what ``skelgen measure --json`` printed.
    at : dict of str to float
        The workload that was recorded.
    progress : Progress

    Returns
    -------
    Study
    float
        Share of the run's time in phases that the first run has too [0 to 1].
    """
    _load(file)  # what is damaged is told before the phases of the run are found
    point = _point(run, at, progress)
    if not any(point.cuts):
        raise InputError(
            f"{run}: this run communicates nothing, so it has no phases; record one "
            "that does"
        )
    study = _change(file, lambda study: _with_point(study, point))
    first, last = study.points[0], study.points[-1]
    known = share_known(first.phases, last, by=same_by(first, last))
    if known < _FEW_KNOWN:
        logger.warning(
            "%s: only %.0f %% of its time is in phases that %s has too; the others "
            "have no function and are in the rest",
            point.run,
            100 * known,
            study.points[0].run,
        )
    return study, known


def _load(file: Path) -> Study:
    """Read a study; an empty one when there is none yet."""
    return store.load(file) if file.exists() else Study()


def _change(file: Path, change: Callable[[Study], Study]) -> Study:
    """Change a study in its file, and return it; what others add meanwhile stays."""
    with alone(file.absolute().parent, f".{file.name}.lock"):
        study = change(_load(file))
        store.save(study, file)
    return study


def _with_point(study: Study, point: Point) -> Study:
    """Add a workload to a study, whose runs are then cut alike again."""
    before, study = study.points, study.with_point(point)
    added = study.points[-1]
    again = [
        one.run
        for one in before
        if dict(one.at) == dict(added.at) and one.ranks == added.ranks
    ]
    if again:
        logger.warning(
            "%s: this workload is in the study already (%s); the mean of all counts",
            point.run,
            ", ".join(again),
        )
    return replace(study, points=aligned(study.points))


def _point(source: Path, at: Workload, progress: Progress) -> Point:
    """Return the workload of a run, its phases found in all ways."""
    items, name = tuple(at.items()), source.absolute().name
    if not source.exists():
        raise InputError(f"{source} does not exist; record a run first")
    if is_measured(source):
        measured, verdict = load_measured(source)
        if verdict != "trust":
            logger.warning("%s: its verdict was: %s", source, verdict)
        return replace(measured, at=items)
    if not is_run(source):
        try:
            stored = phases_store.load(source)
        except InputError as error:
            raise InputError(
                f"{error}; expected a recorded run, a phase signature, or what skelgen "
                "measure --json printed"
            ) from error
        found = point_phases(one.phase for one in stored.phases)
        return Point(items, name, stored.ranks, stored.application_s, found)
    events, matching, clock, symbols = clocked(open_trace(source, progress), progress)
    trace = logical_trace(events.calls, matching, clock, symbols, events.sites)
    del clock, symbols
    for problem in (*events.warnings, *matching.problems):
        logger.warning("%s", problem)
    ways = (
        Parameters(relevance, longest, time_similarity=0.0)
        for longest, relevance in itertools.product(_LONGEST, _RELEVANCE)
    )
    usual, *others = dict.fromkeys(
        point_phases(cut.phases) for cut in extract_each(events, matching, trace, ways)
    )
    ranks, application_s = events.calls.ranks, events.application_ns / 1e9
    return Point(items, name, ranks, application_s, usual, others=tuple(others))


def workload_plan(
    file: Path,
    *,
    ranges: tuple[Range, ...] = (),
    command: tuple[str, ...] = (),
    method: str = "disagreement",
) -> tuple[Study, PlannedRun]:
    """Return which workload to record next; ranges and command are kept in the study.

    Parameters
    ----------
    file : Path
        Of the study, which is made when there is none.
    ranges : tuple of Range
        Where predictions are wanted; replaces those of the same dimensions.
    command : tuple of str
        Launch of the program, with ``{n}`` where the value of n belongs.
    method : {"disagreement", "bisection"}
    """
    study = _load(file)
    changed = _with_ranges(study, ranges, command)
    step = next_workload(changed, method=method)
    if changed != study:
        _change(file, lambda study: _with_ranges(study, ranges, command))
    return changed, step


def _with_ranges(
    study: Study, ranges: tuple[Range, ...], command: tuple[str, ...]
) -> Study:
    """Put ranges and command into a study in place of those that it has."""
    kept = {one.name: one for one in (*study.ranges, *ranges)}
    changed = replace(
        study, ranges=tuple(kept.values()), command=hidden(command) or study.command
    )
    for name in kept:
        if changed.command and not any(f"{{{name}}}" in w for w in changed.command):
            raise UsageError(
                f"the command does not say where {name} belongs: write {{{name}}} in "
                "one of its words"
            )
    return changed


@dataclass(frozen=True, slots=True)
class WorkloadAnswer:
    """What a study predicts.

    Attributes
    ----------
    found : WorkloadTime
    about : Subject
        What it is about.
    page : Path or None
        The page that was written.
    """

    found: WorkloadTime
    about: Subject
    page: Path | None


def workload_predict(
    file: Path,
    at: Workload,
    *,
    families: Path | None = None,
    method: Method = "combinations",
    separately: bool = False,
    picture: Path | None = None,
    force: bool = False,
    page: bool = True,
    keeping: Keeping | None = None,
) -> WorkloadAnswer:
    """Predict the time of the application at a workload, and write the study's page.

    Parameters
    ----------
    file : Path
        Of the study.
    at : dict of str to float
    families : Path, optional
        Study of another machine, whose functions get coefficients for this one.
    method : {"combinations", "thesis", "default"}
    separately : bool
        Each dimension on its own.
    picture : Path, optional
        SVG file for the points and functions of each phase.
    force : bool
        Replace a file that exists.
    page : bool
        Write the page of the study beside it.
    keeping : Keeping, optional
        Where the prediction is kept.
    """
    study = store.load(file)
    found = predict_workload(
        study,
        at,
        errors=method_errors(),
        families=None if families is None else store.load(families),
        method=method,
        separately=separately,
    )
    if picture is not None:
        with new_file(picture, PICTURE_BEGINS, force=force) as beside:
            beside.write_text(render_workload(found), encoding="utf-8")
    answer = ModelAnswer(found.time_s, found.measured_s, found.doubts)
    written = write_study_page(file, study, found) if page else None
    about = keep(keeping, _subject(study, file, at), [answer])
    return WorkloadAnswer(found, about, written)


def _subject(study: Study, file: Path, at: Workload) -> Subject:
    """Say what a prediction of a study is about: its program, else its file's name."""
    try:
        program = program_words(study.command, MpiKind.UNKNOWN)
    except SkelgenError:
        program = []
    return Subject(
        METHOD,
        application_name(program) or file.stem,
        recorded="",
        recorded_s=math.nan,
        ranks=int(at.get("ranks", study.points[0].ranks if study.points else 0)),
        mpi="",
        source=file,
        inputs=tuple(sorted(item for item in at.items() if item[0] != "ranks")),
    )
