"""Launchers that only look like an MPI's: shell scripts in a folder of a test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skelgen.launch import mpi
from skelgen.launch.record import mpi_environment

#: Run the program after the launcher's words once, as if it were rank 0.
RUN_PROGRAM = """
while [ $# -gt 0 ]; do
    case $1 in
    -genv) export "$2=$3"; shift 3;;
    -x) export "$2"; shift 2;;
    -n|-np|-hosts|--host|-bind-to|--map-by) shift 2;;
    -*) shift;;
    *) break;;
    esac
done
exec "$@"
"""


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def hydra(folder: Path, name: str = "mpirun", body: str = RUN_PROGRAM) -> Path:
    """Write a launcher that says it is MPICH's."""
    says = 'echo "HYDRA build details:"; echo "    Version:    5.0.2"'
    return script(
        folder / name, f'if [ "$1" = --version ]; then {says}; exit; fi\n{body}'
    )


def openmpi(folder: Path, name: str = "mpirun", body: str = RUN_PROGRAM) -> Path:
    """Write a launcher that says it is Open MPI's."""
    says = 'echo "mpirun (Open MPI) 4.1.4"'
    return script(
        folder / name, f'if [ "$1" = --version ]; then {says}; exit; fi\n{body}'
    )


def mpicc(
    folder: Path,
    kind: str,
    name: str = "mpicc",
    body: str = "exit 1",
    version: str = "5.0.2",
) -> Path:
    """Write a compiler wrapper that says which MPI it is of."""
    option, title = {
        "openmpi": ("--showme:version", "mpicc: Open MPI 4.1.4"),
        "mpich": ("-v", f"mpicc for MPICH version {version}"),
    }[kind]
    says = f'if [ "$1" = {option} ]; then echo "{title}"; exit; fi'
    return script(folder / name, f"{says}\n{body}")


def only_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *folders: Path) -> None:
    """Look for programs in these folders and among a few common tools only."""
    for name, _ in mpi_environment():  # of the MPI that tests run with
        monkeypatch.delenv(name)
    tools = tmp_path / "tools-only"
    (tools / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("sh", "wc", "sleep", "chmod", "make", "ldd", "touch", "cat"):
        if not (link := tools / "bin" / name).is_symlink():
            link.symlink_to(shutil.which(name) or f"/bin/{name}")
    monkeypatch.setattr(mpi.sys, "prefix", str(tools))
    monkeypatch.setenv("PATH", ":".join(map(str, [*folders, tools / "bin"])))
    mpi.find_mpi.cache_clear()
    plain = getattr(mpi._says, "__wrapped__", mpi._says)  # without its cache
    monkeypatch.setattr(mpi, "_says", plain)
