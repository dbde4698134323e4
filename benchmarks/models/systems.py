"""Do intervals of a system with few runs contain what other runs there take?

``python -m benchmarks.models systems [--seeds 40] [--first 0] [--family default]``. A
model learns from 32 quiet runs of the law of `benchmarks.models.law` on one system. Few
runs are made on another one, where computation and messages take longer by factors that
may differ. It is asked for larger runs there. Noise is 3 % of a run on both.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.models import law
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import table_of
from skelgen.models.systems import carry

Row = dict[str, float]

LEARNT = [
    {"n": n, "nodes": p} for n in (2e3, 3e3, 4e3, 5e3) for p in (2.0, 4.0, 8.0, 16.0)
]
ASKED = [{"n": n, "nodes": p} for n in (3e3, 5e3, 8e3) for p in (4.0, 16.0, 32.0)]
NOISE = 0.03

#: Runs on the other system: far apart, and only small ones.
APART = [{"n": 2e3, "nodes": 2.0}, {"n": 3e3, "nodes": 16.0}, {"n": 5e3, "nodes": 8.0}]
SMALL = [{"n": 2e3, "nodes": 2.0}, {"n": 2e3, "nodes": 4.0}, {"n": 3e3, "nodes": 2.0}]


@dataclass(frozen=True, slots=True)
class System:
    """Another system: how much longer computation and messages take, and its runs."""

    computation: float
    messages: float
    runs: Sequence[Row]
    about: str


#: The first is the system that is learnt from: no other can be known better.
SYSTEMS = [System(1.0, 1.0, LEARNT, "all 32")] + [
    System(computation, messages, runs, about)
    for computation, messages in ((1.7, 1.7), (1.7, 1.0), (1.7, 3.0))
    for runs, about in (
        (APART, "3, far apart"),
        (SMALL, "3 small"),
        (SMALL[:2], "2 small"),
        (SMALL[:1], "1 small"),
    )
]


def _time(row: Row, computation: float = 1.0, messages: float = 1.0) -> float:
    work, sent, serial = law.parts(law.Case(row["n"], int(row["nodes"])))
    return computation * (work + serial) + messages * sent


def errors_on(
    system: System, family: str, seed: int
) -> list[tuple[float, bool, float, bool]]:
    """Return errors, whether intervals held, their half widths, whether doubted."""
    random = np.random.default_rng([seed, 21])
    slower = (system.computation, system.messages)

    def measured(row: Row, *factors: float) -> float:
        return _time(row, *factors) * float(random.lognormal(0.0, NOISE))

    rows = [*LEARNT, *LEARNT]
    other = table_of(rows, [measured(row) for row in rows])
    few = table_of(system.runs, [measured(row, *slower) for row in system.runs])
    if system.runs is LEARNT:
        model = fit_model(other, family)
    else:
        model = carry({"other": other}, few, family, "this").model
    found = []
    for row in ASKED:
        truth, said = measured(row, *slower), predict_with(model, row)
        one = said.interval
        inside = one.p5 <= truth <= one.p95
        error = abs(one.p50 / truth - 1.0)
        found.append((error, inside, one.half_width, bool(said.doubts)))
    return found


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models systems")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--family", default="default")
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.seeds)
    print(
        f"{'computation':>11} {'messages':>8} {'runs there':13} {'median':>7} "
        f"{'p90':>7} {'inside':>7} {'half':>6} {'doubted':>8}"
    )
    for system in SYSTEMS:
        each = [
            one for seed in seeds for one in errors_on(system, options.family, seed)
        ]
        errors, inside, half, doubted = np.array(each).T
        print(
            f"{system.computation:11.1f} {system.messages:8.1f} {system.about:13} "
            f"{np.median(errors):7.1%} {np.quantile(errors, 0.9):7.1%} "
            f"{inside.mean():7.1%} {np.median(half):6.0%} {doubted.mean():8.0%}",
            flush=True,
        )
