"""Measure how much longer the application takes than its skeleton."""

from __future__ import annotations

import logging
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.prediction.ratio_outlook import ratio_interval, ratio_outlook
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.skeleton_runs import SkeletonProgram
from skelgen.prediction.thresholds import (
    FEWEST_RUNS,
    LARGEST_QUIET_SPREAD,
    LARGEST_RATIO_FACTOR,
    LARGEST_RATIO_FACTOR_SHORT,
    MOST_FURTHER_RUNS,
    SHORTEST_TRUSTED_S,
)
from skelgen.prediction.types import Calibration, Timed
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust.intervals import relative_spread
from skelgen.trust.thresholds import LARGEST_HALF_WIDTH
from skelgen.trust.types import PAPER_2005
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CalibrationTurn:
    """One run of each.

    Attributes
    ----------
    application : Timed or None
        None where the time of the recording is taken.
    skeleton : Timed
    """

    application: Timed | None
    skeleton: Timed

    @property
    def lost_s(self) -> tuple[float, float]:
        """Return what to take from both times, because a core was missing [s].

        Of both or of none: the ratio of a corrected time and one that is not would be
        further off than that of two which both waited. Nobody says how long a recorded
        application waited.
        """
        if self.application is None:
            return 0.0, 0.0
        first, second = self.application.queued_s, self.skeleton.queued_s
        if first is None or second is None:
            return 0.0, 0.0
        sane = first < self.application.time_s and second < self.skeleton.time_s
        return (first, second) if sane else (0.0, 0.0)


def calibrate(
    program: SkeletonProgram,
    application: Callable[[], Timed] | None,
    *,
    runs: int,
    bound: float | None = None,
    skeleton: Callable[[], Timed] | None = None,
    before: Sequence[CalibrationTurn] = (),
    made: Callable[[CalibrationTurn], None] | None = None,
    progress: Progress = NO_PROGRESS,
) -> Calibration:
    """Run application and skeleton in turn on the reference machine.

    Taking turns lets a slow drift of the machine meet both. From each run is taken
    for how long a rank of it waited for a core that other processes had.

    Parameters
    ----------
    program : SkeletonProgram
    application : callable or None
        Runs the application once and returns its time; None takes the time of
        the recording.
    runs : int
        Runs of each; a turn in which the skeleton was disturbed is made again.
    bound : float, optional
        End early when half the interval of the ratio is as narrow, or cannot become so
        [1].
    skeleton : callable, optional
        Runs the skeleton once; as the application was launched when not given.
    before : sequence of CalibrationTurn
        Those that were made already.
    made : callable, optional
        Told of each turn as it ends.
    progress : Progress

    References
    ----------
    Sodhi and Subhlok 2005, section IV: measured scaling ratio.
    """
    load = tuple(round(value, 2) for value in os.getloadavg())
    turns = list(before)
    each = 1 if application is None else 2
    todo = max(runs - len(turns), 0)
    progress.start("running application and skeleton", each * todo)
    while len(turns) < runs + skeleton_runs(turns).repeats and (
        bound is None or not _is_over(program, turns, runs, bound)
    ):
        whole = None if application is None else application()
        if whole is not None:
            _say("application", whole, progress)
        turns.append(CalibrationTurn(whole, (skeleton or program.on_reference)()))
        _say("skeleton", turns[-1].skeleton, progress)
        if made is not None:
            made(turns[-1])
    progress.finish()
    measured = _joined(program, turns, load)
    _tell_unquiet(measured, skeleton_runs(turns), bound or LARGEST_HALF_WIDTH)
    for note in skeleton_runs(turns).notes(program.facts.planned_compute_s):
        logger.warning("skeleton: %s", note)
    return measured


def skeleton_runs(turns: Sequence[CalibrationTurn]) -> SetRuns:
    """Return the skeleton's runs, less what they lost; each costs a turn."""
    return SetRuns(
        tuple(
            Timed(
                turn.skeleton.time_s - lost_s,
                computed_s=None if computed_s is None else max(computed_s - lost_s, 0),
                took_s=1.0,
            )
            for turn in turns
            for lost_s, computed_s in [(turn.lost_s[1], turn.skeleton.computed_s)]
        )
    )


def _application_runs_s(
    program: SkeletonProgram, turns: Sequence[CalibrationTurn]
) -> tuple[float, ...]:
    """Return the application's times less what they lost, or that of the recording."""
    measured_s = tuple(
        turn.application.time_s - turn.lost_s[0]
        for turn in turns
        if turn.application is not None
    )
    return measured_s or (program.facts.application_s,)


