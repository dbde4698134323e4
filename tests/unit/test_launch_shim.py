"""Which recorder a program needs, and when it is compiled again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch import shim as shim_module
from skelgen.launch.command import parse_command
from skelgen.launch.elf import MpiLibrary
from skelgen.launch.mpi import Mpi, MpiKind
from skelgen.launch.shim import mpi_of, shim_key
from tests import fake_mpi

ABI = MpiLibrary("libmpi_abi.so.1", None)


def abi_command(monkeypatch, tmp_path: Path):
    """Return a command whose program is linked to the library of the standard."""
    fake_mpi.hydra(tmp_path / "bin")
    fake_mpi.mpicc(tmp_path / "bin", "mpich")
    fake_mpi.script(tmp_path / "bin/app", "exit 0")
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    monkeypatch.setattr(shim_module, "linked_mpi", lambda name: ABI)
    return parse_command(["mpirun", "app"])


def test_the_standards_library_takes_the_standards_compiler(
    monkeypatch, tmp_path: Path
):
    command = abi_command(monkeypatch, tmp_path)
    compiler = fake_mpi.mpicc(tmp_path / "bin", "mpich", "mpicc_abi")
    assert mpi_of(command).compiler == compiler


def test_without_the_standards_compiler_it_is_named(monkeypatch, tmp_path: Path):
    command = abi_command(monkeypatch, tmp_path)
    said = r"libmpi_abi.so.1, but there is no mpicc_abi"
    with pytest.raises(MachineError, match=said):
        mpi_of(command)


def test_the_library_of_the_program_tells_the_recorder_and_not_the_launcher(
    monkeypatch, tmp_path: Path
):
    """A launcher is often a link in the folder of another MPI of the same family."""
    command = abi_command(monkeypatch, tmp_path)
    path = tmp_path / "opt/lib/x86_64/libmpi.so.12"
    linked = MpiLibrary("libmpi.so.12", path)
    monkeypatch.setattr(shim_module, "linked_mpi", lambda name: linked)
    assert mpi_of(command).compiler == tmp_path / "bin/mpicc"
    compiler = fake_mpi.mpicc(tmp_path / "opt/bin", "mpich", version="4.0.2")
    assert mpi_of(command).compiler == compiler
    assert mpi_of(command).title == "MPICH 4.0.2"


def test_a_recorder_is_kept_until_library_or_sources_change(tmp_path: Path):
    library = tmp_path / "lib/libmpi.so.12"
    library.parent.mkdir()
    library.write_text("one")
    shows = f'[ "$1" = -show ] && echo "cc -L{library.parent} -lmpi"'
    compiler = fake_mpi.script(tmp_path / "bin/mpicc", shows)
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "event.c").write_text("int a;")

    keys = [shim_key(compiler, sources), shim_key(compiler, sources)]
    (sources / "build").mkdir()
    (sources / "build/event.o").write_text("left over")
    keys.append(shim_key(compiler, sources))
    assert len(set(keys)) == 1

    os.utime(library, (1, 1))
    keys.append(shim_key(compiler, sources))
    library.write_text("longer")
    keys.append(shim_key(compiler, sources))
    (sources / "event.c").write_text("int b;")
    keys.append(shim_key(compiler, sources))
    other = fake_mpi.script(tmp_path / "other/mpicc", shows)
    keys.append(shim_key(other, sources))
    assert len(set(keys)) == 5


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path: Path):
    fake_mpi.hydra(tmp_path / "bin")
    compiler = fake_mpi.mpicc(tmp_path / "bin", "mpich")
    monkeypatch.setattr(shim_module, "program", lambda name: tmp_path / name)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SKELGEN_CACHE", str(tmp_path / "file/cache"))
    mpi = Mpi(MpiKind.MPICH, "5.0", tmp_path / "bin/mpirun", compiler)
    with pytest.raises(MachineError, match=r"file/cache/shim: Not a directory"):
        shim_module.shim(mpi)
