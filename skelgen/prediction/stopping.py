"""When further runs do not help: how many an interval takes that is narrow enough."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.thresholds import (
    FEWEST_RUNS,
    MOST_FURTHER_RUNS,
    OPTIMISTIC_CONFIDENCE,
)
from skelgen.prediction.types import Timed

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Outlook:
    """What further runs of a set would tell.

    Attributes
    ----------
    runs : SetRuns
        Those that were made.
    is_narrow : callable
        Says whether the interval of runs is narrow enough.
    """

    runs: SetRuns
    is_narrow: Callable[[SetRuns], bool]

    @property
    def is_enough(self) -> bool:
        """Return whether no further run is needed: disturbed ones are made again."""
        few = len(self.runs) < FEWEST_RUNS + self.runs.repeats
        return not few and self.is_narrow(self.runs)

    def is_hopeless(self, left_s: float) -> bool:
        """Say whether the interval stays too wide, whatever the time that is left.

        A few runs tell little about their spread, so the smallest one counts that they
        allow; only when that is too large there is no hope.

        Parameters
        ----------
        left_s : float
            Time in which further runs may begin [s].
        """
        if len(self.runs) < FEWEST_RUNS + self.runs.repeats:
            return False
        further = left_s / self.runs.cost_s
        if further > MOST_FURTHER_RUNS:
            return False
        most = len(self.runs) + max(0, math.floor(further))
        return not self.is_narrow(projected(self.runs, most, optimistic=True))

    def further_runs(self) -> int | None:
        """Return how many further runs it takes [1], None above a largest number.

        By the spread of those that were made.
        """
        made = len(self.runs)
        too_few, enough = made, 2 * made
        while not self.is_narrow(projected(self.runs, enough)):
            if enough > MOST_FURTHER_RUNS:
                return None
            too_few, enough = enough, 2 * enough
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self.is_narrow(projected(self.runs, middle)):
                enough = middle
            else:
                too_few = middle
        return enough - made


def projected(runs: SetRuns, count: int, *, optimistic: bool = False) -> SetRuns:
    """Return so many runs that differ as much as those that were made.

    Parameters
    ----------
    runs : SetRuns
        At least two.
    count : int
        As many, or more.
    optimistic : bool
        They differ as little as is likely after those that were made, and none that is
        added is disturbed.
    """
    slow = len(runs.disturbed)
    more_slow = 0 if optimistic or slow < 2 else slow * count // len(runs) - slow
    quiet = _spread_out(runs.undisturbed_s, count - slow - more_slow, optimistic)
    quick_s, slow_s = runs.quick_s, [runs.runs[number] for number in runs.disturbed]
    return SetRuns(
        (
            *(Timed(time_s, computed_s=quick_s) for time_s in quiet),
            *(slow_s[number % slow] for number in range(slow + more_slow)),
        )
    )


def _spread_out(
    times_s: tuple[float, ...], count: int, optimistic: bool
) -> list[float]:
    """Return times with the median and the spread of logarithms of a few [s]."""
    logs = [math.log(time_s) for time_s in times_s]
    middle, freedom = statistics.median(logs), len(logs) - 1
    spread = float(np.std(logs, ddof=1)) if freedom else 0.0
    if optimistic and freedom:
        spread *= math.sqrt(freedom / _chi_squared(OPTIMISTIC_CONFIDENCE, freedom))
    scores = [_NORMAL.inv_cdf((number + 0.5) / count) for number in range(count)]
    unit = float(np.std(scores, ddof=1)) if count > 1 else 1.0
    return [math.exp(middle + spread * score / unit) for score in scores]


def _chi_squared(probability: float, freedom: int) -> float:
    """Return a quantile of chi-squared, by Wilson and Hilferty's approximation.

    Examples
    --------
    >>> [round(_chi_squared(0.95, freedom), 1) for freedom in (2, 4, 9)]
    [5.9, 9.5, 16.9]
    """
    part = 2 / (9 * freedom)
    root = 1 - part + _NORMAL.inv_cdf(probability) * math.sqrt(part)
    return freedom * root**3
