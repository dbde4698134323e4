"""Telling MPIs apart and finding what belongs together."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch import mpi
from skelgen.launch.mpi import MpiKind
from tests import fake_mpi


@pytest.mark.parametrize(
    ("text", "kind", "version"),
    [
        ("mpirun (Open MPI) 5.0.11\n\nReport bugs to", MpiKind.OPEN_MPI, "5.0.11"),
        ("mpicc: Open MPI 4.1.4 (Language: C)", MpiKind.OPEN_MPI, "4.1.4"),
        ("HYDRA build details:\n    Version:      5.0.2\n", MpiKind.MPICH, "5.0.2"),
        ("mpicc for MPICH version 4.0.2", MpiKind.MPICH, "4.0.2"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.5 Build",
            MpiKind.MPICH,
            "2021.5",
        ),
        ("mpirun: something else 1.0", MpiKind.UNKNOWN, ""),
        ("", MpiKind.UNKNOWN, ""),
    ],
)
def test_launchers_are_known_by_what_they_say(text, kind, version):
    assert mpi.parse_version(text) == (kind, version)


def test_the_folder_of_the_interpreter_comes_first(monkeypatch, tmp_path: Path):
    beside = fake_mpi.openmpi(tmp_path / "venv/bin")
    fake_mpi.hydra(tmp_path / "system")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "system")
    monkeypatch.setattr(mpi.sys, "prefix", str(tmp_path / "venv"))
    assert mpi.find_mpi().launcher == beside


def test_each_launcher_gets_the_compiler_of_its_own_mpi(monkeypatch, tmp_path: Path):
    """Debian keeps two MPIs in one folder and tells them apart by a suffix."""
    folder = tmp_path / "usr/bin"
    first = fake_mpi.hydra(folder, "mpirun.mpich")
    second = fake_mpi.openmpi(folder, "mpirun.openmpi")
    fake_mpi.mpicc(folder, "openmpi", "mpicc.openmpi")
    fake_mpi.mpicc(folder, "mpich", "mpicc.mpich")
    (folder / "mpicc").symlink_to("mpicc.openmpi")
    (folder / "mpirun").symlink_to("mpirun.openmpi")
    fake_mpi.only_path(monkeypatch, tmp_path, folder)
    assert mpi.identify_launcher(first).compiler == folder / "mpicc.mpich"
    assert mpi.identify_launcher(second).compiler == folder / "mpicc.openmpi"


def test_a_compiler_of_another_mpi_is_not_taken(monkeypatch, tmp_path: Path):
    launcher = fake_mpi.hydra(tmp_path / "a")
    fake_mpi.mpicc(tmp_path / "b", "openmpi")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "a", tmp_path / "b")
    assert mpi.identify_launcher(launcher).compiler is None


def test_a_launcher_that_is_a_link_gets_the_compiler_where_it_really_is(
    monkeypatch, tmp_path: Path
):
    real = fake_mpi.hydra(tmp_path / "real")
    own = fake_mpi.mpicc(tmp_path / "real", "mpich")
    fake_mpi.mpicc(tmp_path / "other", "mpich")
    link = tmp_path / "other/mpirun"
    link.symlink_to(real)
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "other")
    assert mpi.identify_launcher(link).compiler == own


def test_a_compiler_of_the_same_version_comes_first(monkeypatch, tmp_path: Path):
    """A launcher that is a script may stand beside another version's compiler."""
    launcher = fake_mpi.hydra(tmp_path / "a")
    first = fake_mpi.mpicc(tmp_path / "a", "mpich", version="4.0.2")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "a", tmp_path / "b")
    assert mpi.identify_launcher(launcher).compiler == first
    same = fake_mpi.mpicc(tmp_path / "b", "mpich", version="5.0.2")
    assert mpi.identify_launcher(launcher).compiler == same


def test_a_machine_without_mpi_is_told_what_to_install(monkeypatch, tmp_path: Path):
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path)
    with pytest.raises(MachineError, match="pip install mpich") as caught:
        mpi.find_mpi()
    assert caught.value.exit_code == 4


def test_the_wanted_mpi_is_chosen_among_several(monkeypatch, tmp_path: Path):
    fake_mpi.hydra(tmp_path / "a")
    wanted = fake_mpi.openmpi(tmp_path / "b")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "a", tmp_path / "b")
    assert mpi.find_mpi(MpiKind.OPEN_MPI).launcher == wanted
