"""Does it help to weigh disturbed runs down, and what does stopping early cost?

``python benchmarks/disturbed_runs.py [--trials 200] [--long 20] [--bound 0.05]``

Simulates nodes where loads come and go at random: computation takes 1.3 to 1.7 times
as long while one is there. A skeleton of 1 s runs as often as `predict` lets it, then
the application runs, `--long` times as long. Each scenario is predicted three times
by the same rules: from the times alone, from times and computation, and so that runs
are given up where the bound is out of reach. For each the
table has the mean error of the predicted time, how many of the 90 % intervals hold the
application's time (no error of the method is in them), half their width, their score
(width and what is missed; less is better), and the runs that were made. Every trial has
a seed of its own, so all columns meet the same loads, and every call prints the same.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.prediction.campaign import campaign
from skelgen.prediction.stopping import Outlook
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials
from skelgen.prediction.types import Prediction, Timed
from skelgen.trust import intervals
from tests.known_skeleton import FACTS
from tests.method_errors import ERRORS

#: Least and largest slowdown of a load [1].
SLOWDOWN = (1.3, 1.7)
#: What launching a run takes [s].
LAUNCH_S = 0.2
#: How long loads are drawn [s].
HORIZON_S = 400.0
#: Runs for which the budget suffices.
MOST_RUNS = 40


@dataclass(frozen=True, slots=True)
class Load:
    """Loads that come and go.

    Attributes
    ----------
    name : str
    share : float
        Of the time in which there is one [0 to 1].
    length_s : float
        Mean length of one [s].
    noise : float
        Spread of a run's time beside it [1].
    """

    name: str
    share: float
    length_s: float = 1.0
    noise: float = 0.015


RARE = (Load("rare, short", 0.02, 0.3), Load("rare", 0.02), Load("less rare", 0.05))
BUSY = (
    Load("a fifth, short", 0.2, 0.2),
    Load("a fifth", 0.2),
    Load("a fifth, long", 0.2, 5.0),
    Load("half, short", 0.5, 0.2),
    Load("half", 0.5),
    Load("half, long", 0.5, 5.0),
)
STEADY = (Load("quiet", 0.0), Load("always", 1.0), Load("noisy", 0.0, noise=0.2))


@dataclass(slots=True)
class Machine(Trials):
    """Nodes with a load, on a clock of their own.

    Attributes
    ----------
    load : Load
    generator : numpy.random.Generator
    says : bool
        Whether runs say how long they computed.
    now_s : float
    """

    load: Load = STEADY[0]
    generator: np.random.Generator = field(default_factory=np.random.default_rng)
    says: bool = True
    now_s: float = 0.0
    times_s: list[float] = field(default_factory=list)
    work_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = lambda: self.now_s
        self.times_s, self.work_s = [0.0], [0.0]
        busy = self.generator.random() < self.load.share
        while self.times_s[-1] < HORIZON_S:
            self._add(busy=busy)
            busy = not busy
        self.now_s = float(self.generator.uniform(0, 20.0))

    def _add(self, *, busy: bool) -> None:
        """Add a stretch with a load or without one."""
        share, mean_s = self.load.share, self.load.length_s
        if 0 < share < 1:
            mean_s *= 1.0 if busy else (1 - share) / share
            length_s = float(self.generator.exponential(mean_s))
        else:
            length_s = HORIZON_S if busy == (share > 0) else 0.0
        slow = float(self.generator.uniform(*SLOWDOWN)) if busy else 1.0
        self.times_s.append(self.times_s[-1] + length_s)
        self.work_s.append(self.work_s[-1] + length_s / slow)

    def run_s(self, work_s: float) -> float:
        """Return how long so much work takes from now on [s]."""
        done_s = float(np.interp(self.now_s, self.times_s, self.work_s))
        end_s = float(np.interp(done_s + work_s, self.work_s, self.times_s))
        took_s = end_s - self.now_s
        self.now_s = end_s + LAUNCH_S
        return took_s

    def make(self, program: TrialProgram, sets: Iterable[NodeSet], count: int) -> None:
        """Run the skeleton once more on each set."""
        for hosts in sets:
            time_s = self.run_s(1.0)
            noise = math.exp(self.load.noise * self.generator.standard_normal())
            run = Timed(
                time_s * noise,
                computed_s=0.9 * time_s if self.says else None,
                took_s=time_s + LAUNCH_S,
            )
            self.runs.setdefault((program.binary, hosts), []).append(run)


@dataclass(frozen=True, slots=True)
class Program:
    """A skeleton of 1 s that nothing but a `Machine` runs."""

    facts: Any
    binary: Path = Path("skeleton")
    mpi: str = FACTS.mpi
    doubts: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """One prediction and what happened then.

    Attributes
    ----------
    found : Prediction
    truth_s : float
        Time of the application [s].
    spent_s : float
        What the runs took [s].
    """

    found: Prediction
    truth_s: float
    spent_s: float

    @property
    def error(self) -> float:
        """Return how far the prediction is off [1]."""
        return abs(self.found.time_s.p50 / self.truth_s - 1)

    @property
    def score(self) -> float:
        """Return the interval's score [1]: its width and misses; less is better.

        References
        ----------
        Gneiting and Raftery 2007, section 6.2: an interval of 90 % costs its width and
        20 times what it misses the truth by.
        """
        low, high = self.found.measured_s.p5, self.found.measured_s.p95
        missed_s = max(low - self.truth_s, self.truth_s - high, 0.0)
        return (high - low + 20 * missed_s) / self.truth_s

    @property
    def holds(self) -> bool:
        """Return whether the measured interval holds the truth."""
        return self.found.measured_s.p5 <= self.truth_s <= self.found.measured_s.p95


def trial(
    load: Load, seed: int, *, says: bool, long: float, bound: float, runs: int
) -> Trial:
    """Predict an application and run it."""
    machine = Machine(load=load, generator=np.random.default_rng(seed), says=says)
    facts = replace(FACTS, calibration=None, application_s=long, expected_s=1.0)
    begin_s = machine.now_s
    (found,), _ = campaign(
        Program(facts),  # type: ignore[arg-type]
        [()],
        machine,
        budget_s=runs * (1.0 + LAUNCH_S),
        interval_bound=bound,
        errors=ERRORS,
        generator=np.random.default_rng(seed),
    )
    spent_s, truth_s = machine.now_s - begin_s, machine.run_s(long)
    noise = load.noise**2 / 2  # of many short parts the mean counts
    return Trial(found, truth_s * math.exp(noise), spent_s)


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of all trials of a scenario: see the columns of the table."""

    error: float
    holds: float
    score: float
    half_width: float
    runs: float
    spent_s: float

    def __str__(self) -> str:
        known = f"{self.error:5.1%} {self.holds:4.0%} {self.half_width:6.1%}"
        return f"{known} {self.score:5.2f} {self.runs:5.1f}"


