"""Which MPI a program is linked to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skelgen.launch.elf import is_elf, mpi_library, parse_ldd
from skelgen.launch.mpi import MpiKind

LDD = """\tlinux-vdso.so.1 (0x00007ffd2d5f2000)
\t{library}
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0)
"""


@pytest.mark.parametrize(
    ("library", "kind", "path"),
    [
        ("libmpi.so.12 => /v/lib/libmpi.so.12 (0x7f)", MpiKind.MPICH, "/v/lib"),
        ("libmpich.so.12 => /lib/x/libmpich.so.12 (0x7f)", MpiKind.MPICH, "/lib/x"),
        ("libmpi.so.40 => /lib/x/libmpi.so.40 (0x7f)", MpiKind.OPEN_MPI, "/lib/x"),
        ("libmpi.so.40 => not found", MpiKind.OPEN_MPI, None),
        ("libmpi_abi.so.1 => /v/lib/libmpi_abi.so.1 (0x7)", MpiKind.UNKNOWN, "/v/lib"),
    ],
)
def test_the_library_tells_the_mpi(library, kind, path):
    found = parse_ldd(LDD.format(library=library))
    assert found is not None
    assert found.kind is kind
    assert (str(found.path.parent) if found.path else None) == path


def test_a_program_without_mpi_has_no_library():
    other = "libmpicxx_like.so.1 => /lib/libmpicxx_like.so.1 (0x7f)"
    assert parse_ldd(LDD.format(library=other)) is None


def test_scripts_are_not_looked_into(tmp_path: Path):
    path = tmp_path / "app"
    path.write_text("#!/bin/sh\n")
    assert not is_elf(path)
    assert mpi_library(path) is None


def test_the_interpreter_is_a_compiled_program_without_mpi():
    assert is_elf(Path(sys.executable).resolve())
    assert mpi_library(Path(sys.executable).resolve()) is None
