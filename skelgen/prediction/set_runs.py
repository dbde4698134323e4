"""Runs of a skeleton on one node set, and what disturbed some of them.

A run is disturbed when its own computation takes longer than that of the quick runs of
its set: something else had the cores or their caches. Where that comes rarely, a run of
a few seconds meets it by chance and the application hardly notices. Where it comes
often, it is the state of the nodes and the application meets its share of it. So time
is undisturbed time, and what disturbances add by their share of the runs: the first one
counts nothing, the more there are the more each counts. The interval has the share that
it could be.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from skelgen.prediction.thresholds import (
    DISTURBED_FACTOR,
    LEAST_DISTURBED_SHARE,
    MOST_RUNS_AGAIN,
    UNDISTURBED_ASSUMED,
)
from skelgen.prediction.types import Timed, Times
from skelgen.trust import intervals
from skelgen.trust.intervals import interval, median_draws
from skelgen.units import format_seconds


@dataclass(frozen=True)
class SetRuns:
    """Runs of one skeleton on one node set, in the order in which they ended.

    Attributes
    ----------
    runs : tuple of Timed
    """

    runs: tuple[Timed, ...]

    @classmethod
    def of(cls, times_s: Sequence[float]) -> Self:
        """Return runs of which nothing but their times is known [s]."""
        return cls(tuple(map(Timed, times_s)))

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def times_s(self) -> tuple[float, ...]:
        """Return the time of each run [s]."""
        return tuple(run.time_s for run in self.runs)

    @cached_property
    def computed_s(self) -> tuple[float | None, ...]:
        """Return the computation of each run [s]."""
        return tuple(run.computed_s for run in self.runs)

    @cached_property
    def cost_s(self) -> float:
        """Return what a run costs, launching included, median of the runs [s]."""
        return statistics.median(run.cost_s for run in self.runs)

    @cached_property
    def spent_s(self) -> float:
        """Return what all runs took, launching included [s]."""
        return math.fsum(run.cost_s for run in self.runs)

    @cached_property
    def quick_s(self) -> float | None:
        """Return how long quick runs compute [s]: a third of the runs is as quick.

        None where a run does not say how long it computed, or quick runs lost all of
        it to others: no run can be said to take so many times as long.
        """
        known = sorted(one for one in self.computed_s if one is not None)
        complete = known and len(known) == len(self.runs)
        return (known[(len(known) - 1) // 3] or None) if complete else None

    @cached_property
    def disturbed(self) -> tuple[int, ...]:
        """Return which runs computed longer than the quick ones, from 0."""
        if (quick_s := self.quick_s) is None:
            return ()
        return tuple(
            number
            for number, run in enumerate(self.runs)
            if (computed_s := run.computed_s or 0.0) > DISTURBED_FACTOR * quick_s
            and computed_s - quick_s > LEAST_DISTURBED_SHARE * run.time_s
        )

    @property
    def is_busy(self) -> bool:
        """Return whether so many runs are disturbed that it is no exception."""
        return 2 * len(self.disturbed) >= len(self.runs)

    @property
    def repeats(self) -> int:
        """Return how many runs are to be made again."""
        return min(len(self.disturbed), MOST_RUNS_AGAIN)

    @cached_property
    def undisturbed_s(self) -> tuple[float, ...]:
        """Return the times of the runs that nothing disturbed [s]."""
        return tuple(
            run_s
            for number, run_s in enumerate(self.times_s)
            if number not in self.disturbed
        )

    @cached_property
    def excess(self) -> float:
        """Return by how much longer a disturbed run takes than the others [1]."""
        if not self.disturbed:
            return 0.0
        mean_s = statistics.fmean(self.times_s[number] for number in self.disturbed)
        return max(0.0, mean_s / statistics.median(self.undisturbed_s) - 1)

    @property
    def typical_s(self) -> float:
        """Return the time that a longer run would take for as much work [s]."""
        counted = max(len(self.disturbed) - 1, 0) / max(len(self) - 1, 1)
        return statistics.median(self.undisturbed_s) * (1 + counted * self.excess)

    def longer(self, generator: np.random.Generator) -> Times:
        """Draw how much longer runs take than those that nothing disturbed [1]."""
        if not (count := len(self.disturbed)):
            return 1.0
        others = len(self) - count + UNDISTURBED_ASSUMED
        share = generator.beta(count, others, intervals.DRAWS)
        slow_s = [self.times_s[number] for number in self.disturbed]
        error = float(np.std(slow_s, ddof=1)) / math.sqrt(count) if count > 1 else 0.0
        error /= statistics.median(self.undisturbed_s)
        excess = self.excess + error * generator.standard_normal(intervals.DRAWS)
        return np.asarray(1 + share * np.maximum(excess, 0.0), np.float64)

    def half_width(self, generator: np.random.Generator) -> float:
        """Return half the 90 % interval of the typical time as a share of it [1]."""
        draws = median_draws(self.undisturbed_s, generator) * self.longer(generator)
        return interval(draws, self.typical_s).half_width

    def notes(self, planned_s: float | None) -> tuple[str, ...]:
        """Say which runs were disturbed, in one sentence where there were any.

        Parameters
        ----------
        planned_s : float or None
            Computation as the skeleton plans it [s].
        """
        if not self.disturbed or self.quick_s is None:
            return ()
        computed_s = statistics.fmean(
            self.runs[number].computed_s or 0.0 for number in self.disturbed
        )
        longer = f"{computed_s / self.quick_s:.2f} times as long as the others"
        planned = "" if planned_s is None else f", planned {format_seconds(planned_s)}"
        how = f"computed {longer} ({format_seconds(computed_s)}{planned})"
        count, among = len(self.disturbed), len(self)
        if self.is_busy:
            return (f"{count} of {among} runs {how}: the nodes are busy; all count",)
        numbers = ", ".join(str(number + 1) for number in self.disturbed)
        if count == 1:
            said = f"run {numbers} of {among} was disturbed: it {how}"
            return (f"{said}; it hardly counts",)
        said = f"runs {numbers} of {among} were disturbed: they {how}"
        return (f"{said}; they count less than the others",)
