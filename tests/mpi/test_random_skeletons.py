"""Skeletons of random programs, compiled and run for real under each MPI found.

``SKELGEN_RANDOM_SKELETONS`` says how many for each; 50 is the full measure.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.signature import Signature
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.passes import alike_places
from skelgen.skeleton.plan import plan
from skelgen.skeleton.share import routines
from tests.c_warnings import WARNINGS
from tests.mpis import MPIS, TestMpi
from tests.plans import CALIBRATION
from tests.random_programs import random_program
from tests.summaries import build

PROGRAMS = int(os.environ.get("SKELGEN_RANDOM_SKELETONS", "3"))

#: In MPICH 4.0 a program ends at the second start of the one on four ranks and more.
#: The other waits forever now and then behind a blocking one of its kind, but not with
#: MPIR_CVAR_INEIGHBOR_ALLTOALLW_INTRA_ALGORITHM=tsp_linear; not in other MPIs.
_BROKEN = {"MPI_Scatter_init", "MPI_Ineighbor_alltoallw"}

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]


def drawn(rng: random.Random, mpi: TestMpi) -> Signature:
    """Draw a program that makes calls, and none that its MPI cannot."""
    while True:
        program = random_program(rng, calls=300, standard=mpi.standard)
        signature = build(program).signature
        broken = re.search(r"Version: +4\.0", mpi.version)
        if broken and not _BROKEN.isdisjoint(signature.functions):
            continue
        if any(group.count.sum() for group in signature.groups):
            return signature


@pytest.mark.parametrize("form", ["loops", "list"])
@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_a_skeleton_of_a_random_program_runs_to_its_end(
    mpi: TestMpi, seed: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "list":  # as very long programs are written
        monkeypatch.setattr(routines, "MOST_PROGRAM_ITEMS", 0)
        monkeypatch.setattr(alike_places, "MOST_PROGRAM_ITEMS", 0)
        monkeypatch.setattr(alike_places, "MOST_OPERATIONS", 0)
        monkeypatch.setattr(alike_places, "MOST_KINDS", 0)
    # MPI_Compare_and_swap of Open MPI 4.1 crashes over shared memory: ompi#11349.
    monkeypatch.setenv("OMPI_MCA_osc", "^rdma")
    rng = random.Random(1000 + PROGRAMS * MPIS.index(mpi) + seed)
    signature = drawn(rng, mpi)
    try:
        made = plan(signature, rng.choice((1.2, 2, 5)))
    except UsageError:  # too short for this K
        made = plan(signature, 1.01)
    source, program = tmp_path / "skeleton.c", tmp_path / "skeleton"
    source.write_text(render(made, calibration=CALIBRATION)["skeleton.c"])
    line = [str(mpi.compiler), *WARNINGS, *COMPILER_FLAGS, "-o", str(program)]
    done = subprocess.run(
        [*line, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ran = mpi.run(signature.ranks, str(program), "--check")
    assert ran.returncode == 0, ran.stderr
    lines = [text for text in ran.stdout.splitlines() if text.startswith("{")]
    assert json.loads(lines[-1])["ranks"] == signature.ranks
