"""Every example is recorded, folded, scaled, compiled, run and predicted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mpis import MPIS

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sysconfig.get_path("scripts"))
#: The MPI of the running environment: the one a new user gets.
OWN = [mpi for mpi in MPIS if mpi.compiler.parent == BIN]

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not OWN, reason="no mpicc in the running environment"),
]


@dataclass(frozen=True)
class Example:
    """A program with a size that takes about half a second."""

    name: str
    ranks: int
    arguments: tuple[str, ...]
    scale: int = 5


EXAMPLES = [
    Example("heat2d", 2, ("512", "600")),
    Example("conjugate_gradient", 2, ("20000", "8", "25")),
    Example("bucket_sort", 2, ("100000", "60")),
    Example("wavefront", 2, ("64", "80", "8")),
    Example("master_worker", 3, ("150", "300", "1000"), 3),
    Example("jacobi", 2, ("100000", "200")),
]


def program(example: Example, folder: Path) -> list[str]:
    if example.name == "jacobi":
        pytest.importorskip("mpi4py")
        return [sys.executable, str(ROOT / "examples/jacobi.py")]
    source = str(ROOT / f"examples/{example.name}.c")
    target = str(folder / example.name)
    line = [str(OWN[0].compiler), "-O2", source, "-o", target, "-lm"]
    subprocess.run(line, check=True)
    return [target]


def skelgen(folder: Path, *words: str) -> dict[str, Any]:
    place = words.index("--") if "--" in words else len(words)
    line = [sys.executable, "-m", "skelgen", *words[:place], "--json", *words[place:]]
    path = f"{BIN}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        line,
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_becomes_a_skeleton_that_predicts_it(
    example: Example, tmp_path: Path
) -> None:
    command = [*program(example, tmp_path), *example.arguments]
    launch = ["mpirun", "-n", str(example.ranks)]
    skelgen(tmp_path, "record", "-o", "run", "--", *launch, *command)
    info = skelgen(tmp_path, "info", "run")
    assert info["ranks"] == example.ranks
    assert info["events"] > 100
    assert 0 < info["mpi_share"] < 1

    scale = str(example.scale)
    built = skelgen(tmp_path, "build", "run", "--scale", scale, "-o", "skel")
    kept = built["skeleton_events"] * example.scale / info["events"]
    assert 0.3 < kept < 1.5  # half of the calls of heat2d go to MPI_PROC_NULL
    assert built["signature_items"] < info["events"] / 2
    assert built["dropped_share"] < 0.5

    again = skelgen(tmp_path, "build", "skel", "--scale", scale, "-o", "again")
    assert again["skeleton_events"] == built["skeleton_events"]
    for name in ("skeleton.c", "signature.yaml"):
        first, second = tmp_path / "skel" / name, tmp_path / "again" / name
        assert first.read_text() == second.read_text()

    measured = skelgen(tmp_path, "calibrate", "skel", "--runs", "1")
    assert measured["ratio"] > 0  # no more is certain of short runs on a busy machine
    only = skelgen(tmp_path, "predict", "skel", "--budget", "3s")["sets"][0]
    assert only["p5_s"] <= only["predicted_s"] <= only["p95_s"]
