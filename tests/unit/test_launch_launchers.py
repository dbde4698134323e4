"""The words on the command lines of the launchers."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import FluxRun, Hydra, OpenMpi, Srun, launcher_of
from skelgen.launch.mpi import Mpi, MpiKind

TWO = (Host("n1", 1), Host("n2", 1))
UNEVEN = (Host("n1", 2), Host("n2", 1))


def test_hydra_names_hosts_with_their_ranks():
    words = Hydra(("mpirun", "-iface", "eth0")).arguments(["./a"], ranks=2, hosts=TWO)
    assert words == [
        *["mpirun", "-iface", "eth0", "-hosts", "n1:1,n2:1", "-n", "2", "./a"]
    ]


def test_hydra_sets_variables_for_the_ranks_only():
    words = Hydra(("mpirun",)).typed(["-n", "2"], {"LD_PRELOAD": "/x.so"})
    assert words == ["mpirun", "-genv", "LD_PRELOAD", "/x.so", "-n", "2"]


def test_openmpi_names_hosts_with_their_ranks():
    words = OpenMpi(("mpirun",), cores=2).arguments(["./a"], ranks=3, hosts=UNEVEN)
    assert words == ["mpirun", "--host", "n1:2,n2:1", "-n", "3", "./a"]


def test_openmpi_is_told_when_ranks_exceed_cores():
    words = OpenMpi(("mpirun",), cores=2).arguments(["./a"], ranks=4)
    assert words == ["mpirun", "--map-by", ":OVERSUBSCRIBE", "-n", "4", "./a"]
    assert "--map-by" not in OpenMpi(("mpirun",), cores=4).arguments(["./a"], ranks=4)


def test_a_mapping_of_the_user_stays_alone():
    launcher = OpenMpi(("mpirun", "--map-by", "core:OVERSUBSCRIBE"), cores=2)
    assert launcher.arguments(["./a"], ranks=4).count("--map-by") == 1


def test_openmpi_is_allowed_to_run_as_root_only_for_root():
    mpi = Mpi(MpiKind.OPEN_MPI, "5", Path("/o/mpirun"), None)
    as_root = launcher_of(mpi, root=True).typed(["-n", "1"], {"A": "b"})
    assert as_root == ["/o/mpirun", "--allow-run-as-root", "-x", "A=b", "-n", "1"]
    assert launcher_of(mpi, root=False).words == ("/o/mpirun",)


def test_the_root_flag_of_the_user_is_not_repeated():
    mpi = Mpi(MpiKind.OPEN_MPI, "5", Path("mpirun"), None)
    words = launcher_of(mpi, root=True).typed(["--allow-run-as-root"], {})
    assert words == ["mpirun", "--allow-run-as-root"]


def test_srun_spreads_equal_ranks_by_node():
    words = Srun(("srun", "--mpi=pmi2")).arguments(["./a"], ranks=2, hosts=TWO)
    assert words == [
        *["srun", "--mpi=pmi2", "-N", "2", "-w", "n1,n2", "--ntasks-per-node", "1"],
        *["-n", "2", "./a"],
    ]


def test_srun_lists_unequal_ranks_one_by_one():
    words = Srun(("srun",)).arguments(["./a"], ranks=3, hosts=UNEVEN)
    assert words[1:7] == ["-N", "2", "-w", "n1,n1,n2", "-m", "arbitrary"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-n", "2"], ["srun", "--export=ALL,A=b", "-n", "2"]),
        (["--export=PATH", "-n", "2"], ["srun", "--export=PATH,A=b", "-n", "2"]),
        (["--export", "NONE"], ["srun", "--export=NONE,A=b"]),
    ],
)
def test_srun_joins_variables_with_what_the_user_exports(options, expected):
    assert Srun(("srun",)).typed(options, {"A": "b"}) == expected


def test_flux_requires_hosts_and_spreads_ranks_evenly():
    launcher = FluxRun(("flux", "run"))
    words = launcher.typed(["run", "-q", "debug"], {"A": "b"})
    assert words == ["flux", "run", "--env=A=b", "-q", "debug"]
    even = (Host("n1", 2), Host("n2", 2))
    assert launcher.with_words(words).arguments(["./a"], ranks=4, hosts=even) == [
        *words,
        *["-N", "2", "--tasks-per-node=2", "--requires=host:n1,n2", "./a"],
    ]
    assert launcher.arguments(["./a"], ranks=3) == ["flux", "run", "-n", "3", "./a"]
    with pytest.raises(UsageError, match="3 ranks on 2 hosts: flux run puts the same"):
        launcher.arguments(["./a"], ranks=3, hosts=UNEVEN)
