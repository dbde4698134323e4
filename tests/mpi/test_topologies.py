"""Neighbourhood and persistent collectives from the recorder to the skeleton's end."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from skelgen.pipeline.signatures import read_signature
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.signature import Signature
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from tests.c_warnings import WARNINGS
from tests.mpis import MPIS, TestMpi
from tests.plans import CALIBRATION
from tests.shim.conftest import preloaded, shim_of

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

SOURCE = Path(__file__).with_name("topologies.c")
RANKS, STEPS = 4, 60


def compiled(mpi: TestMpi, folder: Path) -> Path:
    program = folder / "topologies"
    line = [str(mpi.compiler), "-std=c11", "-O1", str(SOURCE)]
    subprocess.run([*line, "-o", str(program)], check=True)
    return program


def recorded(mpi: TestMpi, folder: Path, mode: str) -> Signature:
    """Record the program and return the signature of the run."""
    environment = {k: v for k, v in os.environ.items() if "SKELGEN" not in k}
    preloaded(environment, str(shim_of(mpi)), folder / "run")
    line = [*mpi.launcher, "-n", str(RANKS), str(compiled(mpi, folder)), mode]
    subprocess.run(line, check=True, env=environment, timeout=300, capture_output=True)
    signature, _ = read_signature(
        folder / "run", similarity_threshold=None, scaling_factor=3, target_s=None
    )
    return signature


def skeleton_of(signature: Signature, mpi: TestMpi, folder: Path) -> str:
    """Build a skeleton, let it run to its end, and return its text."""
    made = plan(signature, 3)
    source, program = folder / "skeleton.c", folder / "skeleton"
    source.write_text(render(made, calibration=CALIBRATION)["skeleton.c"])
    line = [str(mpi.compiler), *WARNINGS, *COMPILER_FLAGS, "-o", str(program)]
    done = subprocess.run(
        [*line, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ran = mpi.run(RANKS, str(program), "--check")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout[ran.stdout.index("{") :])["ranks"] == RANKS
    return source.read_text()


def calls(signature: Signature, name: str) -> int:
    """Return how often all ranks call a function."""
    rows = [
        signature.functions[function] == f"MPI_{name}"
        for function in signature.symbols["function"].tolist()
    ]
    return sum(
        int(count) * len(group.ranks)
        for group in signature.groups
        for symbol, count in zip(
            group.nest.symbol[group.nest.body_items == 0].tolist(),
            group.count.tolist(),
            strict=True,
        )
        if rows[symbol]
    )


@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_a_halo_exchange_on_a_grid_becomes_a_skeleton(
    mpi: TestMpi, tmp_path: Path
) -> None:
    signature = recorded(mpi, tmp_path, "grid")
    assert calls(signature, "Neighbor_alltoallw") == RANKS * STEPS
    (cart,) = [family for family in signature.families if family.kind == "cart"]
    assert (
        cart.sources
        == cart.destinations
        == (((2, 2, 1), (3, 3, 0), (0, 0, 3), (1, 1, 2)),)
    )
    assert signature.dropped == ()
    text = skeleton_of(signature, mpi, tmp_path)
    assert "MPI_Neighbor_alltoallw(out" in text
    assert "each_holes_8[i] = holes_8;" in text  # a column of a matrix
    assert "MPI_Dist_graph_create_adjacent(" in text
    assert re.search(r"\{2, 2, 1, -1\}", text)


@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_an_exchange_on_a_graph_becomes_a_skeleton(
    mpi: TestMpi, tmp_path: Path
) -> None:
    signature = recorded(mpi, tmp_path, "graph")
    assert calls(signature, "Ineighbor_alltoallv") == RANKS * STEPS
    assert calls(signature, "Neighbor_allgather") == RANKS * STEPS
    assert signature.dropped == ()
    text = skeleton_of(signature, mpi, tmp_path)
    assert "MPI_Ineighbor_alltoallv(out" in text
    assert "MPI_Neighbor_allgatherv(out" in text


@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_persistent_collectives_and_partitioned_messages_become_a_skeleton(
    mpi: TestMpi, tmp_path: Path
) -> None:
    if mpi.standard < 4:
        pytest.skip("this MPI is older than MPI 4")
    signature = recorded(mpi, tmp_path, "persistent")
    assert calls(signature, "Neighbor_alltoall_init") == RANKS
    assert calls(signature, "Isendrecv") == RANKS * STEPS
    assert signature.dropped == ()
    made = plan(signature, 3)
    assert any("partitioned" in warning for warning in made.report.warnings)
    text = skeleton_of(signature, mpi, tmp_path)
    for name in ("Neighbor_alltoallv_init", "Allreduce_init", "Isendrecv", "Send_init"):
        assert f"MPI_{name}(" in text
