"""Skeletons of masters with workers serve whoever comes first, and share the work."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from skelgen.events import collect
from skelgen.pipeline.build import BuildOptions, build
from skelgen.pipeline.record import record
from skelgen.reference.compiled_program import COMPILER_FLAGS
from skelgen.signature import Signature, store
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.trace import open_trace
from tests.c_warnings import WARNINGS
from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.plans import CALIBRATION
from tests.skeletons import signature
from tests.unit import test_skeleton_task_farm_patterns as patterns

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "master_worker.c"
#: Microseconds of a task of the two workers.
QUICK_US, SLOW_US = 50, 100_000
TURNS = 12


def uneven(answer: str = "bytes=80") -> Signature:
    """Return a master that served a quick and a slow worker in turn."""
    lines = {rank: [f"rank {rank}"] for rank in range(3)}
    for _ in range(TURNS):
        for w, us in ((1, QUICK_US), (2, SLOW_US)):
            asked = f"Recv from=*{w} tag=2 bytes=800"
            lines[0] += [asked, f"Send to={w} tag=1 {answer}"]
            lines[w] += [f"{1000 * us} Send to=0 tag=2 bytes=800"]
            lines[w] += [f"Recv from=0 tag=1 {answer}"]
    return signature("\n".join(line for own in lines.values() for line in own))


def handed_in() -> Signature:
    """Return the same with workers that hand in a result, and ask after others."""
    lines = {rank: [f"rank {rank}"] for rank in range(3)}
    for _ in range(TURNS):
        lines[0] += [f"Recv from=*{w} tag=3 bytes=800" for w in (1, 2)]
        for w, us in ((1, QUICK_US), (2, SLOW_US)):
            lines[0] += [f"Recv from=*{w} tag=2 bytes=8", f"Send to={w} tag=1 bytes=80"]
            lines[w] += [f"{1000 * us} Send to=0 tag=3 bytes=800"]
            lines[w] += ["Send to=0 tag=2 bytes=8", "Recv from=0 tag=1 bytes=80"]
    return signature("\n".join(line for own in lines.values() for line in own))


def skeleton(known: Signature, mpi: TestMpi, folder: Path) -> list[str]:
    """Compile a skeleton and return its command line."""
    source = folder / "skeleton.c"
    made = render(plan(known, 1.001), calibration=CALIBRATION)
    source.write_text(made["skeleton.c"])
    flags = [*WARNINGS, *COMPILER_FLAGS]
    compile_line = [
        str(mpi.compiler),
        *flags,
        str(source),
        "-o",
        str(folder / "skeleton"),
    ]
    subprocess.run(compile_line, check=True)
    return [*mpi.launcher, "-n", str(known.ranks), str(folder / "skeleton")]


def sends_of(command: Sequence[str], folder: Path) -> list[int]:
    """Record a program; return how often each rank sends."""
    record(command, folder, quiet_output=True)
    calls = collect(open_trace(folder)).calls
    sends = np.array([name == "MPI_Send" for name in calls.functions])
    found = sends[calls.shapes["function"]][calls.shape]
    return np.add.reduceat(found.astype(int), calls.first[:-1]).tolist()


@pytest.mark.parametrize(
    "answer", ["bytes=80", "bytes=2", "bytes=1", "bytes=0", "bytes=80 type=2 holes"]
)
@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_a_quick_worker_takes_what_a_slow_one_did(
    mpi: TestMpi, answer: str, tmp_path: Path
) -> None:
    sends = sends_of(skeleton(uneven(answer), mpi, tmp_path), tmp_path / "run")
    assert sends[1] + sends[2] == sends[0] == 2 * TURNS
    assert 1 <= sends[2] < TURNS / 2


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_a_quick_worker_hands_in_more_results(mpi: TestMpi, tmp_path: Path) -> None:
    sends = sends_of(skeleton(handed_in(), mpi, tmp_path), tmp_path / "run")
    assert sends[0] == 2 * TURNS
    assert sends[1] + sends[2] == 2 * sends[0]
    assert 2 <= sends[2] < TURNS


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_workers_that_are_told_nothing_do_what_they_did(
    mpi: TestMpi, tmp_path: Path
) -> None:
    command = skeleton(uneven("bytes=80 type=1 holes"), mpi, tmp_path)
    assert sends_of(command, tmp_path / "run") == [2 * TURNS, TURNS, TURNS]


@pytest.mark.parametrize(
    "turn",
    [
        patterns.tag_for_each_kind_of_result,
        patterns.answer_with_an_empty_end,
        patterns.worker_that_exchanges,
        patterns.worker_that_does_not_wait,
    ],
)
@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_farms_of_other_kinds_send_as_many_messages(
    mpi: TestMpi, turn: patterns.Turns, tmp_path: Path
) -> None:
    known = signature(patterns.text_of(turn))
    sends = sends_of(skeleton(known, mpi, tmp_path), tmp_path / "run")
    answers = 2 if turn is patterns.answer_with_an_empty_end else 1
    assert sends[0] == answers * patterns.TASKS
    assert sum(sends[1:]) == patterns.TASKS
    assert min(sends[1:]) >= 1


@pytest.mark.parametrize("way", ["any", "posted", "polled"])
@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_the_example_makes_all_its_calls_whoever_comes(
    mpi: TestMpi, way: str, tmp_path: Path
) -> None:
    program, run, made = (tmp_path / name for name in ("program", "run", "skel"))
    compile_line = [str(mpi.compiler), "-O2", str(EXAMPLE), "-o", str(program)]
    subprocess.run([*compile_line, "-lm"], check=True)
    launch = [*mpi.launcher, "-n", "4"]
    command = [*launch, str(program), "600", "100", "100", way]
    record(command, run, quiet_output=True)
    halved = BuildOptions(2.0, None, None, None, strict=False)
    build(run, made, options=halved)
    assert json.loads((made / "skeleton.json").read_text())["dealers"] == []
    assert "serve(" in (made / "skeleton.c").read_text()
    subprocess.run(["make", "-s", "-C", made, f"MPICC={mpi.compiler}"], check=True)
    command = [*launch, str(made / "skeleton")]
    planned = plan(store.load(made / "signature.yaml"), 2.0)
    names = planned.functions
    assert sum(sends_of(command, tmp_path / "own")) == sum(
        operation.occurrences * len(program.ranks)
        for program in planned.programs
        for operation in program.operations
        if names[planned.symbols[operation.symbol]["function"]] == "MPI_Send"
    )
