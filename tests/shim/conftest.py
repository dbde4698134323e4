"""Compile the shim and tiny programs with every MPI found, run them, read the traces."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.mpis import MPIS, TestMpi
from tests.shim.reader import Trace, read_run

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "pmpi_shim"
FLAGS = ["-std=c11", "-D_GNU_SOURCE"]


@dataclass(frozen=True)
class Run:
    """What a program left behind."""

    exit_code: int
    output: str
    errors: str
    folder: Path

    @property
    def traces(self) -> list[Trace]:
        return read_run(self.folder)


@dataclass(frozen=True)
class Lab:
    """One MPI with its shim and compiled programs."""

    mpi: TestMpi
    shim: Path
    folder: Path
    programs: dict[str, Path] = field(default_factory=dict)

    def compile(self, name: str, *flags: str) -> Path:
        """Compile ``name.c`` once."""
        if name not in self.programs:
            target = self.folder / name
            command = [str(self.mpi.compiler), *FLAGS, str(HERE / f"{name}.c")]
            subprocess.run([*command, "-o", str(target), *flags], check=True)
            self.programs[name] = target
        return self.programs[name]

    def launch(
        self,
        ranks: int,
        command: list[str],
        folder: Path,
        *,
        preload: str | None = None,
        **settings: str,
    ) -> Run:
        """Run a command under the launcher; without `preload` nothing is recorded."""
        folder.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if "SKELGEN" not in k}
        if preload is not None:
            environment |= {"LD_PRELOAD": preload, "SKELGEN_DIR": str(folder / "run")}
        environment |= settings
        done = subprocess.run(
            [*self.mpi.launcher, "-n", str(ranks), *command],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=environment,
            cwd=folder,
        )
        return Run(done.returncode, done.stdout, done.stderr, folder / "run")

    @property
    def open_mpi(self) -> bool:
        return len(self.mpi.launcher) > 1


def _name(mpi: TestMpi) -> str:
    return mpi.name


@pytest.fixture(
    scope="session",
    params=MPIS or [pytest.param(None, marks=pytest.mark.skip("no mpicc was found"))],
    ids=_name if MPIS else None,
)
def lab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Lab:
    """Build the shim for an MPI, in a folder of its own."""
    mpi: TestMpi = request.param
    folder = tmp_path_factory.mktemp(mpi.name)
    command = ["make", "-s", "-j2", "-C", str(SOURCES), "WERROR=1"]
    command += [f"MPICC={mpi.compiler}", f"BUILD={folder / 'shim'}"]
    subprocess.run([*command, f"PYTHON={sys.executable}"], check=True)
    return Lab(mpi, folder / "shim/libskelgen_pmpi.so", folder)


Record = Callable[..., Run]


@pytest.fixture
def record(lab: Lab, tmp_path: Path) -> Record:
    """Return a function that runs a test program and records it."""

    def run(name: str, ranks: int, *arguments: str, **settings: str) -> Run:
        program = lab.compile(name)
        return lab.launch(
            ranks,
            [str(program), *arguments],
            tmp_path,
            preload=str(lab.shim),
            **settings,
        )

    return run
