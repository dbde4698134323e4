"""Random programs in C: recorded with the same results, and skeletons that end.

``SKELGEN_RANDOM_PROGRAMS`` says how many for each MPI; ``python -m
benchmarks.random_programs`` runs as many as a night has time for.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.mpis import FAMILIES, TestMpi
from tests.random_c.trial import Bench, bench_of, trial

PROGRAMS = int(os.environ.get("SKELGEN_RANDOM_PROGRAMS", "8"))

#: A recorder that changes what a program receives.
MEDDLER = """#include <mpi.h>
int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int code = PMPI_Allreduce(in, out, n, type, op, comm);

    ++*(int *)out;
    return code;
}
"""  # noqa: E501

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not FAMILIES, reason="no mpicc with its mpirun was found"),
]


@cache
def bench(mpi: TestMpi) -> Bench:
    return bench_of(mpi)


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_a_random_program_is_the_same_recorded_and_its_skeletons_end(
    mpi: TestMpi, seed: int, tmp_path: Path
) -> None:
    outcome = trial(bench(mpi), seed, tmp_path)
    if outcome.failure == "unsteady":  # the campaign shows these apart
        pytest.skip(f"differs from run to run without the recorder: {outcome.detail}")
    assert not outcome.failure, f"{outcome.failure}: {outcome.detail} ({tmp_path})"
    assert outcome.checked
    assert outcome.ended == outcome.skeletons
    assert outcome.skeletons + len(outcome.refused) == 3


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_a_recorder_that_changes_a_result_is_noticed(
    mpi: TestMpi, tmp_path: Path
) -> None:
    made = bench(mpi)
    source, meddler = tmp_path / "meddler.c", tmp_path / "meddler.so"
    source.write_text(MEDDLER)
    line = [str(mpi.compiler), "-shared", "-fPIC", "-o", str(meddler), str(source)]
    subprocess.run(line, check=True)
    summing = [kind for kind in made.kinds if kind.name == "allreduce"]
    folder = tmp_path / "program"
    folder.mkdir()
    other = replace(made, kinds=summing * 10, recorder=meddler, in_sessions=frozenset())
    outcome = trial(other, 0, folder)
    assert outcome.failure == "checksum", outcome.detail
    assert not outcome.checked
    shutil.rmtree(folder)
