"""Fit functions of the workload to six noisy points: the thesis' method against ours.

``python benchmarks/workload_models.py [--trials 300] [--noise 0.02]`` draws
measurements of known functions, of a size and of a size and steps, lets each method
choose the workloads and the function, and prints the 90th percentile over the trials of
the largest error over the whole range, the points and their cost (in runs of the
largest workload), and at how much of the range the 90 % interval holds.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models.families import FamilySettings
from skelgen.models.model import Model, fit_model
from skelgen.models.planning import Range, bisection, disagreement
from skelgen.models.runs import table_of

FUNCTIONS: dict[str, Callable[..., float]] = {
    "n": lambda n: n,
    "n log n": lambda n: n * math.log(n),
    "n^2": lambda n: n**2,
    "n^2.5": lambda n: n**2.5,
    "n^3": lambda n: n**3,
    "n^2 + 2e4 n": lambda n: n**2 + 2e4 * n,
    "n + 5000": lambda n: n + 5000,
    "n s": lambda n, s: n * s,
    "n log n s": lambda n, s: n * math.log(n) * s,
    "n^2 s": lambda n, s: n**2 * s,
    "n^2.5 s": lambda n, s: n**2.5 * s,
    "n^3 s": lambda n, s: n**3 * s,
    "n^2 + 100 n s": lambda n, s: n**2 + 100 * n * s,
}
#: What the accuracy asked for is about.
PURE = ("n", "n log n", "n^2", "n^2.5", "n^3")
PURE_OF_TWO = tuple(f"{name} s" for name in PURE)
RANGES = (3, 16, 100)
LOW = 1000
STEPS = Range("s", 10, 100)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial: errors are shares, cost is in runs of the largest workload."""

    largest_error: float
    points: int
    cost: float
    held: float


def trial(
    truth: Callable[..., float],
    spans: Sequence[Range],
    method: str,
    generator: np.random.Generator,
    *,
    noise: float = 0.02,
    most: int = 6,
) -> Outcome:
    """Let a method choose workloads and function, and compare it with the truth."""
    sizes: list[dict[str, float]] = []
    times: list[float] = []
    while len(sizes) < most:
        if method == "thesis":
            step = bisection(sizes, spans)
        else:
            step = disagreement(sizes, [[t] for t in times], spans)
        assert step.workload is not None
        sizes.append(step.workload)
        exact = truth(**step.workload)
        times.append(exact * math.exp(noise * generator.standard_normal()))
        if method == "thesis" and len(sizes) > 2:
            done = fitted(sizes, times, method)
            if all(one.code != "not-validated" for one in done.doubts):
                break
    model = fitted(sizes, times, method)
    values = [span.values(100 if len(spans) == 1 else 12) for span in spans]
    grid = np.array(list(itertools.product(*values)))
    at = {span.name: grid[:, i] for i, span in enumerate(spans)}
    exact_at = np.array([truth(*workload) for workload in grid])
    found = np.maximum(model.at(at), 1e-30)  # polynomials may be below 0
    width = model.half_width(at)
    return Outcome(
        float(np.abs(found / exact_at - 1.0).max()),
        len(sizes),
        sum(truth(**w) for w in sizes) / truth(*(span.high for span in spans)),
        float(np.mean(np.abs(np.log(found / exact_at)) <= width)),
    )


def fitted(
    sizes: Sequence[dict[str, float]], times: Sequence[float], method: str
) -> Model:
    settings = FamilySettings(thesis=method == "thesis")
    return fit_model(table_of(sizes, times), "workload", settings)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=300)
    options.add_argument("--noise", type=float, default=0.02)
    asked = options.parse_args()
    head = "| function | range | method | p50 | p90 | points | cost | interval holds |"
    print(head, "|---|---|---|---|---|---|---|---|", sep="\n")
    for name, spans, method in cases():
        generator = np.random.default_rng(7)
        outcomes = [
            trial(FUNCTIONS[name], spans, method, generator, noise=asked.noise)
            for _ in range(asked.trials)
        ]
        p50, p90 = np.quantile([one.largest_error for one in outcomes], [0.5, 0.9])
        points, cost, held = (
            float(np.mean([getattr(one, field) for one in outcomes]))
            for field in ("points", "cost", "held")
        )
        print(
            f"| {name} | {spans[0].high / LOW:g} times | {method} | {p50:.1%} | "
            f"{p90:.1%} | {points:.1f} | {cost:.2f} | {held:.0%} |"
        )


def cases() -> Iterator[tuple[str, tuple[Range, ...], str]]:
    for name in FUNCTIONS:
        more = (STEPS,) if name.endswith(" s") else ()
        for times in RANGES:
            for method in ("thesis", "ours"):
                yield name, (Range("n", LOW, LOW * times), *more), method


if __name__ == "__main__":
    main()
