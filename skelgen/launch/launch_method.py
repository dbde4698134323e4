"""Choose how runs reach their hosts: a launcher here, steps, or jobs.

Inside an allocation of a batch system runs are steps of it; before submission each
is a job of its own, which waits in the queue.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import MachineError, UsageError
from skelgen.launch.batch import BatchRunner, Patience
from skelgen.launch.batch_systems import BatchSystem, Flux, Pbs, Slurm
from skelgen.launch.host_runner import LocalRunner, Runner
from skelgen.launch.launchers import FluxRun, Launcher, OpenMpi, Srun
from skelgen.launch.mpi import program
from skelgen.launch.process import run
from skelgen.launch.way import Way

#: Steps share their nodes with the shell of the allocation, end with their first rank
#: that fails, and end when skelgen does.
_STEP = ("--overlap", "--kill-on-bad-exit=1", "--quit-on-interrupt")


#: What is set inside an allocation of a system, what submits to it, and its class.
_SYSTEMS: dict[Way, tuple[str, str, Callable[[tuple[str, ...]], BatchSystem]]] = {
    Way.SLURM: ("SLURM_JOB_ID", "sbatch", Slurm),
    Way.FLUX: ("FLUX_URI", "flux", Flux),
    Way.PBS: ("PBS_JOBID", "qsub", Pbs),
}


@dataclass(frozen=True, slots=True)
class Through:
    """How runs reach their hosts, as the user wants it.

    Attributes
    ----------
    way : Way
    words : tuple of str
        Options for the command that submits jobs.
    queue_limit_s : float
        Longest time a job may wait for its hosts [s].
    """

    way: Way = Way.AUTO
    words: tuple[str, ...] = ()
    queue_limit_s: float = 600.0

    def runner(self, launcher: Launcher, *, folder: Path) -> Runner:
        """Return what starts runs.

        Parameters
        ----------
        launcher : Launcher
            Of the application.
        folder : Path
            For the output of jobs; on a disk that hosts and this machine share.

        Raises
        ------
        UsageError
            When there are options for jobs, but no job is submitted.
        MachineError
            When the batch system's commands are not here.
        """
        inside = allocation()
        way = (inside or Way.LOCAL) if self.way is Way.AUTO else self.way
        if way in (inside, Way.LOCAL):
            if self.words:
                raise UsageError(
                    f"--batch-options {' '.join(self.words)}: nothing is submitted "
                    f"{'here' if inside is None else 'inside an allocation'}; leave "
                    "them out, or choose a batch system with --through"
                )
            return LocalRunner(_launcher_for(way, launcher))
        _, submits, system = _SYSTEMS[way]
        if program(submits) is None:
            raise MachineError(
                f"--through {way.value}: no {submits} on PATH; run skelgen where jobs "
                "can be submitted, or use --through local"
            )
        return BatchRunner(
            system(self.words),
            _launcher_for(way, launcher),
            folder,
            Patience(self.queue_limit_s),
        )


NEAREST = Through()


def allocation() -> Way | None:
    """Return the batch system in whose allocation skelgen runs."""
    for way, (variable, submits, _) in _SYSTEMS.items():
        if os.environ.get(variable) and program(submits) is not None:
            return way
    return None


def _launcher_for(way: Way, launcher: Launcher) -> Launcher:
    """Return what starts ranks on nodes of a system: its own launcher if it can."""
    if way is Way.FLUX:
        return FluxRun(("flux", "run"))
    if way is not Way.SLURM:
        return launcher
    if isinstance(launcher, Srun):
        path, *words = launcher.words
        return Srun((path, *_STEP, *words))
    interface = "pmix" if isinstance(launcher, OpenMpi) else "pmi2"
    listed = run(["srun", "--mpi=list"], timeout_s=60)
    if interface not in f"{listed.output} {listed.errors}".split():
        return launcher  # mpirun asks srun to start its own helpers
    return Srun(("srun", *_STEP, f"--mpi={interface}"))
