"""Predict applications at workloads that were not recorded, as the thesis validates it.

``python benchmarks/workload_validation.py [--runs 8] [--only two_phases-n] [--small]
[--keep FOLDER]`` lets ``skelgen workload plan`` choose at most six workloads of each
application. Then these and the one that is to be predicted take turns, so that all meet
the machine's slow and fast times, ``--runs`` times; of each the run with the median
time counts. Prints the predicted (PAET) and the measured (AET) time, the error beside
the noise (half the distance of the quartiles of a workload's times) and the thesis'
errors, then the same for each phase. With ``--keep``, runs that the folder holds are
not made again. ``--pairs FILE`` adds each prediction and its truth to a file that
`skelgen trust learn` reads.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accuracy.applications import PrepareError
from benchmarks.shared.workload_cases import CASES, Case, cases
from skelgen.errors import SkelgenError
from skelgen.events import collect
from skelgen.launch.json_lines import JsonLines
from skelgen.pipeline.record import record
from skelgen.pipeline.workload import workload_add, workload_plan, workload_predict
from skelgen.trace import open_trace
from skelgen.workload import WorkloadTime, matched
from skelgen.workload.types import Workload

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sysconfig.get_path("scripts"))
MOST_POINTS = 6
#: Phases with a smaller share of the time are not shown [1].
SHOWN = 0.02
HEAD = "| application | points | recorded | PAET | 90 % | AET | error | "
HEAD += "noise of points, AET | in the thesis | flags |"


@dataclass(slots=True)
class Runs:
    """Recorded runs of one workload."""

    case: Case
    at: Workload
    folder: Path
    times_s: dict[Path, float] = field(default_factory=dict)

    def make(self) -> None:
        """Record one more."""
        values = "-".join(f"{value:g}" for value in self.at.values())
        name = f"{self.case.name}-{values}-{len(self.times_s)}"
        if not (run := self.folder / name).exists():
            self._record(run)
        self.times_s[run] = collect(open_trace(run)).application_ns / 1e9

    def _record(self, run: Path) -> None:
        """Record a run; its folder appears when it is complete."""
        values = {name: int(value) for name, value in self.at.items()}
        part = run.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        program = self.case.program
        launch = [program.mpi, "-n", str(program.ranks)]
        words = [word.format(**values) for word in self.case.command.split()]
        with nothing_printed():
            record([*launch, *words], part, quiet_output=True)
        part.rename(run)

    @property
    def typical(self) -> Path:
        """Return the run with the median time; of two, the faster one."""
        ordered = sorted(self.times_s, key=lambda run: self.times_s[run])
        return ordered[(len(ordered) - 1) // 2]

    @property
    def time_s(self) -> float:
        return self.times_s[self.typical]

    @property
    def noise(self) -> float:
        """Return half the distance of the quartiles as a share of the time [1]."""
        low, _, high = statistics.quantiles(self.times_s.values(), n=4)
        return (high - low) / 2 / self.time_s


@contextmanager
def nothing_printed() -> Iterator[None]:
    """Leave out what programs print to stderr."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def validate(
    case: Case, folder: Path, runs: int, pairs: JsonLines | None = None
) -> tuple[str, list[str]]:
    """Record what the plan asks for, predict and measure; return lines of both tables.

    The study is made anew from the runs that the folder holds.
    """
    study = folder / f"{case.name}.yaml"
    study.unlink(missing_ok=True)
    recorded: list[Runs] = []
    while len(recorded) < MOST_POINTS:
        _, step = workload_plan(study, ranges=case.ranges)
        if step.workload is None:
            break
        recorded.append(Runs(case, step.workload, folder))
        recorded[-1].make()
        workload_add(study, recorded[-1].typical, step.workload)
    real = Runs(case, case.wanted, folder)
    real.make()
    for _, one in product(range(1, runs), [*recorded, real]):
        one.make()
    study.unlink()
    for one in recorded:
        workload_add(study, one.typical, one.at)
    found = workload_predict(study, case.wanted, page=False).found
    if pairs is not None:
        pairs.append(pair(case, found, real))
    shown = "-"
    if runs > 1:
        noise = statistics.median(one.noise for one in recorded)
        shown = f"{noise:.2%}, {real.noise:.2%}"
    paet_s = found.time_s.p50
    half_s = max(found.time_s.p95 - paet_s, paet_s - found.time_s.p5)
    flags = ", ".join(sorted({doubt.code for doubt in found.doubts}))
    line = (
        f"| {case.name} | {len(recorded)} | {sum(r.time_s for r in recorded):.2f} s | "
        f"{paet_s:.3f} s | +-{half_s / paet_s:.1%} | {real.time_s:.3f} s | "
        f"{paet_s / real.time_s - 1:+.2%} | {shown} | "
        f"{case.thesis or '-'} | {flags} |"
    )
    return line, list(phase_lines(case, found, study, real))


def pair(case: Case, found: WorkloadTime, real: Runs) -> dict[str, Any]:
    """Return a prediction and its truth, as `skelgen trust learn` reads them."""
    return {
        "method": "workload",
        "application": case.name.partition("-")[0],
        "predicted_s": found.time_s.p50,
        "truth_s": real.time_s,
        "measured_p5_s": max(found.measured_s.p5, 1e-9),
        "measured_p95_s": found.measured_s.p95,
    }


def phase_lines(
    case: Case, found: WorkloadTime, study: Path, real: Runs
) -> Iterator[str]:
    """Yield for each phase the predicted and the measured time, as in table 6.4."""
    both, _ = workload_add(study, real.typical, case.wanted)
    parts, _ = matched(both.points)
    measured = {(part.key, part.weights[:-1]): part for part in parts}
    for one in found.parts:
        part = measured.get((one.part.key, one.part.weights))
        if part is None or one.total_s < SHOWN * found.time_s.p50:
            continue
        calls = [call.removeprefix("MPI_") for call in one.part.calls[:3]]
        cells = (
            case.name,
            " ".join(calls) or "the rest",
            f"{one.total_s / found.time_s.p50:.0%}",
            f"{one.weight.interval.p50:.0f}",
            f"{part.weights[-1]:.0f}",
            one.fits.time.text,
            f"{one.time.interval.p50:.3e} s",
            f"{part.times_s[-1]:.3e} s",
            f"{one.time.interval.p50 / part.times_s[-1] - 1:+.2%}",
        )
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=8, help="of each workload")
    options.add_argument("--only", action="append", choices=[one.name for one in CASES])
    options.add_argument("--small", action="store_true")
    options.add_argument("--keep", type=Path, help="folder for the runs")
    options.add_argument(
        "--pairs", type=Path, help="file for predictions with their truth"
    )
    asked = options.parse_args()
    pairs = JsonLines(asked.pairs.absolute()) if asked.pairs else None
    if pairs is not None:
        pairs.begin(keep=True)
    logging.disable(logging.WARNING)  # of loaded machines: they take turns
    os.environ |= {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    print(HEAD, "|---" * HEAD.count(" |") + "|", sep="\n", flush=True)
    phases: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = (asked.keep or Path(name)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases(asked.only, small=asked.small):
            place = folder / case.application
            try:
                case.program.make(place)
                os.chdir(place)
                line, more = validate(case, folder, asked.runs, pairs)
            except (PrepareError, SkelgenError) as error:
                line, more = f"| {case.name} | {error} |", []
            print(line, flush=True)
            phases += more
        os.chdir(ROOT)
    head = "| application | phase | share | weight predicted | measured | function | "
    head += "time predicted | measured | error |"
    print("", head, "|---" * head.count(" |") + "|", *phases, sep="\n")


if __name__ == "__main__":
    main()
