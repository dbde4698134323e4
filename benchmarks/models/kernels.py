"""Kernels of a loop: what they take alone, in pairs and in chains, and together.

``python -m benchmarks.models kernels [--sizes 32,64,96] [--results FOLDER]``: seven
minutes on a quiet machine. Printed are the time of a step of `examples/kernels.c` at
each size, and the errors [%] of

- ``sum``: times of kernels alone at that size, added up;
- ``pairs``, ``chains``: the same weighted by couplings at that size, of pairs and of
  chains of three and five kernels (2005 paper, section 3.3);
- ``reused``: the same with the couplings of pairs at the size before;
- ``models``: a model (`default`) of each kernel alone from smaller sizes, with these;
- ``default``: a model of the whole step from smaller sizes.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.models.rows import Found, Rows
from skelgen.errors import ApplicationError, InputError
from skelgen.launch.mpi import Mpi, find_mpi
from skelgen.models.coupling import Chain, LoopCoupling, chains_of, couple
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import Meaning, ModelInput, RunTable

SOURCE = Path(__file__).resolve().parents[2] / "examples/kernels.c"
#: As `examples/kernels.c` has them, in the order of its loop.
KERNELS: Chain = (
    "copy_faces",
    "right_side",
    "x_solve",
    "y_solve",
    "z_solve",
    "add",
    "norm",
)
#: Lengths of the chains that are measured; the last is the loop.
LENGTHS = (2, 3, 5, 7)
SIZES = (32, 40, 48, 64, 80, 96, 128)
#: Steps of the first run of a chain.
_FIRST = 10
#: A family needs so many smaller sizes to tell how the time grows.
_FEWEST = 3

#: Seconds of a step [s] of each chain, by size.
Times = Mapping[int, Mapping[Chain, float]]


@dataclass(frozen=True, slots=True)
class Program:
    """The compiled example.

    Attributes
    ----------
    binary : Path
    launcher : Path
    ranks : int
    """

    binary: Path
    launcher: Path
    ranks: int

    def seconds(self, size: int, steps: int, chain: Chain) -> float:
        """Run a chain; return the time of its steps [s].

        Raises
        ------
        ApplicationError
            When it fails.
        """
        line = [str(self.launcher), "-n", str(self.ranks), str(self.binary)]
        line += [str(size), str(steps), *chain]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        said = re.search(r"steps in ([\d.]+) s", done.stdout)
        if done.returncode or not said:
            why = (done.stderr.strip() or "it printed no time").splitlines()[0]
            raise ApplicationError(f"kernels {size} {steps} {' '.join(chain)}: {why}")
        return float(said[1])


def compiled(folder: Path, ranks: int, mpi: Mpi | None = None) -> Program:
    """Compile the example."""
    mpi = mpi or find_mpi()
    binary = folder / "kernels"
    line = [str(mpi.compiler), "-O2", str(SOURCE), "-o", str(binary)]
    subprocess.run(line, check=True)
    return Program(binary, mpi.launcher, ranks)


def chains() -> list[Chain]:
    """Return all chains that are measured: kernels alone first, the loop last."""
    alone = [(one,) for one in KERNELS]
    return [*alone, *(c for length in LENGTHS for c in chains_of(KERNELS, length))]


def measure(
    program: Program, sizes: Sequence[int], repeats: int, least_s: float, rows: Rows
) -> Times:
    """Measure all chains at all sizes: medians, each repeat in an order of its own."""
    random = np.random.default_rng(0)
    found: dict[int, dict[Chain, list[float]]] = {}
    for size in sizes:
        found[size] = {one: [] for one in chains()}
        for repeat in range(repeats):
            order = chains()
            random.shuffle(order)
            for one in map(tuple, order):
                made = _run(program, size, one, repeat, least_s, rows)
                found[size][one].append(made)
        print(f"{size} points: measured", flush=True)
    return {
        size: {one: statistics.median(times) for one, times in of_size.items()}
        for size, of_size in found.items()
    }


def _run(
    program: Program, size: int, chain: Chain, repeat: int, least_s: float, rows: Rows
) -> float:
    """Return the seconds of a step, by a run that takes about `least_s`."""
    key = {"size": size, "ranks": program.ranks, "chain": list(chain)}

    def make() -> Found:
        steps = rows.known_or({**key, "repeat": 0}, {"steps": _FIRST})["steps"]
        while (seconds := program.seconds(size, steps, chain)) < least_s / 2:
            steps = math.ceil(steps * min(max(least_s / max(seconds, 1e-9), 2), 20))
        return {"steps": steps, "seconds": seconds}

    made = rows.get({**key, "repeat": repeat}, make)
    return float(made["seconds"]) / float(made["steps"])


@dataclass(frozen=True, slots=True)
class Line:
    """What is said of a size.

    Attributes
    ----------
    size : int
    step_s : float
        Of the loop, measured [s].
    said : dict of str to float
        By method; nan where it cannot answer [s].
    """

    size: int
    step_s: float
    said: dict[str, float]

    def error(self, method: str) -> float:
        """Return how far off a method is [1]."""
        return self.said[method] / self.step_s - 1.0


METHODS = ("sum", "pairs", "chains of 3", "chains of 5", "reused", "models", "default")


def lines(times: Times) -> list[Line]:
    """Return what each method says of each size, but for the first."""
    return [_line(times, *pair) for pair in itertools.pairwise(sorted(times))]


def _line(times: Times, before: int, size: int) -> Line:
    alone = {one: times[size][one,] for one in KERNELS}
    pairs = _coupled(times[before], 2)
    smaller = [one for one in sorted(times) if one < size]
    said = {
        "sum": math.fsum(alone.values()),
        "pairs": _coupled(times[size], 2).time_s(alone),
        "chains of 3": _coupled(times[size], 3).time_s(alone),
        "chains of 5": _coupled(times[size], 5).time_s(alone),
        "reused": pairs.time_s(alone),
        "models": _answer(lambda: pairs.time_s(_models(times, smaller, size))),
        "default": _answer(lambda: _model(times, smaller, size, KERNELS)),
    }
    return Line(size, times[size][KERNELS], said)


def _coupled(of_size: Mapping[Chain, float], length: int) -> LoopCoupling:
    alone = {one: of_size[one,] for one in KERNELS}
    return couple(KERNELS, alone, of_size, length=length)


def _answer(ask: Callable[[], float]) -> float:
    try:
        return ask()
    except InputError:
        return math.nan


def _models(times: Times, smaller: Sequence[int], size: int) -> dict[str, float]:
    return {one: _model(times, smaller, size, (one,)) for one in KERNELS}


def _model(times: Times, smaller: Sequence[int], size: int, chain: Chain) -> float:
    """Return what `default` says of a chain from smaller sizes [s]."""
    if len(smaller) < _FEWEST:
        raise InputError(f"{len(smaller)} smaller sizes, {_FEWEST} are needed")
    points = ModelInput("points", Meaning.SIZE)
    runs = RunTable.gather(
        (points,),
        [{"points": float(one)} for one in smaller],
        [times[one][chain] for one in smaller],
    )
    return predict_with(fit_model(runs), {"points": float(size)}).interval.p50


def table(found: Sequence[Line]) -> str:
    """Write the table."""
    head = ["points", "step [ms]", *METHODS]
    text = ["  ".join(f"{one:>11}" for one in head)]
    for one in found:
        cells = [f"{one.size}", f"{one.step_s * 1e3:.3f}"]
        cells += [_percent(one.error(method)) for method in METHODS]
        text.append("  ".join(f"{cell:>11}" for cell in cells))
    worst = [_worst(found, method) for method in METHODS]
    return "\n".join(
        [*text, "  ".join(f"{cell:>11}" for cell in ["worst", "", *worst])]
    )


def _worst(found: Sequence[Line], method: str) -> str:
    errors = [abs(one.error(method)) for one in found]
    known = [one for one in errors if math.isfinite(one)]
    return f"{max(known) * 100:.1f}" if known else "-"


def _percent(error: float) -> str:
    return f"{error * 100:+.1f}" if math.isfinite(error) else "-"


def main(arguments: Sequence[str]) -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models kernels")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.25, help="of a run at least")
    parser.add_argument("--results", type=Path, help="folder, to go on later")
    options = parser.parse_args(arguments)
    sizes = sorted(int(one) for one in options.sizes.split(","))
    with tempfile.TemporaryDirectory() as made:
        folder = options.results or Path(made)
        rows = Rows.of(folder / "kernels.jsonl")
        program = compiled(Path(made), options.ranks)
        times = measure(program, sizes, options.repeats, options.seconds, rows)
    print(table(lines(times)))
