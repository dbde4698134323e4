"""Compile the shim and tiny programs with every MPI found; run them, read traces.

With ``SKELGEN_TEST_SANITIZE=address,undefined`` or ``thread`` the shim is one with
these sanitizers.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from skelgen.launch.mpi import Mpi, identify_compiler
from skelgen.launch.shim import shim
from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.shim import sanitized
from tests.shim.reader import Trace, read_run

HERE = Path(__file__).parent
SOURCES = sanitized.SOURCES
#: The sanitizers that the shim is built with, and whether there are any.
SANITIZERS = os.environ.get("SKELGEN_TEST_SANITIZE", "")
SANITIZE = bool(SANITIZERS)
#: Programs for the binary interface of MPI 5, which an MPI may offer beside its own.
ABIS = [
    TestMpi(mpi.compiler.with_name("mpicc_abi"), mpi.launcher)
    for mpi in MPIS
    if mpi.compiler.with_name("mpicc_abi").exists()
]
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
    runs: dict[tuple[object, ...], Run] = field(default_factory=dict)

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
        limit_s: float = 300.0,
        **settings: str,
    ) -> Run:
        """Run a command under the launcher; without `preload` nothing is recorded."""
        folder.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if "SKELGEN" not in k}
        if preload is not None:
            preloaded(environment, preload, folder / "run")
        if preload is not None and SANITIZE:  # launchers have faults of their own
            command = ["env", f"LD_PRELOAD={environment.pop('LD_PRELOAD')}", *command]
        environment |= settings
        done = subprocess.run(
            [*self.mpi.launcher, "-n", str(ranks), *command],
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
            env=environment,
            cwd=folder,
        )
        return Run(done.returncode, done.stdout, done.stderr, folder / "run")

    def record(self, name: str, ranks: int, *arguments: str, **settings: str) -> Run:
        """Record a test program; the same run serves all tests that ask for it."""
        key = (name, ranks, arguments, *settings.items())
        if key not in self.runs:
            program = str(self.compile(name))
            self.runs[key] = self.launch(
                ranks,
                [program, *arguments],
                self.folder / f"run{len(self.runs)}",
                preload=str(self.shim),
                **settings,
            )
        return self.runs[key]


@cache
def shim_of(mpi: TestMpi) -> Path:
    """Build the shim for an MPI, unless the cache has it."""
    if SANITIZE:
        folder = Path(tempfile.mkdtemp(prefix="skelgen-sanitize-"))
        return sanitized.build(mpi.compiler, folder, SANITIZERS)
    kind = identify_compiler(mpi.compiler)
    return shim(Mpi(kind, "", Path(mpi.launcher[0]), mpi.compiler))


def preloaded(environment: dict[str, str], preload: str, folder: Path) -> None:
    """Set the variables that load the shim and say where it records."""
    environment |= {"LD_PRELOAD": preload, "SKELGEN_DIR": str(folder)}
    if SANITIZE:
        environment |= sanitized.variables(preload, SANITIZERS)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Let modules that are marked so have one MPI of each family."""
    others = {
        item
        for item in items
        if item.get_closest_marker("families")
        and isinstance(item, pytest.Function)
        and item.callspec.params["lab"] not in FAMILIES
    }
    if others:
        config.hook.pytest_deselected(items=[*others])
        items[:] = [item for item in items if item not in others]


def _name(mpi: TestMpi) -> str:
    return mpi.name


@pytest.fixture(
    scope="session",
    params=[*MPIS, *ABIS]
    or [pytest.param(None, marks=pytest.mark.skip("no mpicc was found"))],
    ids=_name if MPIS else None,
)
def lab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Lab:
    """Return an MPI, its shim from the cache, and a folder for programs."""
    mpi: TestMpi = request.param
    return Lab(mpi, shim_of(mpi), tmp_path_factory.mktemp(mpi.name))


Record = Callable[..., Run]


@pytest.fixture
def record(lab: Lab) -> Record:
    """Return a function that runs a test program and records it."""
    return lab.record
