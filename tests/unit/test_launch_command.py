"""Taking launch commands of users apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import MachineError, UsageError
from skelgen.launch import command as command_module
from skelgen.launch.command import check_library, parse_command
from skelgen.launch.elf import MpiLibrary
from tests import fake_mpi


@pytest.fixture
def machine(monkeypatch, tmp_path: Path) -> Path:
    """Give a machine with both MPIs, Slurm and a program."""
    fake_mpi.hydra(tmp_path / "mpich")
    fake_mpi.openmpi(tmp_path / "openmpi")
    tools = tmp_path / "tools"
    for name in ("srun", "app", "env", "sh", "ssh"):
        fake_mpi.script(tools / name, "exit 0")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "mpich", tools)
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    return tmp_path


def test_a_launch_of_mpich_is_taken_apart(machine: Path):
    words = "mpirun -bind-to core -hosts n1,n2 -n 2 app -in in.lj -n 7".split()
    launch = parse_command(words)
    mpirun = str(machine / "mpich/mpirun")
    assert launch.program == ("app", "-in", "in.lj", "-n", "7")
    assert launch.ranks == 2
    assert launch.launcher.words == (mpirun, "-bind-to", "core")
    assert launch.running(variables={"A": "b"}) == [
        *[mpirun, "-genv", "A", "b"],
        *words[1:],
    ]


def test_the_program_can_be_another_one(machine: Path):
    launch = parse_command("env X=1 mpirun -genv Y 2 -n 2 app arg".split())
    assert launch.before == ("env", "X=1")
    assert launch.running(["skeleton"]) == [
        *["env", "X=1", str(machine / "mpich/mpirun"), "-genv", "Y", "2", "-n", "2"],
        "skeleton",
    ]


def test_a_value_that_names_a_program_is_not_the_program(machine: Path):
    launch = parse_command("mpirun -launcher ssh -n 2 app".split())
    assert launch.program == ("app",)


def test_unknown_options_do_not_hide_the_program(machine: Path):
    assert parse_command("mpirun -odd 3 -n 2 app x".split()).program == ("app", "x")
    assert parse_command("mpirun -flag app x".split()).program == ("app", "x")


def test_a_launch_of_openmpi_is_taken_apart(machine: Path):
    mpirun = str(machine / "openmpi/mpirun")
    words = [mpirun, *"--host n1:2 --mca btl tcp,self -x A=b --np 2 app".split()]
    launch = parse_command(words)
    assert launch.ranks == 2
    assert launch.program == ("app",)
    kept = [word for word in launch.launcher.words if word != "--allow-run-as-root"]
    assert kept == [mpirun, "--mca", "btl", "tcp,self", "-x", "A=b"]


def test_srun_keeps_its_way_to_start_mpi(machine: Path):
    launch = parse_command("srun --mpi=pmi2 -N 2 --ntasks=4 -w n1,n2 app".split())
    assert launch.ranks == 4
    assert launch.launcher.words == (str(machine / "tools/srun"), "--mpi=pmi2")
    assert launch.mpi is None


def test_srun_takes_values_without_a_space(machine: Path):
    launch = parse_command("srun -N2 -n4 -c2 --mpi=pmix app -n7".split())
    assert launch.ranks == 4
    assert launch.program == ("app", "-n7")
    assert launch.launcher.words[1:] == ("-c2", "--mpi=pmix")


def test_srun_without_a_number_takes_that_of_its_job(machine: Path, monkeypatch):
    monkeypatch.setenv("SLURM_NTASKS", "8")
    assert parse_command(["srun", "app"]).ranks == 8


def test_a_program_without_launcher_runs_as_it_is(machine: Path):
    launch = parse_command(["sh", "-c", "mpirun -n 2 app"])
    assert launch.launcher is None
    assert launch.running(variables={"A": "b"}) == ["sh", "-c", "mpirun -n 2 app"]


@pytest.mark.parametrize("words", [[], ["mpirun"], ["mpirun", "-n", "2"]])
def test_a_command_without_program_is_refused(machine: Path, words):
    with pytest.raises(UsageError):
        parse_command(words)


@pytest.mark.parametrize("count", ["0", "-1", "two"])
def test_a_wrong_number_of_ranks_is_refused(machine: Path, count):
    with pytest.raises(UsageError, match="number of ranks"):
        parse_command(["mpirun", "-n", count, "app"])


@pytest.mark.parametrize("words", [["mpirun", "-n", "2", "none"], ["./none"]])
def test_a_missing_program_is_named(machine: Path, words):
    with pytest.raises(MachineError, match="none"):
        parse_command(words)


def test_a_missing_launcher_is_named(machine: Path):
    with pytest.raises(MachineError, match=r"mpiexec\.hydra"):
        parse_command(["mpiexec.hydra", "-n", "2", "app"])


def test_a_program_of_another_mpi_is_refused(machine: Path, monkeypatch):
    library = MpiLibrary("libmpi.so.40", Path("/lib/libmpi.so.40"))
    monkeypatch.setattr(command_module, "mpi_library", lambda path: library)
    with pytest.raises(MachineError, match=r"app is linked to Open MPI.*MPICH 5\.0\.2"):
        check_library(parse_command(["mpirun", "-n", "2", "app"]))


def test_the_launcher_of_the_programs_mpi_is_chosen(machine: Path, monkeypatch):
    monkeypatch.setenv("PATH", f"{machine}/mpich:{machine}/openmpi:{machine}/tools")
    library = MpiLibrary("libmpi.so.40", Path("/lib/libmpi.so.40"))
    monkeypatch.setattr(command_module, "mpi_library", lambda path: library)
    launch = parse_command(["mpirun", "-n", "2", "app"])
    assert launch.launcher.words[0] == str(machine / "openmpi/mpirun")
    check_library(launch)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("mpirun -n 2 app", True),
        ("mpirun app", False),
        ("srun app", False),
        ("srun -N 2 app", True),
        ("mpirun -f hosts app", True),
        ("app", True),
        ("mpirun -n 3 app", False),
        ("mpirun -n 2 app : -n 2 app", False),
    ],
)
def test_a_launch_that_leaves_its_ranks_to_a_job_says_no_number(
    machine: Path, words: str, says: bool
):
    assert parse_command(words.split()).says(2) is says
