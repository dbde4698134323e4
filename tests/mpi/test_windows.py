"""One-sided communication is recorded, scaled down and run, epochs and all."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from skelgen.events import Events, collect
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan, Program
from skelgen.trace import open_trace
from tests.c_warnings import WARNINGS
from tests.mpis import MPIS, TestMpi
from tests.plans import CALIBRATION
from tests.shim.conftest import preloaded, shim_of
from tests.summaries import build

RANKS, ROUNDS, SCALE = 2, 40, 5
SOURCE = Path(__file__).with_name("epochs.c")

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]


@pytest.fixture(scope="module", params=MPIS, ids=[mpi.name for mpi in MPIS])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


def compiled(mpi: TestMpi, source: Path, *flags: str) -> Path:
    program = source.with_suffix("")
    line = [str(mpi.compiler), *WARNINGS, *flags, "-o", str(program), str(source)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def events(mpi: TestMpi, tmp_path_factory: pytest.TempPathFactory) -> Events:
    folder = tmp_path_factory.mktemp(mpi.name)
    source = folder / "epochs.c"
    source.write_text(SOURCE.read_text())
    program = compiled(mpi, source, "-std=c11")
    environment = {k: v for k, v in os.environ.items() if "SKELGEN" not in k}
    preloaded(environment, str(shim_of(mpi)), folder / "run")
    line = [*mpi.launcher, "-n", str(RANKS), str(program)]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=300, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return collect(open_trace(folder / "run"))


@pytest.fixture(scope="module")
def made(events: Events) -> Plan:
    found = build(events)
    assert not found.matching.problems
    assert not found.signature.dropped
    return plan(found.signature, SCALE)


def counts(made: Plan, program: Program) -> Counter[str]:
    """Return how often a rank of a program calls each function on windows."""
    found: Counter[str] = Counter()
    for operation in program.operations:
        name = made.functions[made.symbols[operation.symbol]["function"]]
        found[name.removeprefix("MPI_")] += operation.occurrences
    return found


def test_every_rank_keeps_the_same_share_of_whole_epochs(made: Plan) -> None:
    kept = ROUNDS // SCALE
    assert sorted(rank for one in made.programs for rank in one.ranks) == [0, 1]
    for program in made.programs:
        found = counts(made, program)
        fences = found["Win_fence"]
        assert found["Put"] == 2 * kept
        assert fences - kept in (0, 1)  # the first fence ends no epoch
        for name in ("post", "start", "complete", "wait"):
            assert found[f"Win_{name}"] == kept
        assert found["Get"] == 2 * kept
        for name in ("Win_lock", "Fetch_and_op", "Win_flush", "Win_unlock"):
            assert found[name] == kept
        for name in ("Rput", "Accumulate", "Win_flush_all"):
            assert abs(found[name] - kept) <= 1
        assert found["Win_lock_all"] == 0  # always held in a skeleton


def test_its_skeleton_runs_to_its_end(mpi: TestMpi, made: Plan, tmp_path: Path) -> None:
    source = tmp_path / "skeleton.c"
    source.write_text(render(made, calibration=CALIBRATION)["skeleton.c"])
    program = compiled(mpi, source, *COMPILER_FLAGS)
    done = mpi.run(RANKS, str(program), "--check")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert json.loads(lines[-1])["ranks"] == RANKS
