"""A phase signature as what a prediction runs on node sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.errors import ApplicationError
from skelgen.launch.consent import NO_CONSENT, Consent
from skelgen.launch.host_runner import Runner
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.phase_execution.application import application_of
from skelgen.phase_execution.estimate import paet_s, uncovered
from skelgen.phase_execution.execute import limit_s
from skelgen.phase_execution.interface import Application
from skelgen.phase_execution.live import LiveRun
from skelgen.phase_execution.phase_facts import PhaseFacts
from skelgen.phase_execution.plan import ExecutedExtent, ExecutionPlan, in_one_run
from skelgen.phases.stored import PhaseSignature
from skelgen.prediction.types import Timed
from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True)
class PhaseProgram:
    """The application, each run of it stopped when its phases have been measured.

    Its time is that of the whole application (PAET), so nothing is scaled.

    Attributes
    ----------
    binary : Path
        File of the signature.
    signature : PhaseSignature
    application : Application
    plan : ExecutionPlan
    runner : Runner
    doubts : tuple of Doubt
    """

    binary: Path
    signature: PhaseSignature
    application: Application
    plan: ExecutionPlan
    runner: Runner
    doubts: tuple[Doubt, ...]

    @property
    def facts(self) -> PhaseFacts:
        """Return what a prediction needs to know."""
        return PhaseFacts.of(self.signature, self.plan)

    @property
    def mpi(self) -> str:
        """Return name and version of the MPI that runs it."""
        return self.application.mpi

    def start(self, hosts: Sequence[Host], *, limit_s: float | None = None) -> PhaseRun:
        """Start it on hosts, or as it was recorded when there are none."""
        there = replace(
            self.application,
            hosts=tuple(hosts),
            runner=self.runner if hosts else None,
        )
        return PhaseRun(self, there, limit_s)


class PhaseRun:
    """An execution whose time is that of the whole application (PAET)."""

    def __init__(
        self, program: PhaseProgram, application: Application, most_s: float | None
    ) -> None:
        self._signature = program.signature
        most_s = limit_s(program.plan) if most_s is None else most_s
        self._run = LiveRun(application, program.plan.wanted, most_s)
        self._paet_s = 0.0

    def poll(self) -> Finished | None:
        """Return how it ended, None while it runs."""
        done = self._run.poll()
        if done is None:
            return None
        try:
            self._paet_s = paet_s(
                self._signature, self._run.measured(), self._run.probes_s
            )
        except ApplicationError as error:
            return replace(
                done, exit_code=NO_RESULT, errors=str(error), timed_out=False
            )
        return replace(done, exit_code=0, output="", errors="", timed_out=False)

    def timed(self, done: Finished) -> Timed:
        """Return the time that its phases predict.

        Raises
        ------
        ApplicationError
            When they tell none.
        """
        if not 0 < self._paet_s < math.inf:
            raise ApplicationError(
                f"the phases of {self._signature.provenance.application} tell no time: "
                f"{self._paet_s} s; measure more of them (skelgen phases --relevance)"
            )
        return Timed(self._paet_s)

    def stop(self) -> None:
        """End it with all its ranks."""
        self._run.stop()


def program_of(
    path: Path,
    signature: PhaseSignature,
    *,
    runner_of: Callable[[Launcher], Runner],
    workspace: Path,
    consent: Consent = NO_CONSENT,
) -> PhaseProgram:
    """Make of a phase signature what a prediction runs.

    Parameters
    ----------
    path : Path
        Of the signature.
    signature : PhaseSignature
    runner_of : callable
        Makes of the application's launcher what starts it.
    workspace : Path
        Folder that all hosts see.
    consent : Consent
        To a launch that is not the user's own.
    """
    plan = in_one_run(signature, ExecutedExtent())
    application, doubts = application_of(
        signature, (), runner_of=runner_of, workspace=workspace, consent=consent
    )
    assert application.runner is not None
    doubts += uncovered(signature, {one.phase for one in plan.wanted})
    return PhaseProgram(path, signature, application, plan, application.runner, doubts)
