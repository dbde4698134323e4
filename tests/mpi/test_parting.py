"""A recorded program ends on several hosts, whichever rank is the last to receive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mpis import MPIS
from tests.testbed.cluster import Cluster, lacking

REASON = lacking()
DEBIANS = [mpi for mpi in MPIS if mpi.compiler.name == "mpicc.mpich"]
pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
    pytest.mark.skipif(not DEBIANS, reason="Debian's MPICH is not installed"),
]

PROGRAM = Path(__file__).with_name("parting.c")


def ended(program: Path, run: Path) -> bool:
    """Record the program on two hosts of its own; false: it hung."""
    cluster = Cluster(f"parting-{os.getpid()}-{run.name}")
    cluster.up(2)
    started = [DEBIANS[0].launcher[0], "-hosts", "h1,h2", "-n", "2", str(program)]
    line = [sys.executable, "-m", "skelgen", "record", "-o", str(run), "--", *started]
    try:
        done = cluster.run("head", line, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return False
    finally:
        cluster.down()
    assert done.returncode == 0, done.stderr
    assert "ended" in done.stdout
    return True


def test_mpich_over_ucx_ends_although_a_rank_received_late(tmp_path: Path) -> None:
    """Without the recorder's pause not one run ends; with it a starved one may not."""
    program = tmp_path / "parting"
    compiler = str(DEBIANS[0].compiler)
    subprocess.run([compiler, str(PROGRAM), "-o", str(program)], check=True)
    subprocess.run(
        [sys.executable, "-m", "skelgen", "shim", str(program)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert any(ended(program, tmp_path / f"run{n}") for n in range(5))
