"""Every example is recorded, folded, scaled, compiled and run; some are predicted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.phases import agree, found, known
from skelgen.events import CallKind, collect, function_info
from skelgen.phases.types import Parameters
from skelgen.pipeline.phases import of_run
from skelgen.signature.store import load
from skelgen.skeleton.methods import planner
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan, Turn
from skelgen.trace import open_trace
from tests.mpis import BIN, OWN
from tests.needs import needs_own

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = [pytest.mark.mpi, needs_own]


@dataclass(frozen=True)
class Example:
    """A program with a size that takes about half a second, perhaps predicted."""

    name: str
    ranks: int
    arguments: tuple[str, ...]
    scale: int = 5
    predicted: bool = False


EXAMPLES = [
    Example("heat2d", 2, ("512", "600"), predicted=True),
    Example("conjugate_gradient", 2, ("20000", "8", "25")),
    Example("bucket_sort", 2, ("100000", "60")),
    Example("wavefront", 2, ("64", "80", "8")),
    Example("master_worker", 3, ("150", "300", "1000"), 3),
    Example("jacobi", 2, ("100000", "200")),
    Example("task_farm", 3, ("90", "4"), 3, predicted=True),
    Example("kernels", 2, ("48", "100")),
]


def program(example: Example, folder: Path) -> list[str]:
    script = ROOT / f"examples/{example.name}.py"
    if script.exists():
        pytest.importorskip("mpi4py")
        return [sys.executable, str(script)]
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


def record(example: Example, folder: Path) -> list[str]:
    """Record an example into `run`; the launcher's words that run it."""
    command = [*program(example, folder), *example.arguments]
    launch = ["mpirun", "-n", str(example.ranks)]
    skelgen(folder, "record", "-o", "run", "--", *launch, *command)
    return launch


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_becomes_a_skeleton_that_does_its_part(
    example: Example, tmp_path: Path
) -> None:
    launch = record(example, tmp_path)
    info = skelgen(tmp_path, "info", "run")
    assert info["ranks"] == example.ranks
    assert info["events"] > 100
    assert 0 < info["mpi_share"] < 1

    scale = str(example.scale)
    built = skelgen(tmp_path, "build", "run", "--scale", scale, "-o", "skel")
    made = plan(load(tmp_path / "skel"), example.scale)
    assert built["skeleton_events"] == sum(planned(made).values())
    assert built["signature_items"] < info["events"] / 2
    left_out = sum(one["calls"] for one in built["left_out"])
    assert left_out < 0.02 * info["events"]  # too rare to keep one; they may wait long
    assert not [text for text in built["warnings"] if "target" in text]
    assert not wrongly_kept(made)

    again = skelgen(tmp_path, "build", "skel", "--scale", scale, "-o", "again")
    assert again["skeleton_events"] == built["skeleton_events"]
    for name in ("skeleton.c", "signature.yaml"):
        first, second = tmp_path / "skel" / name, tmp_path / "again" / name
        assert first.read_text() == second.read_text()

    compiler = f"MPICC={OWN[0].compiler}"
    subprocess.run(["make", "-s", "-C", str(tmp_path / "skel"), compiler], check=True)
    skelgen(tmp_path, "record", "-o", "own", "--", *launch, "skel/skeleton")
    assert executed(tmp_path / "own") == planned(made) + Counter(
        {name: example.ranks * count for name, count in REPORT.items()}
    )
    if not example.predicted:
        return
    measured = skelgen(tmp_path, "calibrate", "skel", "--runs", "1", "--force")
    assert measured["ratio"] > 0  # no more is certain of short runs on a busy machine
    only = skelgen(tmp_path, "predict", "skel", "--budget", "1s")["sets"][0]
    assert only["p5_s"] <= only["predicted_s"] <= only["p95_s"]


#: Iterations of loops are clearly more or clearly less than `LONGEST` of any share of
#: the time, however long the program waits for its start and end.
PHASES = [
    Example("heat2d", 2, ("64", "2000")),
    Example("conjugate_gradient", 2, ("10000", "4", "50")),
    Example("bucket_sort", 2, ("10000", "200")),
    Example("wavefront", 2, ("64", "400", "4")),
    Example("two_phases", 2, ("500", "200", "200")),
    Example("master_worker", 2, ("200", "200", "1000")),
    Example("jacobi", 2, ("1000000", "100")),
]
LONGEST = 0.01


