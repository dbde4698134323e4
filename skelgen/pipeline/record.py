"""Record a run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import SkelgenError
from skelgen.events.summary import summary_of
from skelgen.launch import record as launch_record
from skelgen.launch.command import parse_command
from skelgen.launch.record import RunFacts, nothing_recorded
from skelgen.pipeline.call_sites import lines_of
from skelgen.pipeline.run_reading import read_run
from skelgen.trace import Trace, open_trace

logger = logging.getLogger(__name__)


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
        summary = summary_of(run, read_run(run).totals)
    except SkelgenError as error:
        logger.warning("%s", error)
        return
    for warning in summary.warnings:
        if warning not in run.warnings:
            logger.warning("%s", warning)
    lines_of(run, [one.where for one in summary.sites])
