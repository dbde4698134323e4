"""Real programs on shared hosts: small sizes are run, larger ones are predicted.

``python -m benchmarks.models real --results FOLDER [--budget 60m] [--apps fft,...]``:
ScaLAPACK's PDSYEV, FFTW's MPI transform and conjugate gradient, as in the 2006 paper,
on hosts of the test cluster (root) under weather. Each program learns from small sizes
under loads that change. Then it runs larger sizes, once under loads that change
(``changing``) and once under loads that stay for a run (``steady``). Printed is the
mean error [%] of each family by where the loads of these runs come from:

- ``measured``: their average over the run, as sensors saw it (every 2 s, noise 0.03);
- ``forecast``: by `skelgen.forecasts` from 5 minutes before the run;
- ``skeleton``: the model's time on free hosts, times the slowdown of a skeleton of 1 s
  that ran just before.

It goes on where it ended; with everything there it only prints.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models import others, real_runs
from benchmarks.models.asking import Ask, Row, learn
from benchmarks.models.others import OTHERS, Worker
from benchmarks.models.real_loads import Seen, seen
from benchmarks.models.real_runs import Study, key
from benchmarks.models.rows import Rows
from skelgen.errors import InputError, MachineError, UsageError
from skelgen.models.comparing import not_told
from skelgen.models.families import FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.runs import Meaning, ModelInput, RunTable
from skelgen.units import parse_seconds

#: Sizes for 1 to 4 s, and for up to 14 s, on two free hosts of a core of 2.6 GHz.
STUDIES = (
    Study(
        "pdsyev",
        (900, 1000, 1100, 1200, 1300, 1400, 1500, 1600),
        (1700, 1850, 2000, 2200, 2400),
        (),
        "n^3",
        "n^2",
    ),
    Study(
        "fft",
        (640, 720, 768, 900, 960, 1080, 1152, 1280),
        (1440, 1536, 1728, 1920, 2160),
        ("15",),
        "n^2*log(n)",
        "n^2",
    ),
    Study(
        "conjugate-gradient",
        (20000, 28000, 36000, 44000, 52000, 60000, 68000, 76000),
        (90000, 105000, 120000, 140000, 160000),
        ("25", "25"),
        "n",
        "n",
    ),
)
#: The published complexities, given and not searched.
GIVEN = "rational, given"
_INPUTS = (
    ModelInput("n", Meaning.SIZE),
    ModelInput("cpu", Meaning.CPU),
    ModelInput("bandwidth", Meaning.BANDWIDTH),
)
SOURCES = ("measured", "forecast", "skeleton")
PHASES = ("changing", "steady")


@dataclass(frozen=True, slots=True)
class Told:
    """A run that was made.

    Attributes
    ----------
    size : int
    time_s : float
    loads : Seen
    slowdown : float
        Of a skeleton just before; nan where none ran [1].
    """

    size: int
    time_s: float
    loads: Seen
    slowdown: float

    @property
    def row(self) -> Row:
        """What a family learns from."""
        during = self.loads.during
        return {"n": float(self.size), **{str(k): v for k, v in during.items()}}


def told(rows: Rows, folder: Path, study: Study, phase: str) -> list[Told]:
    """Return the runs of a phase that were made."""
    sizes = study.small if phase == "learn" else study.large
    size = study.small[len(study.small) // 2]
    quiet = rows.known_or(key(study, "skeleton", size, 0), {"seconds": math.nan})
    found = []
    for repeat in range(100):
        runs = [rows.known_or(key(study, phase, one, repeat), {}) for one in sizes]
        for n, one in zip(sizes, runs, strict=True):
            if one:
                log, span = folder / one["log"], (one["begin"], one["end"])
                loads = seen(log, *span, steady=phase == "steady")
                slow = one.get("skeleton", math.nan) / quiet["seconds"]
                found.append(Told(n, float(one["seconds"]), loads, slow))
        if not any(runs):
            break
    return found


def value(ask: Ask, one: Told, source: str) -> float:
    """Return what a model says of a run with loads of a source [s]."""
    if source == "measured":
        return ask(one.row).value
    free = {"n": float(one.size), "cpu": 1.0, "bandwidth": 1.0}
    if source == "skeleton":
        return ask(free).value * one.slowdown
    horizon_s = ask(free).value
    for _ in range(8):
        said = ask({**free, **one.loads.forecast(horizon_s)}).value
        if abs(said / horizon_s - 1.0) < 0.02:
            break
        horizon_s = math.sqrt(horizon_s * min(max(said, 2.0), 1e4))
    return said


def errors(
    study: Study,
    learnt: Sequence[Told],
    asked: Sequence[Told],
    family: str,
    tools: Worker | None,
) -> dict[str, list[float]]:
    """Return the errors of a family by source; none where it cannot answer [1]."""
    if not learnt or not asked:
        return {}
    runs = RunTable.gather(
        _INPUTS, [one.row for one in learnt], [one.time_s for one in learnt]
    )
    settings = FamilySettings(
        computation=parse(study.computation), communication=parse(study.communication)
    )
    name, told_of = ("rational", settings) if family == GIVEN else (family, None)
    found = {}
    with contextlib.suppress(InputError):
        ask, _ = learn(runs, name, tools, told_of)
        for source in SOURCES:
            with contextlib.suppress(InputError):
                said = [value(ask, one, source) for one in asked]
                pairs = zip(said, asked, strict=True)
                found[source] = [a / b.time_s - 1.0 for a, b in pairs]
    return found


def tables(
    rows: Rows, folder: Path, studies: Sequence[Study], tools: Worker | None
) -> str:
    """Write a table for each phase: mean errors, and how many runs are behind them."""
    families = [*not_told(), GIVEN, *(OTHERS if tools else ())]
    lines = []
    for phase in PHASES:
        known = {
            one: (told(rows, folder, one, "learn"), told(rows, folder, one, phase))
            for one in studies
        }
        heads = [
            f"{one.name}: {len(learnt)} -> {len(asked)}"
            for one, (learnt, asked) in known.items()
        ]
        lines.append(f"{phase:17}" + "".join(f"{head:^33}" for head in heads))
        sources = "".join(f"{source:>11}" for source in SOURCES)
        lines.append(f"{'family':17}" + sources * len(studies))
        for family in families:
            found = [errors(one, *runs, family, tools) for one, runs in known.items()]
            cells = [_cell(by.get(source, [])) for by in found for source in SOURCES]
            lines.append(f"{family:17}" + "".join(cells))
    return "\n".join(lines)


def _cell(found: Sequence[float]) -> str:
    if not found or not all(map(math.isfinite, found)):
        return f"{'-':>11}"
    return f"{statistics.mean(map(abs, found)) * 100:>11.1f}"


def measure(
    rows: Rows, options: argparse.Namespace, studies: Sequence[Study], end_s: float
) -> bool:
    """Make the runs that are missing; say whether all are there."""
    with real_runs.laboratory(
        rows, options.results, options.hosts, options.hold, end_s
    ) as lab:
        ready = [real_runs.prepared(lab, one) for one in studies]
        for one in ready:
            if not real_runs.changing(lab, one, options.repeats, options.seed):
                return False
        return all(
            real_runs.steady(lab, one, options.repeats, options.seed) for one in ready
        )


def _worker() -> contextlib.AbstractContextManager[Worker | None]:
    """Have the other tools, where their environment can be made."""
    try:
        others.ready()
    except MachineError as error:
        print(f"without other tools: {error}")
        return contextlib.nullcontext()
    return others.worker()


def main(arguments: Sequence[str]) -> None:
    """Make the runs that are missing, and print the tables."""
    known = {one.name: one for one in STUDIES}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models real")
    parser.add_argument("--results", type=Path, required=True, help="folder, kept")
    parser.add_argument("--apps", default=",".join(known))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--hosts", type=int, default=2, help="of one core each")
    parser.add_argument("--hold", default="20s,50s", help="of weather that changes")
    parser.add_argument("--seed", type=int, default=1, help="of the weather")
    parser.add_argument("--budget", type=parse_seconds, default=math.inf)
    parser.add_argument("--table", action="store_true", help="only print")
    options = parser.parse_args(arguments)
    wanted = options.apps.split(",")
    if missing := set(wanted) - set(known):
        raise UsageError(f"no program {missing.pop()}; there are {', '.join(known)}")
    studies = [known[one] for one in wanted]
    options.results = options.results.absolute()
    rows = Rows.of(options.results / "real.jsonl")
    end_s = time.monotonic() + options.budget
    if not (options.table or measure(rows, options, studies, end_s)):
        print("not done: start it again to go on")
    with _worker() as tools:
        print(tables(rows, options.results, studies, tools))
