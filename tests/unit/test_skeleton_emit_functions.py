"""The C text makes the calls of the plan, in their order, however it is divided."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from skelgen.loops import Nest, expand, fold, fold_with_skips
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.types import Plan, Program
from tests.plans import CALIBRATION, Builder, Do, Loop

HERE = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")


def steps_of(rng: random.Random) -> list[int]:
    """Draw time steps: blocks of calls, loops of any trips, some steps like others."""
    blocks = [
        [rng.randrange(12) for _ in range(rng.randint(3, 12))]
        for _ in range(rng.randint(2, 3))
    ]
    loops = [
        [rng.randrange(12, 16) for _ in range(rng.randint(1, 4))] for _ in range(2)
    ]

    def step() -> list[tuple[bool, int]]:
        parts = [(False, rng.randrange(len(blocks))) for _ in range(rng.randint(1, 3))]
        parts += [(True, rng.randrange(len(loops))) for _ in range(rng.randint(1, 3))]
        return rng.sample(parts, len(parts))

    def calls(parts: list[tuple[bool, int]]) -> list[int]:
        shift = rng.choice((0, 0, 0, 0, 16))  # other calls that look the same
        trips = rng.choice(((2, 3), (0, 1, 2, 3, 7)))
        found = [
            loops[at] * rng.choice(trips) if loop else blocks[at] for loop, at in parts
        ]
        between = [rng.randrange(32, 36) for _ in range(rng.randint(0, 3))]
        return [shift + call for part in found for call in part] + between

    shapes = [step() for _ in range(rng.randint(1, 3))]
    order = [rng.choice(shapes) if rng.random() < 0.9 else step() for _ in range(14)]
    return [call for one in order for call in calls(one)]


def with_other_trips(rng: random.Random, nest: Nest) -> Nest:
    """Change trips of loops that always make as many, as another rank might."""
    trips = nest.trips.copy()
    for first, end in pairwise(nest.trips_first.tolist()):
        if end - first == 1 and rng.random() < 0.3:
            trips[first, 0] = rng.choice((1, 2, 5))
    often = dict.fromkeys(range(len(nest)), 1)
    for item in range(len(nest)):  # outer loops stand first
        inside = range(item + 1, item + 1 + int(nest.body_items[item]))
        if inside:
            rows = slice(*nest.trips_first[item : item + 2].tolist())
            if rows.stop - rows.start == 1:
                trips[rows, 1] = often[item]
            elif trips[rows, 1].sum() != often[item]:
                return nest
            total = int((trips[rows, 0] * trips[rows, 1]).sum())
            often.update(dict.fromkeys(inside, total))
    return Nest(nest.body_items, nest.symbol, nest.trips_first, trips)


def planned(rng: random.Random, nests: list[Nest]) -> Plan:
    """Plan these calls of each rank: broadcasts, which their sizes tell apart."""
    builder = Builder(len(nests))
    programs = []
    parts = [rng.choice((1, 1, 1, 2, 7)) for _ in range(int(nests[0].symbol.max()) + 1)]
    for rank, nest in enumerate(nests):
        often = np.bincount(expand(nest), minlength=len(parts)).tolist()
        calls = [
            Do("MPI_Bcast", size=[[1000 * s + at for at in range(columns)]], peer=0)
            for s, columns in enumerate(parts)
        ]
        built = builder.program([rank], *calls).programs[-1]
        operations = tuple(
            replace(operation, occurrences=count)
            for operation, count in zip(built.operations, often, strict=True)
        )
        programs.append(replace(built, nest=nest, operations=operations))
    return replace(builder.plan(), programs=tuple(programs))


def calls_of(program: Program) -> list[str]:
    """Return the calls of a plan as the stub prints them."""
    done, found = [0] * len(program.operations), []
    for number in expand(program.nest).tolist():
        operation = program.operations[number]
        sizes = operation.size_bytes.values[0]
        at = done[number] * len(sizes) // operation.occurrences
        done[number] += 1
        found.append(f"call Bcast {sizes[at]:.0f} 0")
    return found


def made_and_planned(made: Plan, folder: Path) -> list[tuple[list[str], list[str]]]:
    """Return the calls that each rank makes, and those of its plan."""
    shutil.copy(HERE / "stub_mpi.h", folder / "mpi.h")
    source, program = folder / "skeleton.c", folder / "skeleton"
    source.write_text(render(made, calibration=CALIBRATION)["skeleton.c"])
    line = ["gcc", "-O0", "-I", str(folder), "-o", str(program), str(source), "-lm"]
    subprocess.run(line, check=True)
    found = []
    for one in made.programs:
        (rank,) = one.ranks
        around = {"RANK": str(rank), "SIZE": str(len(made.programs))}
        said = subprocess.run(
            [str(program)],
            capture_output=True,
            text=True,
            env={**os.environ, **around},
            check=True,
        )
        lines = [text for text in said.stdout.splitlines() if text.startswith("call")]
        found.append((lines, calls_of(one)))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_text_makes_the_calls_of_the_plan(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    _, string = np.unique(steps_of(rng), return_inverse=True)
    nest = rng.choice((fold, fold_with_skips))(string.astype(np.int32))
    made = planned(rng, [nest, with_other_trips(rng, nest)])
    for lines, wanted in made_and_planned(made, tmp_path):
        assert lines == wanted


@pytest.mark.parametrize("function", ["Alltoall", "Allgather", "Gather", "Scatter"])
def test_both_counts_of_a_collective_are_read_once_a_call(function: str) -> None:
    root = 0 if function in ("Gather", "Scatter") else -1
    sizes = np.array([[8.0, 16.0, 24.0]] * 2)
    call = Do(f"MPI_{function}", size=sizes, peer=root)
    made = Builder(2).program([0, 1], Loop(9, [call])).plan()
    text = render(made, calibration=CALIBRATION)["skeleton.c"]
    start = text.index(f"MPI_{function}(")
    read = re.findall(r"count\(&(\w+)\)", text[start : text.index(";", start)])
    assert len(read) == len(set(read)) == 2
