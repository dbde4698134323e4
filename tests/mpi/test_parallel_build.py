"""``mpirun -n N skelgen build`` writes what one process writes, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.many_ranks import write
from tests.mpi.test_cli_record import environment, skelgen
from tests.mpi.test_examples import ROOT
from tests.mpis import OWN
from tests.needs import needs_own

pytest.importorskip("mpi4py")
pytestmark = [pytest.mark.mpi, needs_own]


def together(
    processes: int, *words: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run skelgen as several processes of the environment's own MPI."""
    command = [*OWN[0].launcher, "-n", str(processes)]
    return subprocess.run(
        [*command, sys.executable, "-m", "skelgen", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment(),
        timeout=300,
    )


def same_files(one: Path, other: Path) -> bool:
    """Compare two folders."""
    contents = [
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (one, other)
    ]
    return contents[0] == contents[1] and len(contents[0]) > 3


@pytest.mark.parametrize(
    ("program", "arguments"),
    [("bucket_sort", ["100000", "20"]), ("master_worker", ["150", "300", "1000"])],
)
def test_two_processes_write_what_one_does_of_an_example(
    program: str, arguments: list[str], tmp_path: Path
):
    source = ROOT / "examples" / f"{program}.c"
    line = [str(OWN[0].compiler), "-O2", "-o", program, str(source), "-lm"]
    subprocess.run(line, cwd=tmp_path, check=True)
    command = [*OWN[0].launcher, "-n", "4", f"./{program}", *arguments]
    recorded = skelgen("record", "-o", "run", "--", *command, folder=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    words = ["build", "run", "--scale", "3", "-o"]
    alone = skelgen(*words, "alone", folder=tmp_path)
    assert alone.returncode == 0, alone.stderr
    several = together(2, *words, "several", folder=tmp_path)
    assert several.returncode == 0, several.stderr
    assert several.stdout == alone.stdout.replace("alone", "several")
    assert same_files(tmp_path / "alone", tmp_path / "several")


def test_three_processes_write_what_one_does_of_a_grid(tmp_path: Path):
    write(tmp_path / "run", ranks=20, events=600)
    words = ["build", "run", "--scale", "10", "--json", "-o"]
    alone = skelgen(*words, "alone", folder=tmp_path)
    several = together(3, *words, "several", folder=tmp_path)
    assert several.returncode == 0, several.stderr
    assert several.stdout == alone.stdout.replace('"alone"', '"several"')
    assert several.stderr == alone.stderr
    assert same_files(tmp_path / "alone", tmp_path / "several")


def test_an_error_is_said_once_and_ends_all(tmp_path: Path):
    write(tmp_path / "run", ranks=4, events=100)
    words = ["build", "run", "--method", "paper2005", "--scale", "1e9"]
    found = together(2, *words, folder=tmp_path)
    assert found.returncode == 2
    errors = [line for line in found.stderr.splitlines() if "skelgen: error" in line]
    assert len(errors) == 1
    assert "Traceback" not in found.stderr
    assert not list(tmp_path.glob("run-k*"))
