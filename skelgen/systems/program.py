"""The program that measures: compiled once for each MPI, kept in the cache."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path

from skelgen import _paths
from skelgen.errors import ApplicationError, MachineError
from skelgen.launch.folders import alone, private_folder
from skelgen.launch.mpi import Mpi
from skelgen.launch.process import run
from skelgen.launch.shim import shim_key
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

_NAME = "measure"
#: As skeletons are compiled: loops stay what they say, so that machines can be
#: compared. Products and sums may be fused, as in any program.
MEASURING_FLAGS = ("-std=gnu11", "-O2", "-fno-tree-vectorize")
_COMPILE_LIMIT_S = 600.0


def measuring_program(mpi: Mpi) -> Path:
    """Return the program for an MPI, compiled now unless the cache has it.

    Raises
    ------
    MachineError
        Without mpicc or a cache that can be written.
    ApplicationError
        When the compiler fails.
    """
    if mpi.compiler is None:
        raise MachineError(
            f"no mpicc of {mpi.title} next to {mpi.launcher}, which compiles the "
            "measuring program; install the MPI's development package or: pip "
            "install mpich"
        )
    sources = _paths.system_sources()
    key = shim_key(mpi.compiler, sources)
    target = _paths.cache() / "systems" / key / _NAME
    try:
        private_folder(target.parent)
        with alone(target.parent):
            if not target.exists():
                _build(mpi.compiler, sources, target)
    except OSError as error:
        raise MachineError(
            f"the measuring program cannot be kept in {target.parent}: "
            f"{error.strerror}; set SKELGEN_CACHE to a folder that can be written"
        ) from error
    return target


def _build(compiler: Path, sources: Path, target: Path) -> None:
    """Compile beside the place and rename; nobody sees half a program there."""
    logger.log(NOTE, "compiling what measures with %s, once for this MPI", compiler)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as name:
        made = Path(name) / _NAME
        files = [str(path) for path in sorted(sources.glob("*.c"))]
        words = [str(compiler), *MEASURING_FLAGS, "-o", str(made), *files, "-lm"]
        done = run(words, timeout_s=_COMPILE_LIMIT_S, private=True)
        if done.exit_code or not made.exists():
            raise ApplicationError(
                f"{sources} cannot be compiled with {compiler}: {done.complaint}"
            )
        made.chmod(0o700)
        os.replace(made, target)  # noqa: PTH105
