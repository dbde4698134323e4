"""How runs reach their hosts: a launcher here, steps of an allocation, or jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import MachineError, UsageError
from skelgen.launch.batch import BatchRunner
from skelgen.launch.batch_systems import Flux, Pbs, Slurm
from skelgen.launch.host_runner import LocalRunner, Runner
from skelgen.launch.launch_method import Through
from skelgen.launch.launchers import FluxRun, Hydra, Launcher, OpenMpi, Srun
from skelgen.launch.way import Way
from tests import fake_mpi

MPICH = Hydra(("/m/mpirun",))
LISTS = 'echo "MPI plugin types are..."; echo "	pmix"; echo "	pmi2"'
STEP = ("--overlap", "--kill-on-bad-exit=1", "--quit-on-interrupt")


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine with the commands of all systems, outside of an allocation."""
    for name in ("sbatch", "qsub", "flux"):
        fake_mpi.script(tmp_path / "bin" / name, "exit 1")
    fake_mpi.script(tmp_path / "bin/srun", LISTS)
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    for name in ("SLURM_JOB_ID", "FLUX_URI", "PBS_JOBID"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "bin"


def chosen(way: Way = Way.AUTO, *words: str, launcher: Launcher = MPICH) -> Runner:
    return Through(way, words).runner(launcher, folder=Path("/skel"))


def test_without_a_wish_the_launcher_runs_here() -> None:
    assert chosen() == LocalRunner(MPICH)


def test_jobs_are_submitted_only_when_asked_for() -> None:
    runner = chosen(Way.SLURM, "-p", "short")
    assert isinstance(runner, BatchRunner)
    assert runner.system == Slurm(("-p", "short"))
    assert runner.launcher == Srun(("srun", *STEP, "--mpi=pmi2"))
    assert runner.folder == Path("/skel")


@pytest.mark.parametrize(
    ("launcher", "words"),
    [
        (MPICH, ("srun", *STEP, "--mpi=pmi2")),
        (OpenMpi(("mpirun",)), ("srun", *STEP, "--mpi=pmix")),
        (Srun(("/s/srun", "--mpi=cray")), ("/s/srun", *STEP, "--mpi=cray")),
    ],
)
def test_inside_an_allocation_of_slurm_runs_are_steps(
    monkeypatch: pytest.MonkeyPatch, launcher: Launcher, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert chosen(launcher=launcher) == LocalRunner(Srun(words))
    assert chosen(Way.SLURM, launcher=launcher) == LocalRunner(Srun(words))
    assert chosen(Way.LOCAL, launcher=launcher) == LocalRunner(launcher)


def test_mpirun_asks_slurm_where_srun_does_not_speak_to_the_mpi(
    monkeypatch: pytest.MonkeyPatch, tools: Path
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    fake_mpi.script(tools / "srun", 'echo "MPI plugin types are..."; echo "	none"')
    assert chosen() == LocalRunner(MPICH)


def test_flux_starts_ranks_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = FluxRun(("flux", "run"))
    runner = chosen(Way.FLUX)
    assert isinstance(runner, BatchRunner)
    assert (runner.system, runner.launcher) == (Flux(), inside)
    monkeypatch.setenv("FLUX_URI", "local:///tmp/flux")
    assert chosen() == LocalRunner(inside)


def test_pbs_leaves_starting_ranks_to_mpirun(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = chosen(Way.PBS, "-q", "short")
    assert isinstance(runner, BatchRunner)
    assert (runner.system, runner.launcher) == (Pbs(("-q", "short")), MPICH)
    monkeypatch.setenv("PBS_JOBID", "7.pbs01")
    assert chosen() == LocalRunner(MPICH)


def test_options_for_jobs_without_jobs_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="-p short: nothing is submitted here; leave"):
        chosen(Way.LOCAL, "-p", "short")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    with pytest.raises(UsageError, match="nothing is submitted inside an allocation"):
        chosen(Way.SLURM, "-p", "short")


def test_a_batch_system_that_is_not_here_is_named(tools: Path) -> None:
    (tools / "qsub").unlink()
    with pytest.raises(MachineError, match="--through pbs: no qsub on PATH; run"):
        chosen(Way.PBS)
