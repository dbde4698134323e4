"""Each kind of program is recorded, gets a skeleton that ends, and phases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.accuracy.applications import read_applications
from benchmarks.kinds_of_programs import KINDS, Refused, Trial
from skelgen.launch.json_lines import JsonLines
from tests.mpis import FAMILIES, TestMpi
from tests.needs import needs_own

pytestmark = [pytest.mark.mpi, needs_own]

#: Arguments for runs of some tenths of a second.
SHORT = {
    "polling_sweep": ("20", "10", "100"),
    "time_steps": ("20", "3", "4"),
    "multigrid": ("20", "300"),
    "embarrassingly_parallel": ("1",),
    "six_iterations": ("6", "20"),
    "long_setup": ("20", "100", "3"),
    "sleeping": ("20", "2", "300"),
    "sleeping_polls": ("40", "200", "1000"),
    "disk_waits": ("10", "16", "300"),
    "adaptive_mesh": ("48", "30", "8"),
    "task_pool": ("60", "100"),
    "sparse_exchange": ("200", "30"),
    "event_simulation": ("200", "20"),
    "work_in_ticks": ("100", "5"),
    "work_and_test": ("100", "20"),
    "changing_operations": ("200", "30"),
}


#: What depends on how a library polls runs under both families.
POLLING = ("polling_sweep", "sparse_exchange", "sleeping_polls")
CASES = [
    (source, mpi)
    for mpi in FAMILIES
    for source in SHORT
    if mpi is FAMILIES[0] or source in POLLING
]


@pytest.mark.parametrize(("source", "mpi"), CASES)
def test_a_kind_of_program_gets_a_skeleton_that_ends(
    source: str, mpi: TestMpi, tmp_path: Path
) -> None:
    name = next(name for name, kind in KINDS.items() if kind.source == source)
    trial = Trial(name, mpi, tmp_path, JsonLines(tmp_path / "log"), SHORT[source])
    prepared = trial.prepare()
    assert "refused" not in prepared["phases"], prepared["phases"]
    built = prepared["built"]
    assert "refused" not in built, built
    done = trial.run(*mpi.launcher, "-n", "2", f"{trial.stem}.skel/skeleton")
    assert not isinstance(done, Refused), done
    assert re.search(r'"seconds": [0-9.]+', done)


def test_every_program_is_a_kind_and_is_tried() -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks/program_kinds"
    sources = {path.stem for path in folder.glob("*.c")}
    assert sources == {*SHORT} == {kind.source for kind in KINDS.values()}
    kinds = read_applications(folder / "kinds.yaml", [])
    assert sources == {Path(one.command.split()[0]).name for one in kinds}
