"""The shim runs programs clean when it is built with sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.mpis import FAMILIES, TestMpi
from tests.shim import sanitized
from tests.shim.conftest import FLAGS, HERE, SOURCES
from tests.shim.reader import Trace, read_run

pytestmark = pytest.mark.mpi

EXAMPLES = {
    "heat2d": ("64", "30"),
    "conjugate_gradient": ("500", "8", "5"),
    "bucket_sort": ("1000", "5"),
    "wavefront": ("16", "8", "4"),
    "master_worker": ("20", "300", "10"),
}
THREADS, ROUNDS, STEPS = 4, 3, 50


@pytest.fixture(params=FAMILIES, ids=lambda mpi: mpi.name)
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    found: TestMpi = request.param
    return found


def compiled(mpi: TestMpi, source: Path, target: Path, *flags: str) -> Path:
    command = [str(mpi.compiler), *FLAGS, "-O1", str(source), "-o", str(target), *flags]
    subprocess.run(command, check=True)
    return target


def run(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **variables, "SKELGEN_DIR": str(folder / "run")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert "Sanitizer" not in done.stderr
    assert "runtime error" not in done.stderr
    return done.stdout


def test_threads_do_not_race_in_the_shim(mpi: TestMpi, tmp_path: Path) -> None:
    if not sanitized.run_times(sanitized.THREADS) or not shutil.which("setarch"):
        pytest.skip("no libtsan beside cc, or no setarch")
    shim = sanitized.build(mpi.compiler, tmp_path, sanitized.THREADS)
    program = compiled(mpi, HERE / "races.c", tmp_path / "races", "-lpthread")
    # Randomly placed mappings can lie where the sanitizer keeps its own.
    command = ["setarch", "-R", str(program)]
    output = run(command, tmp_path, sanitized.variables(str(shim), sanitized.THREADS))
    if "no threads" in output:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    traces = [Trace(p) for p in sorted((tmp_path / "run").glob("*.t*.skt"))]
    assert [len(t.of("Comm_free")) for t in traces] == ROUNDS * THREADS * [STEPS]
    assert all(t.clean for t in traces)


def test_the_examples_run_clean(mpi: TestMpi, tmp_path: Path) -> None:
    if not sanitized.run_times(sanitized.MEMORY):
        pytest.skip("no libasan and libubsan beside cc")
    shim = sanitized.build(mpi.compiler, tmp_path)
    variables = sanitized.variables(str(shim))
    for name, arguments in EXAMPLES.items():
        folder = tmp_path / name
        folder.mkdir()
        source = SOURCES.parent / f"examples/{name}.c"
        program = compiled(mpi, source, folder / name, "-lm")
        run([*mpi.launcher, "-n", "3", str(program), *arguments], folder, variables)
        traces = read_run(folder / "run")
        assert len(traces) == 3
        assert all(t.clean and t.of("Finalize") for t in traces)
