"""Programs for any MPI and its interfaces get the recorder they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.shim.conftest import ABIS, SANITIZE, SOURCES, Lab
from tests.shim.reader import read_run

pytestmark = pytest.mark.mpi


def skelgen(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skelgen", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=300,
    )


@pytest.mark.skipif(SANITIZE, reason="asks for the recorder without sanitizers")
def test_the_recorder_of_a_program_is_compiled_once(lab: Lab, tmp_path: Path) -> None:
    program = str(lab.compile("endings"))
    launcher = lab.mpi.launcher[0]
    shown = skelgen(tmp_path, "shim", program, "--mpirun", launcher)
    assert shown.returncode == 0, shown.stderr
    path = Path(shown.stdout.strip())
    built = path.stat()
    again = skelgen(tmp_path, "shim", program, "--mpirun", launcher)
    assert (again.stdout, again.stderr) == (shown.stdout, "")
    assert path.stat().st_mtime_ns == built.st_mtime_ns
    run = lab.launch(1, [program, "many", "5"], tmp_path, preload=str(path))
    assert len(run.traces[0].of("Send")) == 5, run.errors


@pytest.mark.skipif(not ABIS, reason="no mpicc_abi beside an mpicc")
@pytest.mark.skipif(SANITIZE, reason="asks for the recorder without sanitizers")
def test_a_program_for_the_binary_interface_is_recorded(tmp_path: Path) -> None:
    (abi, *_) = ABIS
    target = tmp_path / "app"
    source = SOURCES.parent / "examples/bucket_sort.c"
    command = [str(abi.compiler), "-O2", str(source), "-o", str(target), "-lm"]
    subprocess.run(command, check=True)
    words = ["record", "-o", "run", "--", *abi.launcher, "-n", "2", str(target)]
    done = skelgen(tmp_path, *words, "1000", "5")
    assert done.returncode == 0, done.stderr
    traces = read_run(tmp_path / "run")
    assert len(traces) == 2
    assert all(len(trace.of("Alltoallv")) == 5 for trace in traces)
