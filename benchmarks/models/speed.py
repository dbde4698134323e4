"""How long fits, predictions and comparisons take, and how much memory they need.

``python -m benchmarks.models speed [--case TEXT]``: less than a minute. Each case has
a process of its own, in which nothing was fitted before. Columns: processor time as
wanted and as measured [s], and the most memory that the process had [MB], of which
Python and NumPy have about 40. Wanted are at most 300.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.models.cases import problems
from skelgen.models.comparing import compare
from skelgen.models.model import fit_model, predict_with
from skelgen.models.parts import fit_parts
from skelgen.models.runs import Floats, RunTable, table_of

#: Seeds of all that is drawn.
SEED = 0

#: Sizes and ranks of runs that are fitted by phases: 25 runs.
_SIZES = (1000.0, 1500.0, 2200.0, 3300.0, 5000.0)
_RANKS = (2.0, 4.0, 8.0, 16.0, 32.0)

_PHASES, _PREDICTIONS = 100, 1000


def phases(count: int, inputs: str) -> tuple[RunTable, dict[str, Floats]]:
    """Draw phases of 25 runs: five sizes five times each, or sizes and something else.

    Each phase has a constant, a part that grows as n, and one as n^2 to n^3, and noise
    of 2 %. With ranks the growing parts fall with them, and a part is as their
    logarithm. With loads the fast part waits for processors, the other one for links.
    """
    random = np.random.default_rng(SEED)
    n, p = (one.ravel() for one in np.meshgrid(_SIZES, _RANKS))
    cpu, bandwidth = random.uniform(0.2, 1.0, (2, len(n)))
    others = {"ranks": {"ranks": p}, "loads": {"cpu": cpu, "bandwidth": bandwidth}}
    own = others.get(inputs.removeprefix("sizes and "), {})
    found = {}
    for i in range(count):
        fast, power, line, constant, log = random.uniform(
            [1e-10, 2.0, 1e-7, 0.0, 0.0], [1e-9, 3.0, 1e-6, 1e-3, 1e-3]
        )
        grows, sent = fast * n**power, line * n
        if "ranks" in own:
            grows, sent = grows / p, sent / p + log * np.log(p)
        elif own:
            grows, sent = grows / cpu, sent / (bandwidth * np.sqrt(cpu))
        noise = np.exp(0.02 * random.standard_normal(len(n)))
        found[f"phase {i + 1}"] = (grows + sent + constant) * noise
    columns = {"n": n, **own}
    rows = [{name: float(v[i]) for name, v in columns.items()} for i in range(len(n))]
    return table_of(rows, np.sum([*found.values()], axis=0).tolist()), found


def _fit(case: str) -> float:
    runs = next(problems(SEED, [case])).learnt
    begin = time.process_time()
    fit_model(runs)
    return time.process_time() - begin


def _fit_phases(family: str, inputs: str) -> float:
    whole, parts = phases(_PHASES, inputs)
    begin = time.process_time()
    fit_parts(whole, parts, family)
    return time.process_time() - begin


def _predict(case: str) -> float:
    problem = next(problems(SEED, [case]))
    model = fit_model(problem.learnt)
    at = {name: float(values[0]) for name, values in problem.asked.columns.items()}
    seconds = []
    for _ in range(_PREDICTIONS):
        begin = time.process_time()
        predict_with(model, at)
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def _compare(names: Sequence[str]) -> float:
    runs = next(problems(SEED, ["S4"])).learnt
    runs = runs.without(*(one.name for one in runs.inputs if one.name not in names))
    begin = time.process_time()
    list(compare(runs))
    return time.process_time() - begin


#: What is measured, and in how many seconds it is wanted.
CASES: Mapping[str, tuple[float, Callable[[], float]]] = {
    "34 runs under load (S1)": (0.3, partial(_fit, "S1")),
    "120 runs x 5 inputs (S4)": (2.0, partial(_fit, "S4")),
    **{
        f"100 phases x 25 runs, {inputs}, {family}": (
            2.5,
            partial(_fit_phases, family, inputs),
        )
        for inputs in ("sizes", "sizes and ranks", "sizes and loads")
        for family in ("default", "normal-form", "power", "workload")
    },
    "a prediction, S1": (0.001, partial(_predict, "S1")),
    "a prediction, S4": (0.001, partial(_predict, "S4")),
    "compare, 120 runs x 3 inputs": (
        60.0,
        partial(_compare, ("n", "nodes", "ranks_per_node")),
    ),
    "compare, 120 runs x 5 inputs": (
        60.0,
        partial(_compare, ("n", "nodes", "ranks_per_node", "cpu", "bandwidth")),
    ),
}


def measured(case: str) -> tuple[float, float]:
    """Return processor time of a case [s], and the most memory of the process [MB]."""
    seconds = CASES[case][1]()
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models speed")
    parser.add_argument("--case", default="", help="only cases with this text")
    options = parser.parse_args(arguments)
    print(f"{'case':52} {'wanted':>8} {'CPU s':>8} {'MB':>6}")
    context = multiprocessing.get_context("spawn")
    for case, (wanted, _) in CASES.items():
        if options.case not in case:
            continue
        with context.Pool(1) as pool:
            seconds, memory = pool.apply(measured, (case,))
        print(f"{case:52} {wanted:8g} {seconds:8.3g} {memory:6.0f}", flush=True)
