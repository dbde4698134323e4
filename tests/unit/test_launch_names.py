"""One rule says what an application is called, whoever asks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from skelgen.launch.command import LaunchCommand
from skelgen.launch.names import application_name
from skelgen.launch.record import RunFacts
from skelgen.pipeline.provenance import application_of
from skelgen.pipeline.time import _about
from skelgen.store.formats.typed_values import TypedValues


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (["./a/heat", "solve.py"], "heat"),
        (["python3.11", "-u", "x/solve.py", "8"], "solve.py"),
        (["python3", "-W", "ignore", "-Xdev", "solve.py"], "solve.py"),
        (["python3", "-m", "solver"], "solver"),
        (["python3", "-m"], "python3"),
        (["bash", "-c", "x"], "bash"),
        (["bash", "-o", "pipefail", "job.sh"], "job.sh"),
        (["julia", "-t", "4", "--project", "heat.jl"], "heat.jl"),
        (["python"], "python"),
        (["python", "-"], "python"),
        (["/usr/bin/env", "-i", "A=1", "B=c d", "./heat"], "heat"),
        (["env"], "env"),
        ([], ""),
    ],
)
def test_an_application_is_called_like_its_program(program, name):
    assert application_name(program) == name


@pytest.mark.parametrize(
    "program", ["python3 -m solve", "python3 -W ignore solve", "env A=1 ./solve"]
)
def test_a_recorded_and_a_timed_run_of_a_program_have_one_name(tmp_path, program):
    words = ("mpirun", "-n", "2", *program.split())
    facts = RunFacts(
        words, str(tmp_path), "", 1.0, 0, "MPICH", "mpirun", "n1", 2, (), ()
    )
    header = SimpleNamespace(program="/usr/bin/python3.11", mpi_library="MPICH")
    assert application_of(header, facts) == "solve"
    launch = LaunchCommand((), None, (), None, tuple(program.split()), None)
    assert _about(launch, words, TypedValues()).application == "solve"
