"""The phases of the thesis' synthetic application are those that its source shows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skelgen.phases.types import Parameters
from skelgen.pipeline.phases import phases
from skelgen.pipeline.record import record
from tests.mpis import BIN, OWN
from tests.needs import needs_own

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = [pytest.mark.mpi, needs_own]

#: A loop is a phase however little time it takes: a busy machine changes nothing.
WHATEVER = Parameters(relevance=1e-9, longest=1.0, time_similarity=0.0)


def test_two_phases_come_as_often_as_the_program_is_asked_to_repeat_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(BIN), prepend=":")
    program = str(tmp_path / "two_phases")
    source = str(ROOT / "examples/two_phases.c")
    subprocess.run([str(OWN[0].compiler), "-O2", source, "-o", program], check=True)
    keys = []
    for n, steps in ((300, 30), (700, 45)):
        run = tmp_path / f"run{n}"
        launch = ["mpirun", "-n", "2", program, str(n), str(steps)]
        record(launch, run, quiet_output=True)
        found = [one.phase for one in phases(run, WHATEVER).phases]
        repeated = {" ".join(one.calls): one for one in found if one.weight > 1}
        assert {calls: one.weight for calls, one in repeated.items()} == {
            "MPI_Sendrecv": steps,
            "MPI_Irecv MPI_Isend MPI_Waitall": steps,
        }
        keys.append({calls: one.site_key for calls, one in repeated.items()})
    assert keys[0] == keys[1]
