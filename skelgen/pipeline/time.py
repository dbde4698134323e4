"""Run a launch and keep in the store how long it took."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skelgen.errors import ExitCode, SkelgenError
from skelgen.launch.allocation import batch_job
from skelgen.launch.command import LaunchCommand, parse_command
from skelgen.launch.files import file_hashes
from skelgen.launch.names import application_name
from skelgen.launch.process import Finished, Output, run
from skelgen.launch.secrets import hidden
from skelgen.launch.target_hosts import where_of
from skelgen.pipeline.store import store_add_typed
from skelgen.pipeline.store_typed_runs import filled
from skelgen.store import Run
from skelgen.store.formats.cells import status_of
from skelgen.store.formats.typed_values import TypedValues

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A run that ended.

    Attributes
    ----------
    run : Run
    exit_code : int
        Of the launch, as a shell reports it.
    kept : bool
        Whether the store has it.
    """

    run: Run
    exit_code: int
    kept: bool


def timed(
    command: Sequence[str],
    known: TypedValues,
    place: str | None = None,
    *,
    quiet_output: bool = False,
) -> TimedRun:
    """Run a launch and keep its time.

    The run counts: a store that cannot be written is a warning only.

    Parameters
    ----------
    command : sequence of str
    known : TypedValues
        What was typed about it: an application, inputs, ranks, hosts.
    place : str, optional
        Of the store.
    quiet_output : bool
        Send what the program prints to stderr.

    Raises
    ------
    UsageError, MachineError
        When there is nothing to run.
    KeyboardInterrupt
        When it was interrupted; the run is kept.
    """
    launch = parse_command(command)
    about = _about(launch, command, known)
    begun, begun_s = time.time(), time.monotonic()
    output = Output.TO_STDERR if quiet_output else Output.THROUGH
    try:
        done = run(launch.running(), output=output)
    except KeyboardInterrupt as error:
        took_s = max(time.monotonic() - begun_s, 1e-6)
        status = _interrupted(error)
        _keep(replace(about, time_s=took_s, started=begun, status=status), place)
        raise
    found = replace(
        about,
        time_s=max(done.time_s, 1e-6),
        started=begun,
        status=status_of(_code(done)),
    )
    return TimedRun(found, _code(done), _keep(found, place))


def _interrupted(error: KeyboardInterrupt) -> str:
    """Return the status of a run that a signal to skelgen ended."""
    name = str(error) if str(error) in signal.Signals.__members__ else "SIGINT"
    return f"signal {signal.Signals[name].value}"


def _code(done: Finished) -> int:
    """Return the exit code of a launch; 1 where nobody knows it."""
    return done.exit_code if done.exit_code >= 0 else int(ExitCode.INTERNAL)


def _about(launch: LaunchCommand, command: Sequence[str], known: TypedValues) -> Run:
    """Say what runs, where, before it does: programs may be removed by their end."""
    where = where_of(launch)
    hosts = known.hosts or where.hosts
    files = file_hashes(launch.program[:1])
    found = Run(
        application=known.application or application_name(launch.program),
        time_s=0.0,
        ranks=known.ranks or where.ranks,
        nodes=len(hosts) if known.hosts else where.nodes,
        ranks_per_node=0 if known.ranks or known.hosts else where.ranks_per_node,
        executable=files[0][1] if files else "",
        inputs=known.inputs,
        hosts=hosts,
        allocation=batch_job(),
        system=known.system,
        mpi=launch.mpi.title if launch.mpi is not None else "",
        source=" ".join(["skelgen time --", *hidden(command)]),
    )
    return filled(found)


def _keep(found: Run, place: str | None) -> bool:
    """Add a run to the store; say it when that fails."""
    try:
        refused = store_add_typed(place, found).refused
        if not refused:
            return True
        logger.warning("the run is not kept: %s", refused[0].reason)
    except (SkelgenError, OSError) as error:
        logger.warning("the run is not kept: %s", error)
    return False
