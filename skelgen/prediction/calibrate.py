"""Measure how much longer the application takes than its skeleton."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Sequence
from typing import TypeAlias

from skelgen.prediction.skeleton_runs import SkeletonProgram
from skelgen.prediction.types import Calibration
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust.intervals import relative_spread
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)

#: Relative standard deviation above which a machine is not quiet [1].
UNQUIET = 0.05


#: Times of application, None where that of the recording is taken, and skeleton [s].
Turn: TypeAlias = tuple[float | None, float]


def calibrate(
    program: SkeletonProgram,
    application_s: Callable[[], float] | None,
    *,
    runs: int,
    before: Sequence[Turn] = (),
    made: Callable[[Turn], None] | None = None,
    progress: Progress = NO_PROGRESS,
) -> Calibration:
    """Run application and skeleton in turn on the quiet reference machine.

    Taking turns lets a slow drift of the machine meet both.

    Parameters
    ----------
    program : SkeletonProgram
    application_s : callable or None
        Runs the application once and returns its time [s]; None takes the time of
        the recording.
    runs : int
        Runs of each.
    before : sequence of Turn
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
    progress.start("running application and skeleton", max(runs - len(turns), 0))
    while len(turns) < runs:
        application_run_s = None if application_s is None else application_s()
        turns.append((application_run_s, program.reference_s()))
        if made is not None:
            made(turns[-1])
        progress.advance(1)
    progress.finish()
    application = tuple(one for one, _ in turns if one is not None)
    skeleton = tuple(one for _, one in turns)
    for name, runs_s in (("application", application), ("skeleton", skeleton)):
        if (relative_spread(runs_s) or 0.0) > UNQUIET:
            times = ", ".join(format_seconds(run_s) for run_s in runs_s)
            logger.warning(
                "the times of the %s differ much (%s): this machine is not quiet; "
                "calibrate again when it is, or with more --runs",
                name,
                times,
            )
    return Calibration(
        application_runs_s=application or (program.facts.application_s,),
        skeleton_runs_s=skeleton,
        host=platform.node(),
        mpi=program.mpi,
        load=load,
        recorded=application_s is None,
    )
