"""A skeleton asks for its CPU time as often as the application, in proportion."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skelgen.pipeline.build import BuildOptions, build
from skelgen.pipeline.info import info
from skelgen.pipeline.record import record
from tests.mpis import FAMILIES, MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

PROGRAM = Path(__file__).with_name("asks.c")
QUERIES = 2 * 400 * 4 * 2


def queries(command: list[str], folder: Path) -> int:
    """Record a program; return how often its ranks asked."""
    record(command, folder, quiet_output=True)
    return info(folder).summary.taken.usage_queries


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
@pytest.mark.parametrize("method", ["whole-events", "paper2005"])
def test_a_skeleton_asks_as_often(mpi: TestMpi, method: str, tmp_path: Path) -> None:
    program, run, made = (tmp_path / name for name in ("asks", "run", "skel"))
    compile_line = [str(mpi.compiler), "-O1", str(PROGRAM), "-o", str(program)]
    subprocess.run(compile_line, check=True)
    launch = [*mpi.launcher, "-n", "2"]
    assert queries([*launch, str(program)], run) == QUERIES
    quarter = BuildOptions(4.0, None, None, None, strict=False, method=method)
    built = build(run, made, options=quarter)
    subprocess.run(["make", "-s", "-C", made, f"MPICC={mpi.compiler}"], check=True)
    own = queries([*launch, str(made / "skeleton")], tmp_path / "own")
    if method == "paper2005":  # whose rules know nothing of it
        assert own == 0
    else:
        share = built.expected_s / built.application_s
        assert own == pytest.approx(QUERIES * share, rel=0.1), share