def _is_over(
    program: SkeletonProgram, turns: Sequence[CalibrationTurn], runs: int, bound: float
) -> bool:
    """Say whether no further turn is needed, or all that are left would not do."""
    skeleton = skeleton_runs(turns)
    if len(turns) < FEWEST_RUNS + skeleton.repeats:
        return False
    whole_s = _application_runs_s(program, turns)
    if ratio_outlook(whole_s, skeleton, bound).is_enough:
        return True
    best = ratio_outlook(whole_s, skeleton, bound, optimistic=True)
    return best.is_hopeless(runs + skeleton.repeats - len(turns))


def _say(name: str, run: Timed, progress: Progress) -> None:
    """Show how long a run took."""
    said = f"{name}: {format_seconds(run.time_s)}"
    logger.info("%s", said)
    progress.say(said)
    progress.advance(1)


def _joined(
    program: SkeletonProgram, turns: Sequence[CalibrationTurn], load: tuple[float, ...]
) -> Calibration:
    recorded = turns[0].application is None
    lost_s = [turn.lost_s for turn in turns]
    corrected = any(any(both_s) for both_s in lost_s)
    computing = [turn.skeleton.computing for turn in turns]
    known = [one for one in computing if one is not None]
    skeleton = skeleton_runs(turns)
    computed_s = [one for one in skeleton.computed_s if one is not None]
    return Calibration(
        application_runs_s=_application_runs_s(program, turns),
        skeleton_runs_s=skeleton.times_s,
        host=platform.node(),
        mpi=program.mpi,
        load=load,
        recorded=recorded,
        application_lost_s=tuple(one for one, _ in lost_s) if corrected else (),
        skeleton_lost_s=tuple(one for _, one in lost_s) if corrected else (),
        skeleton_computing=statistics.fmean(known) if known else None,
        skeleton_computed_s=tuple(computed_s) if len(computed_s) == len(turns) else (),
        disturbed=() if skeleton.is_busy else skeleton.disturbed,
    )


def _tell_unquiet(measured: Calibration, skeleton: SetRuns, bound: float) -> None:
    """Warn when the times of one program differ much from run to run."""
    unquiet = False
    for name, runs_s in (
        ("application", measured.application_runs_s),
        ("skeleton", measured.undisturbed_s),
    ):
        if (relative_spread(runs_s) or 0.0) > LARGEST_QUIET_SPREAD:
            unquiet = True
            times = ", ".join(format_seconds(run_s) for run_s in runs_s)
            logger.warning(
                "the times of the %s differ much (%s): this machine is not quiet; "
                "calibrate again when it is, or with more --runs",
                name,
                times,
            )
    if unquiet:
        _tell_needed(measured, skeleton, bound)


def _tell_needed(measured: Calibration, skeleton: SetRuns, bound: float) -> None:
    """Say how many runs make the ratio as sure as that, where it is not yet."""
    whole_s = measured.application_runs_s
    if min(len(skeleton), len(whole_s)) < FEWEST_RUNS:
        return
    width = ratio_interval(whole_s, measured.undisturbed_s).half_width
    if width <= bound:
        return
    further = ratio_outlook(whole_s, skeleton, bound).further_runs()
    runs = f"more than {MOST_FURTHER_RUNS}"
    if further is not None:
        runs = f"about {len(skeleton) + further}"
    said = "the ratio is known within %.0f %%; %s runs of each would make that %.0f %%"
    logger.warning(said, 100 * width, runs, 100 * bound)


def check_same_run(facts: SkeletonFacts, measured: Calibration) -> None:
    """Refuse a calibration that contradicts the recording.

    Skeletons by the rules of 2005 keep no known part of the application: nothing is
    expected of their ratio.

    Raises
    ------
    InputError
        When the ratio is further off than those of one program and input are.
    """
    expected = facts.expected_ratio
    off = max(measured.ratio / expected, expected / measured.ratio)
    most = (
        LARGEST_RATIO_FACTOR
        if facts.expected_s >= SHORTEST_TRUSTED_S
        else LARGEST_RATIO_FACTOR_SHORT
    )
    if facts.method == PAPER_2005 or off <= most:
        return
    raise InputError(
        f"the ratio is {measured.ratio:.3g}, expected was {expected:.3g} (at most "
        f"{most:g} times more or less): this is not the recorded program and input, or "
        "not a machine like that of the recording; give the recorded command, or keep "
        "this ratio with --force. Nothing was stored"
    )
