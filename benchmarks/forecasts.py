"""How good are load forecasts, and how long does one take?

``python benchmarks/forecasts.py [--series 200] [--kinds judged|others]``

Six kinds of load, each forecast 10 minutes, 1 and 3 hours ahead from a week with one
sample per minute (``--step 10 --history 1`` for a day with one per 10 s). What is
forecast is the average over the horizon. Printed are, for each kind and horizon, the
best expert and its mean absolute error; that of the default and of NWS as published,
relative to it; and how often the 90 % intervals held. Then the error of each expert,
and the processor time of one forecast from 10,000 samples.

Rules were chosen on the other kinds, with other seeds: ``--kinds others --seed 1000``.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.forecasts import Method, Samples, forecast
from skelgen.forecasts.experts import extended

Floats = NDArray[np.float64]
#: A kind of load: so many cells, so many of them to a minute.
Kind = Callable[[np.random.Generator, int, float], Floats]
HORIZONS = {"10 min": 600.0, "1 h": 3600.0, "3 h": 10800.0}
METHODS: tuple[Method, ...] = ("default", "nws")
#: What the available share of a held load is drawn from, as in Yagnik 2006, section 4.
LOW, HIGH = 0.065, 0.72
#: Standard deviation of what a sensor adds to each sample.
NOISE = 0.02
DAY = 1440
START = 1.7e9


def holds(shortest: float, longest: float, levels: Sequence[float] = ()) -> Kind:
    """Hold random levels, or given ones in turn, for random times [minutes]."""

    def draw(random: np.random.Generator, cells: int, minute: float) -> Floats:
        drawn = np.round(random.uniform(shortest, longest, cells) * minute)
        lengths = np.maximum(drawn, 1).astype(np.int64)
        values = random.uniform(LOW, HIGH, cells)
        if levels:
            values = np.resize(levels, cells)
        skipped = random.integers(lengths[0])
        return np.repeat(values, lengths)[skipped : skipped + cells]

    return draw


def exponential(means: Sequence[float], levels: Sequence[float] = ()) -> Kind:
    """Hold levels for times without memory [minutes]."""

    def draw(random: np.random.Generator, cells: int, minute: float) -> Floats:
        drawn = np.round(random.exponential(np.resize(means, cells) * minute))
        lengths = np.maximum(drawn, 1).astype(np.int64)
        values = random.uniform(LOW, HIGH, cells)
        if levels:
            values = np.resize(levels, cells)
        return np.repeat(values, lengths)[:cells]

    return draw


def ar(coefficient: float, deviation: float = 0.12, mean: float = 0.4) -> Kind:
    """Draw an autoregressive process with this coefficient from minute to minute."""

    def draw(random: np.random.Generator, cells: int, minute: float) -> Floats:
        kept = coefficient ** (1.0 / minute)
        noise = random.standard_normal(cells)
        noise[1:] *= math.sqrt(1.0 - kept**2)
        values = itertools.accumulate(noise.tolist(), lambda y, x: kept * y + x)
        return mean + deviation * np.fromiter(values, float)

    return draw


def daily(swing: Callable[[Floats], Floats], around: Kind) -> Kind:
    """Add a pattern of the time of day [0 to 1] to a process."""

    def draw(random: np.random.Generator, cells: int, minute: float) -> Floats:
        days = np.arange(cells) / (DAY * minute) + random.random()
        return swing(days % 1.0) + around(random, cells, minute)

    return draw


def mixed(*kinds: Kind) -> Kind:
    """Take the mean of several kinds."""

    def draw(random: np.random.Generator, cells: int, minute: float) -> Floats:
        parts = [kind(random, cells, minute) for kind in kinds]
        return np.asarray(np.mean(parts, axis=0), np.float64)

    return draw


JUDGED: dict[str, Kind] = {
    "held 3 to 8 min": holds(3, 8),
    "held 30 to 90 min": holds(30, 90),
    "held 2 to 6 h": holds(120, 360),
    "AR .95": ar(0.95),
    "AR .995": ar(0.995),
    "daily": daily(
        lambda day: 0.45 + 0.2 * np.sin(2 * np.pi * day), ar(0.95, 0.08, 0.0)
    ),
}
OTHERS: dict[str, Kind] = {
    "held 1 to 3 min": holds(1, 3),
    "held 10 to 20 min": holds(10, 20),
    "held 60 to 150 min": holds(60, 150),
    "held 8 to 24 h": holds(480, 1440),
    "without memory, 45 min": exponential([45]),
    "busy 20, free 60 min": exponential([20, 60], [0.2, 0.9]),
    "AR .8": ar(0.8),
    "AR .98": ar(0.98),
    "AR .999": ar(0.999),
    "working hours": daily(
        lambda day: np.where((day > 0.375) & (day < 0.75), 0.25, 0.75),
        ar(0.99, 0.08, 0.0),
    ),
    "held and AR": mixed(holds(3, 8), ar(0.99, 0.15)),
}


@dataclass(slots=True)
class Cell:
    """What was found for a kind and a horizon: lists with an entry for each series."""

    errors: dict[str, list[float]] = field(default_factory=dict)
    held: dict[str, list[bool]] = field(default_factory=dict)
    widths: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, error: float) -> None:
        """Keep an absolute error."""
        self.errors.setdefault(name, []).append(error)

    @property
    def means(self) -> dict[str, float]:
        """Return the mean absolute error of each expert and method."""
        return {name: float(np.mean(all_)) for name, all_ in self.errors.items()}

    @property
    def best(self) -> str:
        """Return the expert with the smallest error."""
        found = {k: v for k, v in self.means.items() if k not in METHODS}
        return min(found, key=lambda name: found[name])


def series(kind: Kind, seed: Sequence[int], cells: int, step_s: float) -> Floats:
    """Draw what a sensor would say of a load."""
    random = np.random.default_rng(seed)
    found = kind(random, cells, 60.0 / step_s)
    return np.clip(found + NOISE * random.standard_normal(cells), 0.0, 1.0)


def judge(cell: Cell, values: Floats, cells: int, options: argparse.Namespace) -> None:
    """Forecast the end of a series from its beginning, by all methods and experts.

    Parameters
    ----------
    cell : Cell
        Is added to.
    values : (samples,) float64 array
    cells : int
        Samples in the horizon.
    options : argparse.Namespace
    """
    known, truth = values[:-cells], float(values[-cells:].mean())
    times = np.asarray(START + options.step * np.arange(len(known)), np.float64)
    for method in METHODS:
        found = forecast(
            [Samples("n1", times, known)],
            options.step * cells,
            generator=np.random.default_rng(0),
            method=method,
        ).interval
        cell.note(method, abs(found.p50 - truth))
        cell.held.setdefault(method, []).append(found.p5 <= truth <= found.p95)
        cell.widths.setdefault(method, []).append(found.p95 - found.p5)
    day = round(86400 / options.step)
    last = np.array([len(known) - 1])
    days = day if len(known) >= 7 * day else None
    for name, value in extended(known, last, cells, days):
        cell.note(name, abs(float(value[0]) - truth))


def run(
    kinds: Mapping[str, Kind], options: argparse.Namespace
) -> Iterator[tuple[str, str, Cell]]:
    """Yield what was found for each kind and horizon."""
    history = round(options.history * 86400 / options.step)
    for number, (name, kind) in enumerate(kinds.items()):
        for horizon, horizon_s in HORIZONS.items():
            cell, cells = Cell(), round(horizon_s / options.step)
            for one in range(options.series):
                seed = [options.seed + one, number]
                values = series(kind, seed, history + cells, options.step)
                judge(cell, values, cells, options)
            yield name, horizon, cell


def row(kind: str, horizon: str, cell: Cell) -> str:
    """Write a line of the table of methods."""
    means, best = cell.means, cell.means[cell.best]
    parts = [kind, horizon, f"{best:.4f}", cell.best]
    parts += [f"{means[method] / best:.2f}" for method in METHODS]
    for method in METHODS:
        parts.append(f"{np.mean(cell.held[method]):.1%}")
    parts.append(f"{np.mean(cell.widths['default']):.3f}")
    return f"| {' | '.join(parts)} |"


def time_ms(method: Method, repeats: int = 20) -> float:
    """Return the smallest processor time of one forecast from 10,000 samples [ms]."""
    values = series(JUDGED["AR .995"], [1, 1], 10_000, 60.0)
    times = np.asarray(START + 60.0 * np.arange(10_000), np.float64)
    samples = Samples("n1", times, values)
    taken = []
    for _ in range(repeats):
        random = np.random.default_rng(0)
        begin = time.process_time()
        forecast([samples], 3600.0, generator=random, method=method)
        taken.append(time.process_time() - begin)
    return 1e3 * min(taken)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=200, help="of each kind")
    parser.add_argument("--kinds", choices=("judged", "others"), default="judged")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--step", type=float, default=60.0, help="between samples [s]")
    parser.add_argument("--history", type=float, default=7.0, help="length [days]")
    options = parser.parse_args()
    kinds = JUDGED if options.kinds == "judged" else OTHERS
    print(
        "| load | horizon | error of the best expert | best expert | default | NWS | "
        "held, default | held, NWS | width, default |\n" + "|---" * 9 + "|"
    )
    found = []
    for kind, horizon, cell in run(kinds, options):
        found.append((kind, horizon, cell))
        print(row(kind, horizon, cell), flush=True)
    worst = {m: max(c.means[m] / c.means[c.best] for _, _, c in found) for m in METHODS}
    print("\nworst: " + ", ".join(f"{m} {value:.2f}" for m, value in worst.items()))
    print("\n| expert | " + " | ".join(f"{k}, {h}" for k, h, _ in found) + " |")
    print("|---" * (len(found) + 1) + "|")
    for name in found[0][2].errors:
        ratios = [c.means.get(name, math.nan) / c.means[c.best] for _, _, c in found]
        print(f"| {name} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
    for method in METHODS:
        print(f"\none forecast from 10,000 samples, {method}: {time_ms(method):.1f} ms")


if __name__ == "__main__":
    main()
