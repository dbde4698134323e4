"""The launch of an application for its phases, beside that of its recording."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.launch.mpi import Mpi, MpiKind
from skelgen.phase_execution import application
from skelgen.phase_execution.application import application_of
from tests.unit.test_phase_execution import MAIN, signature

DOUBT = "its arguments are not those of the recording"


@pytest.mark.parametrize(
    ("recorded", "given", "doubts"),
    [
        ("srun -n 2 ./sleep 3", "sleep 3", ()),
        ("/opt/none/bin/mpirun -n 2 /there/sleep 3 in/put", "sleep 3 ./put", ()),
        ("srun -n 2 ./sleep 3 4", "sleep 3", (DOUBT,)),
        ("srun -n 2 ./sleep", "sleep 3", (DOUBT,)),
        ("srun -n 2 ./sleep 3", "sleep", (DOUBT,)),
        ("srun -n 2 ./other 3", "sleep 3", ()),  # a name alone says little
    ],
)
def test_a_launch_is_compared_with_one_whose_launcher_is_not_here(
    recorded, given, doubts, monkeypatch, tmp_path
):
    mpi = Mpi(MpiKind.UNKNOWN, "", tmp_path / "mpirun", None)
    monkeypatch.setattr(application, "mpi_of", lambda _: mpi)
    monkeypatch.setattr(application, "check_library", lambda _: None)
    (tmp_path / "sleep").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    known = signature(MAIN)
    command = tuple(recorded.split())
    known = replace(known, provenance=replace(known.provenance, command=command))
    found, told = application_of(known, given.split())
    assert tuple(one.text for one in told) == doubts
    assert Path(found.launch.program[0]).name == "sleep"
