"""Skeletons that are rendered, compiled without a warning and run."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.reference.calibration import Mix
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.reference.compute import calibrate
from skelgen.skeleton import Plan
from skelgen.skeleton.emit.skeleton_files import render
from tests.c_warnings import WARNINGS
from tests.every_operation import every_operation
from tests.mpis import MPIS, TestMpi
from tests.plans import CALIBRATION, Builder, Do, Loop
from tests.sealed import unsealed_json

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

Built = Callable[..., Path]


@pytest.fixture(params=MPIS, ids=[mpi.name for mpi in MPIS])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


@pytest.fixture
def built(mpi: TestMpi, tmp_path: Path) -> Built:
    """Return a function that compiles the skeleton of a plan."""

    def build(plan: Plan, calibration=CALIBRATION, changes=()) -> Path:
        source, program = tmp_path / "skeleton.c", tmp_path / "skeleton"
        text = render(plan, calibration=calibration)["skeleton.c"]
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        source.write_text(text)
        command = [str(mpi.compiler), *WARNINGS, *COMPILER_FLAGS]
        command += ["-o", str(program), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return program

    return build


def result(mpi: TestMpi, program: Path, ranks: int, *words: str) -> dict:
    done = mpi.run(ranks, str(program), *words)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1
    return json.loads(lines[0])


def test_every_operation_runs_to_its_end(mpi: TestMpi, built: Built) -> None:
    report = result(mpi, built(every_operation()), 4, "--check")
    assert report["ranks"] == 4 and len(report["hosts"]) == 4


def test_report_says_where_the_time_went(mpi: TestMpi, built: Built) -> None:
    exchange = [
        Do("MPI_Irecv", size=8000, peer=1, tag=3),
        Do("MPI_Isend", size=8000, peer=1, tag=3, us=[100, 200]),
        Do("MPI_Waitall", ages=(2, 1)),
    ]
    build = Builder(2).program(
        [0, 1], Do("MPI_Bcast", size=64, peer=0, us=2000), Loop(50, exchange)
    )
    report = result(mpi, built(build.plan('"ring" 100%')), 2)
    assert report["skeleton"] == '"ring" 100%'
    assert (report["format"], report["scaling_factor"], report["ranks"]) == (1, 10, 2)
    assert [section["name"] for section in report["sections"]] == ["start", "loop 1"]
    whole = report["seconds"]
    parts = sum(section["seconds"] for section in report["sections"])
    assert parts <= 2 * whole
    for computed_s, mpi_s in zip(report["compute_s"], report["mpi_s"], strict=True):
        assert computed_s > 0 and mpi_s > 0
        assert computed_s + mpi_s <= whole * 1.01
    assert len(report["hosts"]) == 2


def test_work_is_what_is_asked(mpi: TestMpi, built: Built) -> None:
    """A counter of steps stands in for time, which nobody can rely on."""
    begin = "static void arithmetic(long steps)\n{\n"
    end = "\tMPI_Finalize();\n\treturn 0;\n"
    changes = [
        (begin, f"static long stepped;\n\n{begin}\tstepped += steps;\n"),
        (end, f'\tprintf("\\nstepped %ld\\n", stepped);\n{end}'),
    ]
    gaps = [Loop(10, [Do("MPI_Barrier", us=us, family=1)]) for us in (3, 100, 400)]
    program = built(Builder(1).program([0], *gaps).plan(), changes=changes)
    said = mpi.run(1, str(program)).stdout
    (steps,) = re.findall(r"^stepped (\d+)$", said, re.M)
    # Calls and clocks take a part of each gap; short ones are not timed.
    us = 10 * (503 - CALIBRATION.call_us - 2 * CALIBRATION.clock_us)
    assert int(steps) == pytest.approx(us * CALIBRATION.steps_per_us[0], abs=1)


def test_wrong_number_of_ranks_is_one_clear_line(mpi: TestMpi, built: Built) -> None:
    program = built(Builder(2).program([0, 1], Do("MPI_Barrier")).plan())
    done = mpi.run(1, str(program))
    said = [line for line in done.stderr.splitlines() if "skeleton" in line]
    assert "skeleton: made for 2 ranks, started with 1; use -n 2" in said
    assert done.returncode == 2
    assert "{" not in done.stdout


def test_mixed_computation_compiles_and_runs(mpi: TestMpi, built: Built) -> None:
    mix = Mix(0.5, 0.25, 0.25, 1 << 20)
    speed = replace(CALIBRATION, mix=mix, steps_per_us=(300.0, 100.0, 10.0))
    wait = Do("MPI_Barrier", us=[700, 500])
    program = built(Builder(2).program([0, 1], Loop(3, [wait])).plan(), speed)
    assert result(mpi, program, 2)["compute_s"][0] > 0


def test_makefile_builds_the_skeleton(mpi: TestMpi, tmp_path: Path) -> None:
    folder = tmp_path / "skel"
    plan = Builder(1).program([0], Do("MPI_Barrier", us=5)).plan()
    folder.mkdir()
    for name, text in render(plan, calibration=CALIBRATION).items():
        (folder / name).write_text(text)
    make = ["make", "-C", str(folder), f"MPICC={mpi.compiler}"]
    subprocess.run(make, check=True, capture_output=True)
    assert result(mpi, folder / "skeleton", 1)["ranks"] == 1


def test_calibration_is_measured_once(mpi: TestMpi, tmp_path: Path) -> None:
    first = calibrate(mpi.compiler, cache=tmp_path)
    (kept,) = (tmp_path / "calibrations").glob("*.json")
    kept.write_text(json.dumps({**unsealed_json(kept), "cpu": "another"}))
    again = calibrate(mpi.compiler, cache=tmp_path)
    assert again.cpu == "another"  # read, not measured
    assert again.steps_per_us == first.steps_per_us
    assert first.steps_per_us[0] > 0 and first.steps_per_us[1:] == (0, 0)
    assert first.call_us >= 0 and first.clock_us >= 0
