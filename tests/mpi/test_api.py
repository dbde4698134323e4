"""The first example of docs/python.md, with a program and an MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mpis import MPIS

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]


def test_the_example_goes_from_a_run_to_a_prediction(tmp_path: Path):
    (example,) = [
        text.partition("```")[0]
        for text in (ROOT / "docs" / "python.md").read_text().split("```python\n")
        if "skelgen.record" in text and ">>>" not in text.partition("```")[0]
    ][-1:]
    mpi = MPIS[0]
    source = ROOT / "examples" / "heat2d.c"
    build = [str(mpi.compiler), "-O2", str(source), "-o", "app", "-lm"]
    subprocess.run(build, cwd=tmp_path, check=True)
    found = os.environ["PATH"]
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{mpi.compiler.parent}:{found}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("K = ") for line in lines)
    assert "trust" in lines[-1]
