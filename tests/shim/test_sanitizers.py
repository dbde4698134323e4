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
    "bucket_sort": ("1000", "5"),
    "master_worker": ("20", "300", "10"),
}
#: Ranks that wait spin: more than cores take many times as long.
RANKS = 2
THREADS, ROUNDS, STEPS = 4, 3, 50


def compiled(mpi: TestMpi, source: Path, target: Path, *flags: str) -> Path:
    command = [str(mpi.compiler), *FLAGS, "-O1", str(source), "-o", str(target), *flags]
    subprocess.run(command, check=True)
    return target


def loading(mpi: TestMpi, folder: Path, sanitizers: str) -> list[str]:
    """Return the words before a program that load a shim with sanitizers into it."""
    # Randomly placed mappings can lie where the thread sanitizer keeps its own.
    fixed = ["setarch", "-R"] if sanitizers == sanitized.THREADS else []
    if not sanitized.run_times(sanitizers) or (fixed and not shutil.which(fixed[0])):
        pytest.skip(f"no libraries for {sanitizers} beside cc, or no setarch")
    shim = sanitized.build(mpi.compiler, folder, sanitizers)
    variables = sanitized.variables(str(shim), sanitizers)
    return [*fixed, "env", *(f"{name}={value}" for name, value in variables.items())]


def run(command: list[str], folder: Path, stopped: bool = False) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, "SKELGEN_DIR": str(folder / "run")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
    )
    # MPICH 5 leaves its launcher at exit(), which a rank that stops never calls: the
    # launcher may end those that are slower in MPI_Finalize. Their results tell.
    assert stopped or done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr
    assert "runtime error" not in done.stderr
    return done.stdout


def start(
    mpi: TestMpi, name: str, folder: Path, loaded: list[str], stopped: bool = False
) -> None:
    folder.mkdir()
    source = SOURCES.parent / f"examples/{name}.c"
    program = str(compiled(mpi, source, folder / name, "-lm"))
    line = [*mpi.launcher, "-n", str(RANKS), *loaded, program, *EXAMPLES[name]]
    run(line, folder, stopped)


def run_example(mpi: TestMpi, name: str, parent: Path, loaded: list[str]) -> None:
    start(mpi, name, parent / name, loaded)
    traces = read_run(parent / name / "run")
    assert len(traces) == RANKS
    assert all(t.clean and t.of("Finalize") for t in traces)


def run_measured(
    mpi: TestMpi, name: str, folder: Path, loaded: list[str], last: str, end: str
) -> None:
    folder.mkdir()
    for rank in range(RANKS):
        marks = folder / f"rank-{rank:06}.marks"
        marks.write_text(f"3 time\n6 time\n9 {last}\n")
    loaded = [*loaded, f"SKELGEN_PHASES={folder}"]
    start(mpi, name, folder / name, loaded, end == "stopped")
    for rank in range(RANKS):
        told = (folder / f"rank-{rank:06}.times").read_text().splitlines()
        assert [line.split()[0] for line in told[:2]] == ["3", "6"]
        assert told[-1].split()[0] == end


# What threads share is the shim's own: it does not depend on the MPI.
@pytest.mark.parametrize("mpi", FAMILIES[:1], ids=lambda mpi: mpi.name)
def test_threads_do_not_race_in_the_shim(mpi: TestMpi, tmp_path: Path) -> None:
    loaded = loading(mpi, tmp_path, sanitized.THREADS)
    run_example(mpi, "heat2d", tmp_path, loaded)
    program = compiled(mpi, HERE / "races.c", tmp_path / "races", "-lpthread")
    output = run([*loaded, str(program)], tmp_path)
    if "no threads" in output:
        pytest.skip("this MPI does not grant MPI_THREAD_MULTIPLE")
    traces = [Trace(p) for p in sorted((tmp_path / "run").glob("*.t*.skt"))]
    assert [len(t.of("Comm_free")) for t in traces] == ROUNDS * THREADS * [STEPS]
    assert all(t.clean for t in traces)


# As is what is done with memory; the other MPI, so that both are met.
@pytest.mark.parametrize("mpi", FAMILIES[-1:], ids=lambda mpi: mpi.name)
def test_examples_run_clean_recorded_and_measured(mpi: TestMpi, tmp_path: Path) -> None:
    loaded = loading(mpi, tmp_path, sanitized.MEMORY)
    for name in EXAMPLES:
        run_example(mpi, name, tmp_path, loaded)
    for name, last, end in (
        ("bucket_sort", "stop", "stopped"),
        ("heat2d", "time", "finalized"),
    ):
        run_measured(mpi, name, tmp_path / f"{name}-marks", loaded, last, end)
