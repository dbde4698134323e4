"""Ranks that call collectives in different orders: a skeleton must not rely on it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from skelgen.launch.record import record
from skelgen.pipeline.build import BuildOptions, build
from skelgen.pipeline.phases import clocked
from skelgen.progress import NO_PROGRESS
from skelgen.ticks.early_returns import stuck_in_collectives
from skelgen.trace import open_trace
from tests.mpi.test_parallel_build import same_files, together
from tests.mpis import MPIS, TestMpi
from tests.needs import needs_own

pytestmark = pytest.mark.mpi

PROGRAM = Path(__file__).with_name("crossed.c")
ROUNDS = 60


@dataclass(frozen=True)
class Crossed:
    """The program as one MPI compiled it, and its recording."""

    mpi: TestMpi
    run: Path


@pytest.fixture(params=MPIS, ids=[mpi.name for mpi in MPIS], scope="module")
def crossed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Crossed:
    mpi, folder = request.param, tmp_path_factory.mktemp("crossed")
    program, run = folder / "crossed", folder / "run"
    compile_line = [str(mpi.compiler), "-O1", str(PROGRAM), "-o", str(program)]
    subprocess.run(compile_line, check=True)
    command = [*mpi.launcher, "-n", "2", str(program)]
    if subprocess.run(["timeout", "8", *command], check=False).returncode:
        pytest.skip("the root of a short broadcast waits for all others in this MPI")
    record(command, run, quiet_output=True)
    return Crossed(mpi, run)


def test_collectives_of_a_skeleton_have_one_order(crossed: Crossed, tmp_path: Path):
    mpi, made, own = crossed.mpi, tmp_path / "skel", tmp_path / "own"
    events, _, ticks, _ = clocked(open_trace(crossed.run), NO_PROGRESS)
    assert not len(stuck_in_collectives(events.calls))
    assert ticks.max() >= 3 * ROUNDS
    options = BuildOptions(4.0, None, None, None, strict=False)
    build(crossed.run, made, options=options)
    subprocess.run(["make", "-s", "-C", made, f"MPICC={mpi.compiler}"], check=True)
    record([*mpi.launcher, "-n", "2", str(made / "skeleton")], own, quiet_output=True)
    again = clocked(open_trace(own), NO_PROGRESS)[0].calls
    assert not len(stuck_in_collectives(again))


@needs_own
def test_two_processes_find_the_order_that_one_does(crossed: Crossed, tmp_path: Path):
    pytest.importorskip("mpi4py")
    words = ["build", str(crossed.run), "--scale", "4", "-o"]
    for processes, output in ((1, "alone"), (2, "several")):
        done = together(processes, *words, output, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert same_files(tmp_path / "alone", tmp_path / "several")
