"""Measure systems and keep what was found, in the store or in a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen import _paths
from skelgen.documents.system import writing
from skelgen.launch.batch import BatchRunner
from skelgen.launch.folders import private_folder
from skelgen.launch.host_runner import LocalRunner, Runner
from skelgen.launch.hosts import Host
from skelgen.launch.launch_method import NEAREST, Through
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import Mpi, MpiKind, find_mpi
from skelgen.launch.replaceable_output import check_file
from skelgen.pipeline.known_systems import SYSTEM_BEGINS, SystemRows, write_rows
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.store import Added, Fact, Message, open_store, place_of
from skelgen.systems import OperationTimes, SystemFact, SystemMeasurement
from skelgen.systems.facts import benchmark_fact, measurement_of
from skelgen.systems.program import measuring_program
from skelgen.systems.running import (
    TimeBudget,
    describe_hosts,
    run_benchmark,
    run_measurement,
    unbound,
    with_all_cores,
    with_cores,
)


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """What was measured, and what became of it.

    Attributes
    ----------
    rows : SystemRows
    kept : str
        Store or file.
    added : Added or None
        What the store says; None for a file.
    """

    rows: SystemRows
    kept: str
    added: Added | None = None


def measure_system(
    hosts: Sequence[Host],
    *,
    budget_s: float,
    system: str = "",
    benchmark: Sequence[str] = (),
    mpi: MpiKind | None = None,
    through: Through = NEAREST,
    store: str | None = None,
    output: Path | None = None,
    force: bool = False,
    progress: Progress = NO_PROGRESS,
) -> MeasuredSystem:
    """Measure hosts and the links between them, and keep the results.

    Parameters
    ----------
    hosts : sequence of Host
        This machine when empty. Of a host with several slots so many cores are used.
    budget_s : float
        Time for a host or a pair of hosts [s].
    system : str
        Name of the system that the hosts are part of.
    benchmark : sequence of str
        A serial program of the user with its arguments, whose rate is measured, too.
    mpi : MpiKind, optional
        The first one on PATH when not given.
    through : Through
        How runs reach their hosts.
    store : str, optional
        As ``--store`` names it.
    output : Path, optional
        A file in place of the store.
    force : bool
        Replace that file.
    progress : Progress

    Raises
    ------
    MachineError
        Without an MPI with its compiler.
    ApplicationError
        When a host cannot run the program.
    """
    if output is not None:
        check_file(output, SYSTEM_BEGINS, force=force)
    began = time.time()
    found = _measured(hosts, find_mpi(mpi), budget_s, benchmark, through, progress)
    rows = SystemRows(
        tuple(_fact_row(one, system, began) for one in found.facts),
        tuple(_message_row(one, system, began) for one in found.operations),
    ).newest()
    if output is not None:
        write_rows(rows, output, force=force)
        return MeasuredSystem(rows, str(output))
    with open_store(store) as opened:
        added = opened.add(rows.rows)
    return MeasuredSystem(rows, place_of(store).shown, added)


def _measured(
    hosts: Sequence[Host],
    mpi: Mpi,
    budget_s: float,
    benchmark: Sequence[str],
    through: Through,
    progress: Progress,
) -> SystemMeasurement:
    """Compile the program, ask hosts for their cores, measure, run the benchmark."""
    program = measuring_program(mpi)
    jobs = _paths.cache() / "systems/jobs"
    with writing(jobs):
        runner = through.runner(launcher_of(mpi), folder=private_folder(jobs))
    unbound = _unbound(runner)
    steps = 2 + (max(1, len(hosts)) if benchmark else 0)
    progress.start("measuring the system", steps)
    known = describe_hosts(program, unbound, hosts)
    where, ranks = with_cores(hosts, known)
    progress.advance(1)
    budget = TimeBudget.of(budget_s)
    printed = run_measurement(program, runner, where, ranks, budget)
    printed = with_all_cores(printed, known)
    progress.advance(1)
    found = measurement_of([printed])
    facts = []
    for host in (where or [None]) if benchmark else ():
        times = run_benchmark(program, unbound, host, benchmark)
        named = (one for one in printed.hosts if one.host == times[0].host)
        name = Path(benchmark[0]).name
        facts.append(benchmark_fact(name, times, next(named, None)))
        progress.advance(1)
    progress.finish()
    return replace(found, facts=(*found.facts, *facts))


def _unbound(runner: Runner) -> Runner:
    """Return a runner that leaves its ranks all cores of their host."""
    if isinstance(runner, LocalRunner | BatchRunner):
        return replace(runner, launcher=unbound(runner.launcher))
    return runner


def _fact_row(fact: SystemFact, system: str, measured: float) -> Fact:
    return Fact(
        host=fact.host,
        name=fact.name,
        value=fact.value,
        unit=fact.unit,
        low=fact.low,
        high=fact.high,
        cores=fact.cores,
        repeats=fact.repeats,
        measured=measured,
        system=system,
        compiler=fact.compiler,
        kernel=fact.kernel,
        doubt=fact.doubt,
    )


def _message_row(times: OperationTimes, system: str, measured: float) -> Message:
    stretches = times.law.stretches
    knees = tuple(
        (one.begin_bytes, one.latency_s, one.bandwidth_bytes_per_s) for one in stretches
    )
    return Message(
        hosts=times.hosts,
        operation=times.operation,
        ranks=times.ranks,
        latency_s=times.law.latency_s,
        bandwidth_bytes_per_s=times.law.bandwidth_bytes_per_s,
        eager_bytes=times.law.eager_bytes,
        knees=knees if len(knees) > 1 else (),
        points=times.points,
        measured=measured,
        system=system,
        mpi=times.mpi,
        repeats=times.repeats,
        spread=times.spread,
        doubt=times.doubt,
    )
