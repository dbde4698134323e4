"""Build a skeleton from a recorded run or from a stored signature."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skelgen.errors import UntrustedError, UsageError
from skelgen.launch.folders import new_folder
from skelgen.launch.own_folders import FolderKind
from skelgen.launch.record import RunFacts
from skelgen.launch.replaceable_output import check_free
from skelgen.phases import store
from skelgen.phases.stored import PhaseSignature
from skelgen.pipeline.build_team import ALONE, Team
from skelgen.pipeline.call_observers import SeenCalls, timeline_beside
from skelgen.pipeline.call_sites import LINES_FILE, lines_for
from skelgen.pipeline.computation import ARITHMETIC, Computation, computation_of
from skelgen.pipeline.garbage_pause import uncollected
from skelgen.pipeline.left_out import LeftOut
from skelgen.pipeline.mix import MIX_FILE, mix_text
from skelgen.pipeline.page import page_text
from skelgen.pipeline.page_file import PAGE_FILE
from skelgen.pipeline.phases import of_run
from skelgen.pipeline.run_reading import MOST_MATCHED
from skelgen.pipeline.signatures import read_signature
from skelgen.pipeline.source_kinds import SIGNATURE_FILE, is_run
from skelgen.pipeline.target_time import plan_for_time
from skelgen.prediction.skeleton_file import (
    FACTS_FILE,
    RecordedLaunch,
    SkeletonDescription,
)
from skelgen.prediction.thresholds import SHORTEST_TRUSTED_S
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.reference.calibration import Mix
from skelgen.signature import Signature
from skelgen.signature.write import signature_text
from skelgen.skeleton import Plan
from skelgen.skeleton.emit.program_length import doubts_of_length
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.methods import planner
from skelgen.timeline import RunTimeline
from skelgen.timeline.store import TIMELINE_FILE, text_of
from skelgen.trust.types import PAPER_2005
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What the user wants of a skeleton.

    Attributes
    ----------
    scaling_factor : float or None
        K [1].
    target_s : float or None
        Time of the skeleton, in place of K [s].
    similarity_threshold : float or str or None
        0 to 1, ``auto``, or None for clusters without gaps.
    compute_mix : Mix or ``touched`` or None
        What computation consists of; ``touched``: what touches as much memory as the
        recorder saw; None for what was fitted to the run, else that, else arithmetic.
    strict : bool
        Fail where the skeleton would not be trusted.
    method : str
        Rules that shorten the signature.
    """

    scaling_factor: float | None
    target_s: float | None
    similarity_threshold: float | str | None
    compute_mix: Mix | Literal["touched"] | None
    strict: bool
    method: str = "whole-events"


@dataclass(frozen=True, slots=True)
class Built:
    """A skeleton that was built.

    Attributes
    ----------
    output : Path
    scaling_factor : float
        K [1].
    method : str
        Rules that the skeleton was planned by.
    signature_items : int
        Loops and leaves of the signature, all different ranks.
    skeleton_events : int
        Calls of the skeleton, all ranks.
    expected_s, application_s, smallest_good_s : float
        [s]
    dropped_share : float
        Share of the application's time that nothing in the skeleton stands for.
    left_out : tuple of LeftOut
        What that is.
    warnings : tuple of str
    fitted_mix : str
        The mix that was fitted to the run, where it was used; else empty.
    divided : str
        What became of computation and bytes where whole calls are too coarse for K;
        else empty.
    mix, mix_origin : str
        What computation consists of, and how that is known.
    """

    output: Path
    scaling_factor: float
    method: str
    signature_items: int
    skeleton_events: int
    expected_s: float
    application_s: float
    smallest_good_s: float
    dropped_share: float
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    fitted_mix: str = ""
    divided: str = ""
    mix: str = str(Mix())
    mix_origin: str = ARITHMETIC