@pytest.mark.parametrize("example", PHASES, ids=lambda example: example.name)
def test_phases_are_what_an_example_does_again_and_again(
    example: Example, tmp_path: Path
) -> None:
    record(example, tmp_path)
    # Left alone, the level is chosen by how much times spread, as others let them.
    phases, signature, _ = of_run(tmp_path / "run", Parameters(longest=LONGEST))
    levels = known(example.name, *example.arguments)
    assert any(agree(found(phases), level) for level in levels), found(phases)
    assert signature.predicted_s == pytest.approx(
        signature.application_s * signature.covered_share
    )


def test_a_second_recording_has_the_same_ticks(tmp_path: Path) -> None:
    """How fast its ranks were in either plays no part."""
    (example,) = (one for one in EXAMPLES if one.name == "conjugate_gradient")
    launch = ["mpirun", "-n", "2", *program(example, tmp_path), "2000", "4", "5"]
    calls = []
    for name in ("one", "other"):
        skelgen(tmp_path, "record", "-o", name, "--", *launch)
        table = skelgen(tmp_path, "phases", "ticks", name, "--count", "100000")
        calls.append(table["calls"])
    assert calls[0] == calls[1]
    assert {call["rank"] for call in calls[0]} == {0, 1}


def test_a_skeleton_by_the_rules_of_2005_runs_and_predicts(tmp_path: Path) -> None:
    """Of 60 iterations 8 stay and 4 are left, with a part of their bytes."""
    (example,) = (one for one in EXAMPLES if one.name == "bucket_sort")
    launch = record(example, tmp_path)
    words = ("--scale", "7", "--method", "paper2005", "-o", "skel")
    built = skelgen(tmp_path, "build", "run", *words)
    made = planner(built["method"])(load(tmp_path / "skel"), 7)
    assert built["method"] == made.method == "paper2005"
    assert built["skeleton_events"] == sum(planned(made).values())
    assert set(planned(made).values()) == {2 * (60 // 7 + 60 % 7)}
    skelgen(tmp_path, "calibrate", "skel", "--runs", "1", "--force")
    skelgen(tmp_path, "record", "-o", "own", "--", *launch, "skel/skeleton")
    assert executed(tmp_path / "own") == planned(made) + Counter(
        {name: example.ranks * count for name, count in REPORT.items()}
    )
    only = skelgen(tmp_path, "predict", "skel", "--budget", "1s")["sets"][0]
    assert only["p5_s"] <= only["predicted_s"] <= only["p95_s"]


#: What each rank of a skeleton does besides, before and after the timed region.
REPORT = Counter(MPI_Barrier=1, MPI_Reduce=2, MPI_Gather=2)


def planned(made: Plan) -> Counter[str]:
    """Count the calls of a plan by function, all ranks."""
    found: Counter[str] = Counter()
    for program in made.served or made.programs:
        for operation in program.operations:
            name = made.functions[made.symbols[operation.symbol]["function"]]
            if operation.turn is Turn.OPENS:  # of all partners at a time
                name = "MPI_Irecv"
            found[name] += operation.occurrences * len(program.ranks)
    return found


def executed(run: Path) -> Counter[str]:
    """Count the communicating calls of a recorded run by function, all ranks.

    Those that wait until someone comes who can be served depend on who comes together.
    Probes only ask for what a receive takes: in a skeleton they are polls.
    """
    calls = collect(open_trace(run)).calls
    names = np.array(calls.functions)[calls.shapes["function"][calls.shape]]
    local = (CallKind.LOCAL, CallKind.COMMUNICATOR, CallKind.PROBE)
    found = Counter(n for n in names.tolist() if function_info(n).kind not in local)
    del found["MPI_Waitsome"]
    return found


def wrongly_kept(made: Plan) -> list[tuple[str, int, int, int]]:
    """Return classes of calls that are far from 1/K: function, rank, calls, kept.

    Classes are symbols on a rank with more than 1 % of its calls; 1 % of the target
    is near, and so is one event.
    """
    found = []
    for program in made.programs:
        rank = program.ranks[0]
        (group,) = (g for g in made.signature.groups if rank in g.ranks)
        symbols = group.nest.symbol[group.nest.body_items == 0]
        calls = np.bincount(symbols, group.count)
        kept = np.zeros(len(calls))
        for operation in program.operations:
            kept[symbols[operation.leaf]] += operation.occurrences
        target = calls / made.scaling_factor
        far = np.abs(kept - target) > np.maximum(1, 0.01 * target)
        for symbol in np.flatnonzero(far & (calls > 0.01 * calls.sum())):
            name = made.functions[made.symbols[symbol]["function"]]
            found.append((name, rank, int(calls[symbol]), int(kept[symbol])))
    return found
