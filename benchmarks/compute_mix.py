"""Does a fitted compute mix slow down as the application does? Beside two competitors.

``python benchmarks/compute_mix.py [--apps triad,...] [--rounds 3] [--keep FOLDER]``

Programs of one rank whose kind is known (``kinds.c``), and LAMMPS where it is
installed, are recorded, a mix is fitted (`skelgen mix`), and two skeletons are built:
arithmetic alone and the mix. Then application and skeletons run in turn on one core:
quiet, beside a busy process on that core, beside a process that streams memory on
another one. These two are not those that the mix was fitted beside. About 4 minutes a
program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.skeletons import ROOT, busy_core, lammps, run, skelgen
from tests.testbed.cluster import LOADS

#: Iterations that take about 6 s of a 2.6 GHz core.
KINDS = {
    "matrix": ("matrix", "1200"),
    "triad": ("triad", "1200"),
    "stencil": ("stencil", "800"),
    "chasing": ("chasing", "200"),
    "chasing-3MiB": ("chasing", "500", "3"),
}
LAMMPS_STEPS = 400
#: Names of skeletons with the words that build them.
MIXES = {"arithmetic": ["--compute-mix", "100,0,0"], "fitted": []}
#: What competes, and on which core; the programs run on core 0.
CONDITIONS = {"quiet": "", "arithmetic": "0", "memory": "1"}

HEAD = (
    f"{'application':<13}{'mix':<20}{'its error':>9}  {'beside':<11}{'slowdown':>9}"
    f"{'arithmetic':>11}{'error':>8}{'fitted':>8}{'error':>8}"
)


def prepare(name: str, folder: Path) -> list[str]:
    """Return the command of an application, after mpirun."""
    if name in KINDS:
        source = str(ROOT / "benchmarks/kinds.c")
        run(["mpicc", "-std=c11", "-O2", source, "-o", "kinds"], folder)
        return ["./kinds", *KINDS[name]]
    return list(lammps(folder, LAMMPS_STEPS))


def beside(condition: str) -> AbstractContextManager[object]:
    """Let the test cluster's load compete on its core."""
    if condition == "quiet":
        return nullcontext()
    return busy_core(CONDITIONS[condition], LOADS[condition])


def application_s(command: list[str], folder: Path) -> float:
    skelgen(folder, "record", "--force", "-o", "truth", "--", *command)
    return float(skelgen(folder, "info", "truth")["application_s"])


def skeleton_s(name: str, folder: Path) -> float:
    words = ["taskset", "-c", "0", "mpirun", "-n", "1", f"./{name}/skeleton"]
    return float(json.loads(run(words, folder).splitlines()[-1])["seconds"])


def measure(command: list[str], folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return medians of application and skeletons [s] for each condition."""
    times: dict[str, list[list[float]]] = {name: [] for name in CONDITIONS}
    for _ in range(rounds):
        for condition, rows in times.items():
            with beside(condition):
                row = [application_s(command, folder)]
                row += [skeleton_s(name, folder) for name in MIXES]
            rows.append(row)
    return {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in times.items()
    }


def show(name: str, folder: Path, rounds: int) -> list[tuple[float, float]]:
    """Print the rows of an application; return the errors of both mixes."""
    folder.mkdir(exist_ok=True)
    command = ["taskset", "-c", "0", "mpirun", "-n", "1", *prepare(name, folder)]
    skelgen(folder, "record", "--force", "-o", "run", "--", *command)
    fitted = skelgen(folder, "mix", "run")
    for mix, words in MIXES.items():
        build = ["build", "run", "--target-time", "2s", "--force", "-o", mix]
        skelgen(folder, *build, *words)
        run(["make", "-s", "-C", mix], folder)
    times = measure(command, folder, rounds)
    errors = []
    for condition in ("arithmetic", "memory"):
        truth, *guesses = (
            slow / quiet
            for slow, quiet in zip(times[condition], times["quiet"], strict=True)
        )
        off = [guess / truth - 1 for guess in guesses]
        errors.append((abs(off[0]), abs(off[1])))
        print(
            f"{name:<13}{fitted['text']:<20}{fitted['error']:>9.1%}  {condition:<11}"
            f"{truth:>8.2f}x{guesses[0]:>10.2f}x{off[0]:>+8.1%}{guesses[1]:>7.2f}x"
            f"{off[1]:>+8.1%}",
            flush=True,
        )
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", default=",".join([*KINDS, "lammps"]))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(exist_ok=True)
        print(HEAD, flush=True)
        errors = [
            pair
            for name in options.apps.split(",")
            for pair in show(name, folder / name, options.rounds)
        ]
    plain, fitted = (statistics.fmean(column) for column in zip(*errors, strict=True))
    print(f"mean error: arithmetic alone {plain:.1%}, fitted mix {fitted:.1%}")


if __name__ == "__main__":
    main()