@uncollected()
def build(
    source: Path,
    output: Path | None,
    *,
    options: BuildOptions,
    force: bool = False,
    progress: Progress = NO_PROGRESS,
    team: Team = ALONE,
) -> Built | None:
    """Build a skeleton into a folder that appears when it is complete.

    Parameters
    ----------
    source : Path
        Folder of a run, folder of a signature, or its file.
    output : Path or None
        None: named after source and K, in the current folder.
    options : BuildOptions
    force : bool
        Replace a folder that exists.
    progress : Progress
    team : Team
        Processes that share the work; only the first one gets a result.
    """
    _check_options(options)
    if output is not None:
        team.first(
            lambda: check_free(output, FolderKind.SKELETON, force=force, reads=[source])
        )
    seen = SeenCalls()
    signature, run = read_signature(
        source,
        similarity_threshold=_threshold(options, source),
        scaling_factor=options.scaling_factor,
        target_s=options.target_s,
        progress=progress,
        team=team,
        look=seen.look_at_large,
    )
    built: Built | None = team.first(
        lambda: _written(
            signature,
            source,
            run,
            output,
            options,
            seen,
            force=force,
            progress=progress,
        )
    )
    return built


def _written(
    signature: Signature,
    source: Path,
    run: RunFacts | None,
    output: Path | None,
    options: BuildOptions,
    seen: SeenCalls,
    *,
    force: bool,
    progress: Progress,
) -> Built:
    """Plan a skeleton and write its folder."""
    scaling_factor = _scaling_factor(options, signature)
    output = output or Path(f"{_name(source)}-k{scaling_factor:.4g}")
    with new_folder(output, FolderKind.SKELETON, force=force, reads=[source]) as beside:
        plan = _plan(signature, scaling_factor, options, progress)
        computation = computation_of(
            source, signature, options.compute_mix, options.method
        )
        files = render(plan, calibration=computation.speed)
        long = _told_length(plan, files)
        files |= _beside(plan, computation)
        phases = _phases(source, signature, progress, seen)
        described = _described(plan, computation, run, seen)
        files[FACTS_FILE] = described.text()
        if phases is not None:
            files[store.PHASES_FILE] = store.text_of(phases)
        timeline = seen.timeline or _timeline(source)
        if timeline is not None:
            files[TIMELINE_FILE] = text_of(timeline)
        if (lines := lines_for(source, signature.sites)).text:
            files[LINES_FILE] = lines.text
        files[PAGE_FILE] = page_text(
            signature,
            plan.report,
            described.facts,
            phases=phases,
            lines=lines.frames,
            timeline=timeline,
        )
        for name, text in files.items():
            (beside / name).write_text(text, encoding="utf-8")
    return _built(plan, output, computation, long)


def _phases(
    source: Path, signature: Signature, progress: Progress, seen: SeenCalls
) -> PhaseSignature | None:
    """Return the phase signature of a run, or that beside a signature.

    A run is read a second time for it, whole: not the large ones.
    """
    if is_run(source):
        if signature.events > MOST_MATCHED:
            return None
        return of_run(source, None, progress, seen.look)[1]
    folder = source if source.is_dir() else source.parent
    if not (folder / store.PHASES_FILE).is_file():
        return None
    return store.load(folder)


def _timeline(source: Path) -> RunTimeline | None:
    """Return the timeline beside a stored signature."""
    if is_run(source):
        return None
    return timeline_beside(source if source.is_dir() else source.parent)


def _check_options(options: BuildOptions) -> None:
    planner(options.method)
    if (options.scaling_factor is None) == (options.target_s is None):
        raise UsageError("give either --scale K or --target-time, such as 5s")
    if options.scaling_factor is not None and not 1 < options.scaling_factor < math.inf:
        raise UsageError(
            f"--scale {options.scaling_factor:g}: K must be above 1, the skeleton "
            "takes 1/K of the application's time"
        )


