"""The MPIs that tests run programs with: those of the environment and of Debian."""

from __future__ import annotations

import subprocess
import sysconfig
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.c_warnings import compilers

#: What the preprocessor makes the version of the standard of.
_STANDARD = """#if OMPI_MAJOR_VERSION >= 5
4
#else
MPI_VERSION
#endif
"""


@dataclass(frozen=True)
class TestMpi:
    """A compiler and the launcher that belongs to it."""

    __test__ = False

    compiler: Path
    launcher: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.compiler).strip("/").replace("/", "-")

    @cached_property
    def standard(self) -> int:
        """The version of the MPI standard; Open MPI 5 states less than it has."""
        line = [str(self.compiler), "-E", "-x", "c", "-include", "mpi.h", "-"]
        done = subprocess.run(
            line, input=_STANDARD, capture_output=True, text=True, check=True
        )
        return int(done.stdout.split()[-1])

    @cached_property
    def version(self) -> str:
        """What its launcher says about itself."""
        line = [self.launcher[0], "--version"]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    def run(self, ranks: int, *program: str) -> subprocess.CompletedProcess[str]:
        command = [*self.launcher, "-n", str(ranks), *program]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=False
        )


def with_launcher(compiler: Path) -> TestMpi:
    """Return a compiler with the launcher beside it and the words that one needs."""
    launcher = compiler.with_name(compiler.name.replace("mpicc", "mpirun"))
    says = subprocess.run(
        [str(launcher), "--version"], capture_output=True, text=True, check=False
    ).stdout
    crowded = "Open MPI" in says or "OpenRTE" in says
    words = ["--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE"] if crowded else []
    return TestMpi(compiler, (str(launcher), *words))


def _has_launcher(compiler: Path) -> bool:
    return compiler.with_name(compiler.name.replace("mpicc", "mpirun")).exists()


MPIS = [with_launcher(compiler) for compiler in compilers() if _has_launcher(compiler)]

#: One MPICH and one Open MPI, for what does not depend on the version.
FAMILIES = list({len(mpi.launcher): mpi for mpi in reversed(MPIS)}.values())

#: The MPI of the running environment: the one a new user gets.
BIN = Path(sysconfig.get_path("scripts"))
OWN = [mpi for mpi in MPIS if mpi.compiler.parent == BIN]
