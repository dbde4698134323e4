"""Measure how much longer the application takes than its skeleton."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable

from skelgen.prediction.skeleton_runs import SkeletonProgram
from skelgen.prediction.types import Calibration
from skelgen.progress import NO_PROGRESS, Progress


def calibrate(
    program: SkeletonProgram,
    application_s: Callable[[], float] | None,
    *,
    runs: int,
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
    progress : Progress

    References
    ----------
    Sodhi and Subhlok 2005, section IV: measured scaling ratio.
    """
    load = tuple(round(value, 2) for value in os.getloadavg())
    progress.start("running application and skeleton", runs)
    application: list[float] = []
    skeleton: list[float] = []
    for _ in range(runs):
        if application_s is not None:
            application.append(application_s())
        skeleton.append(program.reference_s())
        progress.advance(1)
    progress.finish()
    return Calibration(
        application_runs_s=tuple(application) or (program.facts.application_s,),
        skeleton_runs_s=tuple(skeleton),
        host=platform.node(),
        mpi=program.mpi,
        load=load,
        recorded=application_s is None,
    )
