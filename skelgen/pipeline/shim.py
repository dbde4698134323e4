"""Find the recorder for an MPI, compiling it first where needed."""

from __future__ import annotations

from pathlib import Path

from skelgen.errors import MachineError
from skelgen.launch.command import check_library, parse_command
from skelgen.launch.mpi import find_mpi, identify_launcher, program
from skelgen.launch.shim import mpi_of, shim


def shim_path(mpirun: str, linked: str = "") -> Path:
    """Return the recorder for a launcher's MPI, a program's, or the first one."""
    if linked:
        command = parse_command([mpirun, linked] if mpirun else [linked])
        check_library(command)
        return shim(mpi_of(command))
    if not mpirun:
        return shim(find_mpi())
    path = program(mpirun)
    if path is None:
        raise MachineError(f"--mpirun {mpirun}: no such program")
    return shim(identify_launcher(path))
