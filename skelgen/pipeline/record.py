"""Record a run, and say what a recorded run holds."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from skelgen.errors import ApplicationError, MachineError, SkelgenError
from skelgen.events import collect
from skelgen.events.describe import describe
from skelgen.events.sites import with_source
from skelgen.events.summary import RunSummary, summarise_run
from skelgen.launch import parse_command
from skelgen.launch import record as launch_record
from skelgen.launch.command import check_library
from skelgen.launch.consent import existing_folder
from skelgen.launch.mpi import find_mpi, identify_launcher, program
from skelgen.launch.own_launches import OwnLaunch
from skelgen.launch.record import RunFacts, nothing_recorded
from skelgen.launch.run_end import failure_of
from skelgen.launch.shim import mpi_of, shim
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.run_page import write_run_page
from skelgen.prediction.types import Timed
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import Trace, open_trace
from skelgen.units import seconds

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run that was recorded.

    Attributes
    ----------
    facts : RunFacts
    ranks, events : int
        What the trace holds.
    trace_bytes : int
        Size of the trace [bytes].
    """

    facts: RunFacts
    ranks: int
    events: int
    trace_bytes: int


def shim_path(mpirun: str, linked: str = "") -> Path:
    """Return the recorder for a launcher's MPI, a program's, or the first one."""
    if linked:
        command = parse_command([mpirun, linked] if mpirun else [linked])
        check_library(command)
        return shim(mpi_of(command))
    if not mpirun:
        return shim(find_mpi())
    path = program(mpirun)
    if path is None:
        raise MachineError(f"--mpirun {mpirun}: no such program")
    return shim(identify_launcher(path))


def record(
    command: Sequence[str],
    target: Path,
    *,
    force: bool = False,
    quiet_output: bool = False,
) -> Recorded:
    """Run a command under the recorder and check that something was recorded.

    Parameters
    ----------
    command : sequence of str
    target : Path
        Folder for the trace.
    force : bool
        Replace a folder that exists.
    quiet_output : bool
        Send what the program prints to stderr, so that stdout holds our result only.

    Raises
    ------
    InputError
        When nothing was recorded.
    """
    facts = launch_record.record(
        command, target, force=force, quiet_output=quiet_output
    )
    run = open_trace(target)
    if not run.events:
        raise nothing_recorded(parse_command(command), facts)
    _look_at(run)
    return Recorded(facts, run.world_size, run.events, run.size_bytes)


def _look_at(run: Trace) -> None:
    """Say at once what makes a recording less useful, such as a loaded machine.

    Source lines are found and kept now: the program may be compiled again later.
    """
    try:
        summary = summarise_run(run, collect(run))
    except SkelgenError as error:
        logger.warning("%s", error)
        return
    for warning in summary.warnings:
        if warning not in run.warnings:
            logger.warning("%s", warning)
    lines_of(run, [one.where for one in summary.sites])


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A recorded run, for machines and in words.

    Attributes
    ----------
    summary : RunSummary
    text : str
    page : Path or None
        The page that was written.
    """

    summary: RunSummary
    text: str
    page: Path | None


def info(
    folder: Path, *, page: bool = True, progress: Progress = NO_PROGRESS
) -> RunInfo:
    """Describe a recorded run, and write its page.

    The words leave out what was already said as a warning while the run was read.

    Parameters
    ----------
    folder : Path
    page : bool
        Write a page into the run's folder, where that is ours and writable.
    progress : Progress
    """
    run = open_trace(folder, progress)
    events = collect(run, progress)
    summary = summarise_run(run, events)
    found = lines_of(run, [one.where for one in summary.sites])
    summary = summary.with_sites(with_source(summary.sites, found.frames))
    written = write_run_page(run, events, summary, found.notes) if page else None
    said = set(run.warnings)
    new = tuple(text for text in summary.warnings if text not in said)
    text = describe(replace(summary, warnings=new), found.notes)
    return RunInfo(summary, text, written)


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
    """Return the application's time of a recorded run, and its wait for cores."""
    loads = [
        file.definitions.load
        for file in open_trace(folder).files
        if not file.header.thread
    ]
    known = [
        load.all_queued_us
        for load in loads
        if load is not None and load.queued_us is not None
    ]
    whole = bool(known) and len(known) == len(loads)
    return Timed(recorded_time_s(folder), max(known) / 1e6 if whole else None)


def recorded_time_s(folder: Path) -> float:
    """Return the application's time of a recorded run [s].

    From the first return from ``MPI_Init`` to the last begin of ``MPI_Finalize``.
    """
    return seconds(collect(open_trace(folder)).application_ns)
