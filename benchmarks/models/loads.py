"""Sizes under loads that are forecast from one hour of history, not measured.

``python -m benchmarks.models loads [--seeds 20] [--first 0] [--family default]``.
Runs to learn from and runs to predict are those of the case S1. Seeds from 1000 on are
for choosing rules; those below judge them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.models import law
from benchmarks.models.cases import BANDWIDTH, CPU, SIZE
from benchmarks.models.law import Before, Case, Floats, Measured
from skelgen.forecasts import Samples
from skelgen.models.loads import NodeLoads, exactly, predict_under
from skelgen.models.model import Model, fit_model
from skelgen.models.runs import RunTable
from skelgen.pipeline.forecast import LoadHistories
from skelgen.pipeline.load_series import LoadSource
from skelgen.pipeline.model_loads import predict_over_forecast
from skelgen.trust import Interval

NODES = 8

#: Answers with loads that were measured afterwards, that were forecast, and nobody's.
FLOOR, AFTERWARDS, FORECAST, QUIET = (
    "floor: the law, loads measured",
    "model, loads measured",
    "model, loads forecast",
    "model, no load",
)


@dataclass(frozen=True, slots=True)
class Told:
    """An answer and what happened.

    Attributes
    ----------
    interval : Interval
        A floor has none: its ends are its middle [s].
    truth_s : float
    doubts : tuple of str
        Codes.
    """

    interval: Interval
    truth_s: float
    doubts: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """Relative [1]."""
        return abs(self.interval.p50 / self.truth_s - 1.0)

    @property
    def is_inside(self) -> bool:
        return self.interval.p5 <= self.truth_s <= self.interval.p95


def answers(seed: int, family: str) -> dict[str, list[Told]]:
    """Return the answers of a seed, by the loads that they were given."""
    random = np.random.default_rng([seed, *b"loads"])
    small = [Case(n, NODES) for n in np.linspace(3000, 7000, 17) for _ in range(2)]
    large = [Case(n, NODES) for n in np.linspace(7500, 12000, 20)]
    learnt = [law.run(random, one, loaded=True) for one in small]
    model = fit_model(_table(learnt), family)
    found: dict[str, list[Told]] = defaultdict(list)
    for case in large:
        run = law.run(random, case, loaded=True)
        before = law.before(random, run)
        assert before is not None
        for name, told in _told(model, run, before):
            found[name].append(told)
    return found


def _table(runs: Sequence[Measured]) -> RunTable:
    rows = [
        {"n": one.case.n, "cpu": one.average[0], "bandwidth": one.average[1]}
        for one in runs
    ]
    return RunTable.gather((SIZE, CPU, BANDWIDTH), rows, [one.time_s for one in runs])


def _told(model: Model, run: Measured, before: Before) -> Iterator[tuple[str, Told]]:
    floor = law.floor_s(run.case, run.average)
    yield FLOOR, Told(Interval(floor, floor, floor), run.time_s)
    at = {"n": run.case.n}
    cpu, bandwidth = map(exactly, run.average)
    for name, loads in (
        (AFTERWARDS, NodeLoads(cpu, bandwidth)),
        (QUIET, NodeLoads()),
    ):
        said = predict_under(model, at, loads, np.random.default_rng(0))
        yield name, Told(said.interval, run.time_s, tuple(d.code for d in said.doubts))
    quiet_s = sum(law.parts(run.case))
    loaded, _ = predict_over_forecast(model, at, _histories(before), quiet_s)
    codes = tuple(one.code for one in loaded.prediction.doubts)
    yield FORECAST, Told(loaded.prediction.interval, run.time_s, codes)


def _histories(before: Before) -> LoadHistories:
    def samples(kind: str, columns: Floats) -> tuple[Samples, ...]:
        return tuple(
            Samples(f"{kind}{i}", before.times, column)
            for i, column in enumerate(columns.T)
        )

    names = tuple(f"n{i}" for i in range(NODES))
    file = LoadSource(file=Path("simulated"))  # ends when it likes
    nodes, links = samples("n", before.nodes), samples("l", before.links)
    return LoadHistories(names, nodes, links, file)


def row(name: str, seeds: Sequence[Sequence[Told]]) -> str:
    """Write a row: of each seed the median error, then over seeds and runs."""
    medians = np.array([np.median([one.error for one in told]) for told in seeds])
    every = [one for told in seeds for one in told]
    inside = np.mean([one.is_inside for one in every])
    half = np.median([one.interval.half_width for one in every])
    doubted = np.mean([bool(one.doubts) for one in every])
    text = f"{name:32} {np.median(medians):7.1%} {medians.max():7.1%}"
    text += f" {np.mean([one.error for one in every]):7.1%}"
    if not half:
        return text
    return f"{text} {inside:7.1%} {half:7.1%} {doubted:7.1%}"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models loads")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--family", default="default")
    options = parser.parse_args(arguments)
    found: dict[str, list[list[Told]]] = defaultdict(list)
    for seed in range(options.first, options.first + options.seeds):
        for name, told in answers(seed, options.family).items():
            found[name].append(told)
    names = ("median", "worst", "mean", "inside", "half", "doubted")
    print(f"{'':32} " + " ".join(f"{one:>7}" for one in names))
    for name in (FLOOR, AFTERWARDS, FORECAST, QUIET):
        print(row(name, found[name]))
    every = [one for told in found[FORECAST] for one in told]
    codes = sorted({code for one in every for code in one.doubts})
    for code in codes:
        print(f"doubt {code}: {np.mean([code in one.doubts for one in every]):.0%}")
