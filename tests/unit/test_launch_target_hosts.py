"""Ranks and hosts of a launch, from its words and its batch job."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from skelgen.launch.allocation import allocated_hosts, batch_job
from skelgen.launch.command import parse_command
from skelgen.launch.target_hosts import Where, where_of
from tests import fake_mpi

HERE = (platform.node(),)
JOB = {"SLURM_JOB_ID": "42", "SLURM_JOB_NODELIST": "n[1-4]"}


@pytest.fixture
def launchers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake_mpi.hydra(tmp_path / "mpich")
    fake_mpi.openmpi(tmp_path / "openmpi")
    fake_mpi.script(tmp_path / "slurm/srun", "exit 0")
    fake_mpi.script(tmp_path / "app", "exit 0")
    (tmp_path / "hosts").write_text("n1 slots=2\nn2 slots=2\n")
    monkeypatch.chdir(tmp_path)
    for name in ("SLURM_NTASKS", "SLURM_JOB_NODELIST", "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)

    def said(line: str, variables=None) -> Where:
        return where_of(parse_command([*line.split(), "./app"]), variables or {})

    return said


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("mpich/mpirun -n 8", Where(8, 8, 1, HERE)),
        ("mpich/mpirun -n 8 -hosts n1,n2", Where(8, 4, 2, ("n1", "n2"))),
        ("mpich/mpirun -n 3 -hosts n1,n2", Where(3, 0, 2, ("n1", "n2"))),
        ("mpich/mpirun -n 1 -hosts n1,n2", Where(1, 1, 1, ("n1",))),
        ("mpich/mpirun -n 4 -f hosts", Where(4, 2, 2, ("n1", "n2"))),
        ("mpich/mpirun -ppn 4 -hosts n1,n2", Where(8, 4, 2, ("n1", "n2"))),
        ("openmpi/mpirun -np 4 -H n1:2,n2:2", Where(4, 2, 2, ("n1", "n2"))),
        ("openmpi/mpirun -N 2 --host n1,n2", Where(4, 2, 2, ("n1", "n2"))),
        ("slurm/srun -n 8 -N 2", Where(8, 4, 2, ())),
        ("slurm/srun -n8 -N2 -w n[3-4]", Where(8, 4, 2, ("n3", "n4"))),
        ("slurm/srun --nodes=2 --ntasks-per-node=4", Where(8, 4, 2, ())),
        ("env A=1 mpich/mpirun -n 2 -hosts n9", Where(2, 2, 1, ("n9",))),
    ],
)
def test_words_of_launchers_say_where(launchers, line, where):
    assert launchers(line) == where


def test_a_program_without_a_known_launcher_runs_here_on_nobody_knows_how_many(
    launchers,
):
    assert where_of(parse_command(["./app"]), {}) == Where(hosts=HERE)


def test_a_batch_job_names_the_hosts_that_words_do_not(launchers, tmp_path):
    hosts = ("n1", "n2", "n3", "n4")
    assert launchers("mpich/mpirun -n 8", JOB) == Where(8, 2, 4, hosts)
    assert launchers("slurm/srun -n 8 -N 4", JOB) == Where(8, 2, 4, hosts)
    assert launchers("slurm/srun -n 4 -N 2", JOB) == Where(4, 2, 2, ())
    (tmp_path / "nodes").write_text("n1\nn1\nn2\nn2\n")
    pbs = {"PBS_NODEFILE": str(tmp_path / "nodes")}
    assert launchers("mpich/mpirun -n 4", pbs).hosts == ("n1", "n2")


def test_the_job_is_that_of_the_nearest_system():
    assert batch_job({}) == ""
    assert batch_job(JOB) == "42"
    assert batch_job({**JOB, "FLUX_JOB_ID": "f1"}) == "f1"


def test_a_list_of_hosts_that_cannot_be_read_names_none(tmp_path):
    assert allocated_hosts({"SLURM_JOB_NODELIST": "n[1-"}) == ()
    assert allocated_hosts({"PBS_NODEFILE": str(tmp_path / "none")}) == ()
