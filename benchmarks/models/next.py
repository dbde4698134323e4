"""Does the run that `model next` names help more than others?

``python -m benchmarks.models next [--seeds 20] [--first 0]``. A model learns from few
quiet runs of the law of `benchmarks.models.law`. Three runs are added, one after the
other: those that `skelgen.models.next_run` puts first, drawn ones, and the largest ones
that it may choose. Columns: the error of the prediction far ahead, and what
the three runs cost: time x ranks, as part of the cost of the largest ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.models import law
from benchmarks.models.law import Case
from skelgen.models.model import fit_model, predict_with
from skelgen.models.next_run import next_runs
from skelgen.models.runs import ModelInput, RunTable, meaning_of

#: Runs that are added.
_ADDED = 3

Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class Task:
    """What is known, what may be run, and what is asked.

    Attributes
    ----------
    name : str
    known : sequence of dict
    choices : mapping of str to sequence of float
    asked : dict
    """

    name: str
    known: Sequence[Row]
    choices: Mapping[str, Sequence[float]]
    asked: Row

    @property
    def all_choices(self) -> list[Row]:
        """All runs that may be made."""
        found: list[Row] = [{}]
        for name, values in self.choices.items():
            found = [{**row, name: float(one)} for row in found for one in values]
        return found


TASKS = (
    Task(
        "sizes",
        [{"n": float(n)} for n in (1000, 1500, 2000, 2500, 3000) for _ in range(2)],
        {"n": (1000, 2000, 3000, 4000, 5000, 6000)},
        {"n": 16000.0},
    ),
    Task(
        "sizes and nodes",
        [{"n": float(n), "nodes": p} for n in (2000, 3000, 4000) for p in (2.0, 4.0)]
        + [{"n": 3000.0, "nodes": 8.0}],
        {"n": (2000, 3000, 4000, 6000), "nodes": (2, 4, 8, 16)},
        {"n": 10000.0, "nodes": 48.0},
    ),
)


def _case(row: Row) -> Case:
    return Case(row["n"], int(row.get("nodes", 8)))


def _measured(random: np.random.Generator, row: Row) -> float:
    return float(law.run(random, _case(row), loaded=False).time_s)


def _table(rows: Sequence[Row], times: Sequence[float]) -> RunTable:
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in rows[0])
    return RunTable.gather(inputs, rows, list(times))


Choose = Callable[[Task, RunTable, np.random.Generator], Row]


def _by_gain(task: Task, runs: RunTable, random: np.random.Generator) -> Row:
    found = next_runs(fit_model(runs), task.choices, task.asked)
    return found[0].run if found else _drawn(task, runs, random)


def _drawn(task: Task, runs: RunTable, random: np.random.Generator) -> Row:
    rows = task.all_choices
    return rows[int(random.integers(len(rows)))]


def _largest(task: Task, runs: RunTable, random: np.random.Generator) -> Row:
    rows = sorted(task.all_choices, key=lambda row: -float(np.prod([*row.values()])))
    return rows[len(runs) - len(task.known)]


WAYS: dict[str, Choose] = {
    "model next": _by_gain,
    "drawn": _drawn,
    "largest": _largest,
}


def _error_and_cost(task: Task, way: str, seed: int) -> tuple[float, float, float]:
    """Return the error before and after three runs [1], and what they cost [s]."""
    known = np.random.default_rng([seed, *task.name.encode()])
    rows, times = list(task.known), [_measured(known, row) for row in task.known]
    truth = float(law.floor_s(_case(task.asked), (1.0, 1.0)))
    random = np.random.default_rng([seed, *way.encode()])

    def error() -> float:
        model = fit_model(_table(rows, times))
        return abs(predict_with(model, task.asked).interval.p50 / truth - 1.0)

    before, cost = error(), 0.0
    for _ in range(_ADDED):
        row = WAYS[way](task, _table(rows, times), random)
        rows.append(row)
        times.append(_measured(random, row))
        cost += times[-1] * row.get("nodes", 8.0)
    return before, error(), cost


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models next")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.seeds)
    print(
        f"{'case':18} {'runs added':12} {'before':>7} {'median':>7} {'p90':>7} "
        f"{'cost':>7}"
    )
    for task in TASKS:
        found = {
            way: np.array([_error_and_cost(task, way, seed) for seed in seeds])
            for way in WAYS
        }
        whole = found["largest"][:, 2].mean()
        for way, (before, after, cost) in ((w, f.T) for w, f in found.items()):
            print(
                f"{task.name:18} {way:12} {np.median(before):7.1%} "
                f"{np.median(after):7.1%} {np.quantile(after, 0.9):7.1%} "
                f"{cost.mean() / whole:7.0%}",
                flush=True,
            )