def summary(
    load: Load,
    trials: int,
    *,
    says: bool = True,
    gives_up: bool = True,
    long: float = 20.0,
    bound: float = 0.05,
    runs: int = MOST_RUNS,
) -> Summary:
    """Predict so many applications under one kind of load."""
    with ExitStack() as stack:
        if not gives_up:
            stack.enter_context(patch.object(Outlook, "is_hopeless", lambda *_: False))
        made = [
            trial(load, seed, says=says, long=long, bound=bound, runs=runs)
            for seed in range(trials)
        ]
    widths = [one.found.measured_s.half_width for one in made]
    return Summary(
        error=float(np.mean([one.error for one in made])),
        holds=float(np.mean([one.holds for one in made])),
        score=float(np.mean([one.score for one in made])),
        half_width=float(np.mean(widths)),
        runs=float(np.mean([len(one.found.runs_s) for one in made])),
        spent_s=float(np.mean([one.spent_s for one in made])),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--long", type=float, default=20.0)
    parser.add_argument("--bound", type=float, default=0.05)
    given = parser.parse_args(arguments)
    same = {"long": given.long, "bound": given.bound}
    columns = "error hold  width score  runs"
    names = ("times alone", "with computation", "and giving up")
    print(f"{'load':16}" + "".join(f" | {name:{len(columns)}}" for name in names))
    print(f"{'':16}" + f" | {columns}" * len(names))
    intervals.DRAWS = 1000
    for load in (*STEADY, *RARE, *BUSY):
        alone = summary(load, given.trials, says=False, gives_up=False, **same)
        both = summary(load, given.trials, gives_up=False, **same)
        early = summary(load, given.trials, **same)
        print(f"{load.name:16} | {alone} | {both} | {early}", flush=True)


if __name__ == "__main__":
    main()
