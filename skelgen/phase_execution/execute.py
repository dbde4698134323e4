"""Execute the phases of an application with a backend."""

from __future__ import annotations

import time
from dataclasses import dataclass

from skelgen.launch.interrupts import Interrupts
from skelgen.launch.shim import mpi_of, shim
from skelgen.phase_execution.interface import Application, Backend, Measured
from skelgen.phase_execution.plan import ExecutionPlan
from skelgen.prediction.skeleton_runs import longest_s
from skelgen.progress import NO_PROGRESS, Progress


@dataclass(frozen=True, slots=True)
class Execution:
    """What was measured.

    Attributes
    ----------
    measured : tuple of Measured
    set_s : float
        Time that it took (SET): launching and all until the last phase was over; with
        images from the first restored to the end, for they are made once [s].
    probes_s : tuple of tuple of float
        How long a fixed piece of arithmetic took meanwhile, of each rank [s].
    """

    measured: tuple[Measured, ...]
    set_s: float
    probes_s: tuple[tuple[float, ...], ...] = ()


def execute(
    backend: Backend,
    application: Application,
    plan: ExecutionPlan,
    *,
    restores: int = 1,
    progress: Progress = NO_PROGRESS,
) -> Execution:
    """Execute the phases and leave nothing running.

    Parameters
    ----------
    backend : Backend
    application : Application
    plan : ExecutionPlan
    restores : int
        How often each occurrence is executed, where there are images of it.
    progress : Progress
    """
    shim(mpi_of(application.launch))  # compiled now if ever: that is no part of SET
    begin_s = time.monotonic()
    images = backend.name != "live"
    times = restores if images else 1
    progress.start("measuring the phases", len(plan.wanted) * (1 + times))
    with Interrupts() as interrupts:
        session = backend.launch(application, plan.wanted, limit_s=limit_s(plan))
        try:
            for wanted in plan.wanted:
                session.request(wanted)
                interrupts.pause(0)
                progress.advance(1)
            if images:
                begin_s = time.monotonic()
            measured = []
            for wanted in plan.wanted:
                for _ in range(times):
                    measured.append(session.restore(wanted))
                    interrupts.pause(0)
                    progress.advance(1)
            set_s = time.monotonic() - begin_s
            probes_s = session.probes_s
        finally:
            session.stop()
            progress.finish()
    return Execution(tuple(measured), set_s, probes_s)


def limit_s(plan: ExecutionPlan) -> float:
    """Return the longest time that an execution may take [s]."""
    return longest_s(plan.expected_s)
