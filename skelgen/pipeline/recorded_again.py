"""Run an application under the recorder as it was launched before."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from skelgen.errors import ApplicationError
from skelgen.events.shared_cores import shared_cores
from skelgen.launch import record as launch_record
from skelgen.launch.command import parse_command
from skelgen.launch.consent import existing_folder
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.run_end import failure_of
from skelgen.pipeline.run_reading import read_run
from skelgen.prediction.types import Timed
from skelgen.trace import open_trace
from skelgen.units import seconds

Result = TypeVar("Result")


def again(
    launch: OwnLaunch,
    read: Callable[[Path], Result],
    *,
    limit_s: float | None = None,
    place: Path | None = None,
) -> Result:
    """Run an application under the recorder as it was launched before.

    Parameters
    ----------
    launch : OwnLaunch
        The user's own, or one that the user has agreed to.
    read : callable
        What is wanted of the trace, which is gone afterwards.
    limit_s : float, optional
        Longest time it may take [s].
    place : Path, optional
        Folder that all hosts see, for the trace meanwhile; enough is one of this
        machine where the application runs here.

    Raises
    ------
    UsageError
        When its working directory is gone: another may hold other programs.
    """
    cwd = existing_folder(launch)
    with tempfile.TemporaryDirectory(prefix="skelgen-", dir=place) as name:
        done = launch_record.run_recorded(
            parse_command(launch.command),
            Path(name),
            timeout_s=limit_s,
            environment=dict(launch.environment),
            cwd=cwd,
        )
        if done.timed_out or done.exit_code:
            raise ApplicationError(f"the application {failure_of(done)}")
        return read(Path(name))


def recorded_run(folder: Path) -> Timed:
    """Return the application's time of a recorded run, and its wait for cores.

    That is not known where ranks shared cores: then they waited for each other, which
    is a part of their time.
    """
    files = open_trace(folder).files
    loads = [file.definitions.load for file in files if not file.header.thread]
    known = [
        load.all_queued_us
        for load in loads
        if load is not None and load.queued_us is not None
    ]
    whole = bool(known) and len(known) == len(loads) and not shared_cores(files)
    return Timed(recorded_time_s(folder), max(known) / 1e6 if whole else None)


def recorded_time_s(folder: Path) -> float:
    """Return the application's time of a recorded run [s].

    From the first return from ``MPI_Init`` to the last begin of ``MPI_Finalize``.
    """
    run = read_run(open_trace(folder)).totals.run
    return seconds(run.application_ns)
