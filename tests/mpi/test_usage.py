"""A skeleton asks for its CPU time as the application does, in proportion."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from skelgen.pipeline.build import BuildOptions, build
from skelgen.pipeline.info import info
from skelgen.pipeline.record import record
from skelgen.trace import open_trace
from skelgen.trace.definition_types import sum_of_gaps
from tests.mpis import FAMILIES, MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

PROGRAM = Path(__file__).with_name("asks.c")
QUERIES = 2 * 48 * 32 * 2
#: Each part has a query right behind another one, and one that is not.
APART = QUERIES / 2


def queries(command: list[str], folder: Path) -> tuple[int, float]:
    """Record a program; return how often it asked, and how long its gaps were.

    The latter is the geometric mean over the time [us]: of equal gaps it is a quarter.
    """
    record(command, folder, quiet_output=True)
    files = open_trace(folder).files
    gaps = sum_of_gaps(file.definitions.usage_gaps for file in files)
    length_us = 0.75 * 2.0 ** np.arange(len(gaps))
    time_us = length_us * gaps
    mean_us = float(np.exp(time_us @ np.log(length_us) / max(time_us.sum(), 1)))
    return info(folder).summary.taken.usage_queries, mean_us


@pytest.mark.alone
@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
@pytest.mark.parametrize("method", ["whole-events", "paper2005"])
def test_a_skeleton_asks_as_often(mpi: TestMpi, method: str, tmp_path: Path) -> None:
    program, run, made = (tmp_path / name for name in ("asks", "run", "skel"))
    compile_line = [str(mpi.compiler), "-O1", str(PROGRAM), "-o", str(program)]
    subprocess.run(compile_line, check=True)
    launch = [*mpi.launcher, "-n", "2"]
    asked, apart_us = queries([*launch, str(program)], run)
    assert asked == QUERIES
    quarter = BuildOptions(4.0, None, None, None, strict=False, method=method)
    built = build(run, made, options=quarter)
    subprocess.run(["make", "-s", "-C", made, f"MPICC={mpi.compiler}"], check=True)
    own, own_us = queries([*launch, str(made / "skeleton")], tmp_path / "own")
    if method == "paper2005":  # whose rules know nothing of it
        assert own == 0
    else:
        share = built.expected_s / built.application_s
        assert own == pytest.approx(APART * share, rel=0.1), share
        assert 0.5 < own_us / apart_us < 2, share
