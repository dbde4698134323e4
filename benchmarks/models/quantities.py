"""Do intervals of speedups contain what runs give?

``python -m benchmarks.models quantities [--seeds 40] [--first 0] [--family default]``.
A model learns from quiet runs of the law of `benchmarks.models.law` on few nodes. It is
asked for times and for speedups of runs on more nodes. A speedup is compared with the
quotient of two single runs. An efficiency has the same relative errors and intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.models import law
from skelgen.models.derived import predict_quantity
from skelgen.models.model import fit_model
from skelgen.models.quantities import Quantity, QuantityKind
from skelgen.models.runs import table_of

Row = dict[str, float]

#: Sizes and nodes to learn from, twice each; and to predict.
LEARNT = [
    {"n": n, "nodes": p} for n in (2e3, 3e3, 4e3, 5e3) for p in (2.0, 4.0, 8.0, 16.0)
]
ASKED = [{"n": n, "nodes": p} for n in (3e3, 5e3, 8e3) for p in (8.0, 16.0, 32.0, 64.0)]
KINDS = (QuantityKind.TIME, QuantityKind.SPEEDUP)


def _measured(random: np.random.Generator, row: Row) -> float:
    case = law.Case(row["n"], int(row["nodes"]))
    return float(law.run(random, case, loaded=False).time_s)


def errors_of(
    family: str, seed: int
) -> dict[QuantityKind, list[tuple[float, bool, float]]]:
    """Return of each quantity the errors, whether the interval held, its half width."""
    random = np.random.default_rng([seed, 20])
    rows = [*LEARNT, *LEARNT]
    model = fit_model(table_of(rows, [_measured(random, row) for row in rows]), family)
    found: dict[QuantityKind, list[tuple[float, bool, float]]] = {k: [] for k in KINDS}
    for row in ASKED:
        time = _measured(random, row)
        there = _measured(random, {**row, "nodes": 2.0})
        for kind, truth in zip(KINDS, (time, there / time), strict=True):
            said = predict_quantity(model, Quantity(kind), row).interval
            error = abs(said.p50 / truth - 1.0)
            found[kind].append((error, said.p5 <= truth <= said.p95, said.half_width))
    return found


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models quantities")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--family", action="append")
    options = parser.parse_args(arguments)
    print(
        f"{'family':12} {'quantity':9} {'median':>7} {'p90':>7} {'inside':>7} "
        f"{'half':>6}"
    )
    for family in options.family or ("default", "normal-form", "power"):
        each = [
            errors_of(family, seed)
            for seed in range(options.first, options.first + options.seeds)
        ]
        for kind in KINDS:
            errors, inside, half = np.array([one for e in each for one in e[kind]]).T
            print(
                f"{family:12} {kind:9} {np.median(errors):7.1%} "
                f"{np.quantile(errors, 0.9):7.1%} {inside.mean():7.1%} "
                f"{np.median(half):6.0%}",
                flush=True,
            )