def _threshold(options: BuildOptions, source: Path) -> float | str | None:
    """Return the similarity threshold; the 2005 paper has its search for one."""
    asked = options.similarity_threshold
    searched = asked is None and options.method == PAPER_2005 and is_run(source)
    return "auto" if searched else asked


def _scaling_factor(options: BuildOptions, signature: Signature) -> float:
    """Return K, checked against what was recorded."""
    if options.target_s is not None:
        if options.target_s >= signature.application_s:
            raise UsageError(
                f"--target-time {format_seconds(options.target_s)} is not shorter than "
                f"the application, {format_seconds(signature.application_s)}"
            )
        return signature.application_s / options.target_s
    assert options.scaling_factor is not None
    return options.scaling_factor


def _name(source: Path) -> str:
    path = source.absolute()
    return path.parent.name if path.is_file() else path.name


def _plan(
    signature: Signature,
    scaling_factor: float,
    options: BuildOptions,
    progress: Progress,
) -> Plan:
    """Choose what the skeleton keeps, and warn or refuse where that is too little."""

    def planned(factor: float) -> Plan:
        return planner(options.method)(signature, factor, progress=progress)

    chosen = plan_for_time(planned, scaling_factor, options.target_s)
    for warning in chosen.report.warnings:
        logger.warning("%s", warning)
    if chosen.report.expected_s < SHORTEST_TRUSTED_S:
        logger.warning(
            "a skeleton of %s is too short for predictions that can be trusted: take a "
            "smaller K, or --target-time %s and more",
            format_seconds(chosen.report.expected_s),
            format_seconds(SHORTEST_TRUSTED_S).replace(" ", ""),
        )
    if options.strict and chosen.report.warnings:
        raise UntrustedError(f"--strict: {chosen.report.warnings[0]}")
    return chosen


def _described(
    plan: Plan,
    computation: Computation,
    run: RunFacts | None,
    seen: SeenCalls,
) -> SkeletonDescription:
    """Return all that is known of the skeleton."""
    return SkeletonDescription.of(
        plan,
        computation.speed,
        launch=None if run is None else RecordedLaunch(run.folder, run.environment),
        mix_error=computation.mix_error,
        waits=seen.waits,
    )


def _beside(plan: Plan, computation: Computation) -> dict[str, str]:
    """Return the signature, and what the computation consists of."""
    files = {SIGNATURE_FILE: signature_text(plan.signature)}
    if computation.fitted is not None:
        files[MIX_FILE] = mix_text(computation.fitted)
    return files


def _told_length(plan: Plan, files: dict[str, str]) -> tuple[str, ...]:
    """Warn of a program that takes long to compile, or refuse it."""
    doubts = doubts_of_length(files["skeleton.c"], plan.signature)
    for doubt in doubts:
        logger.warning("%s", doubt)
    return doubts


def _built(
    plan: Plan, output: Path, computation: Computation, doubts: tuple[str, ...]
) -> Built:
    report, signature, fitted = plan.report, plan.signature, computation.fitted
    rank_s = signature.application_s * signature.ranks
    return Built(
        output=output,
        scaling_factor=plan.scaling_factor,
        method=plan.method,
        signature_items=sum(len(group.nest) for group in signature.groups),
        skeleton_events=sum(
            operation.occurrences * len(program.ranks)
            for program in plan.programs
            for operation in program.operations
        ),
        expected_s=report.expected_s,
        application_s=signature.application_s,
        smallest_good_s=report.smallest_good_s,
        dropped_share=report.dropped_share,
        left_out=tuple(
            LeftOut(what, calls, time_s, time_s / rank_s if rank_s else 0.0)
            for what, calls, time_s in report.dropped
        ),
        warnings=(*report.warnings, *doubts),
        fitted_mix="" if fitted is None else str(fitted.mix),
        divided=report.divided,
        mix=str(computation.speed.mix),
        mix_origin=computation.origin,
    )
