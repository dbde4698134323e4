"""Choose the level of the loop nest by the expected error of what is then measured.

Phases are strata of the occurrences: of N_h in phase h the first few are measured, and
stand for all. What that costs is the time until they have run. The measure of a level
is error² x cost, which does not depend on how much is measured; the error has what no
choice removes, the machine's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import rows_by
from skelgen.phases.strata import Divided
from skelgen.phases.thresholds import (
    BETTER_BY,
    COLD_OCCURRENCES,
    MACHINE_SPREAD,
    MEASURED_SHARE,
    REACHED_SHARE,
)
from skelgen.phases.types import NestLevel
from skelgen.trust.intervals import UNKNOWN_SPREAD


@dataclass(frozen=True, slots=True)
class ExpectedSample:
    """What is expected of measuring phases.

    Attributes
    ----------
    error : float
        Standard error of the application's time over that time [1].
    cost : float
        Share of the application's time until all is measured [0 to 1].
    phases, occurrences : int
        Relevant phases, and their occurrences.
    """

    error: float
    cost: float
    phases: int
    occurrences: int

    @property
    def merit(self) -> float:
        """Return error² x cost, the smaller the better."""
        return (MACHINE_SPREAD**2 + self.error**2) * max(self.cost, MEASURED_SHARE)


@dataclass(frozen=True, slots=True)
class _Stratum:
    """A relevant phase: how long its occurrences take, and when they end [1].

    Of phases of a group one is enough: the others are scaled as it is. The first
    occurrences of a structure are cold; those of all its phases warm the others up.
    """

    group: tuple[int, str]
    shares: NDArray[np.float64]
    ends: NDArray[np.float64]
    cold: NDArray[np.bool_]

    @property
    def share(self) -> float:
        return float(self.shares.sum())

    def variance(self, until: float) -> float:
        """Return that of the sum, known from occurrences that end before a time."""
        whole = len(self.shares)
        measured = int(np.searchsorted(self.ends, until, "right"))
        if measured == 0:
            return (UNKNOWN_SPREAD * self.share) ** 2
        warm = self.shares[~self.cold] if whole > COLD_OCCURRENCES + 1 else np.zeros(0)
        if not len(warm):
            return 0.0
        # Neighbours have a slow second in common: means of as many in a row.
        rows = len(warm) // measured
        means = warm[: rows * measured].reshape(rows, measured).mean(axis=1)
        of_mean = max(float(warm.var()) / measured, float(means.var()))
        return whole**2 * of_mean * (1 - measured / whole)


def sample(
    divided: Divided, time_share: NDArray[np.float64], relevance: float
) -> ExpectedSample:
    """Tell what measuring the phases of a run costs, and how well that is known.

    Parameters
    ----------
    divided : Divided
    time_share : (o,) float64 array
        Time of each occurrence as a share of the application's [1].
    relevance : float
        Phases with less of the time are not measured [0 to 1].

    References
    ----------
    Cochran 1977, Sampling Techniques, chapter 5: the variance of a stratified sum.
    """
    end, cold = np.cumsum(time_share), _cold(divided)
    strata = []
    groups = zip(divided.structure, divided.stratum, strict=True)
    for rows, group in zip(rows_by(divided.phase), groups, strict=True):
        if time_share[rows].sum() >= relevance:
            warm = rows[~cold[rows]]
            ends = end[warm if len(warm) else rows]
            strata.append(_Stratum(group, time_share[rows], ends, cold[rows]))
    until = max(MEASURED_SHARE, _reached(strata))
    known = math.fsum(one.share for one in strata)
    variance = math.fsum(one.variance(until) for one in strata)
    rest = UNKNOWN_SPREAD * max(0.0, 1.0 - known)
    return ExpectedSample(
        math.sqrt(variance + rest**2),
        until,
        len(strata),
        sum(len(one.shares) for one in strata),
    )


def _cold(divided: Divided) -> NDArray[np.bool_]:
    """Say which occurrences are the first ones of their structure."""
    found = np.zeros(len(divided.phase), np.bool_)
    for rows in rows_by(np.array(divided.structure)[divided.phase]):
        found[rows[:COLD_OCCURRENCES]] = True
    return found


def _reached(strata: Sequence[_Stratum]) -> float:
    """Return when groups with most of the time have been measured [1]."""
    shares: dict[tuple[int, str], float] = {}
    for one in strata:
        shares[one.group] = shares.get(one.group, 0.0) + one.share
    enough, reached = REACHED_SHARE * math.fsum(shares.values()), 0.0
    until = 0.0
    for one in sorted(strata, key=lambda one: float(one.ends[0])):
        if reached >= enough:
            break
        if one.group in shares:
            reached += shares.pop(one.group)
            until = float(one.ends[0])
    return until


def best(samples: Sequence[ExpectedSample]) -> int:
    """Choose among the levels of a nest, the coarsest of which comes first.

    Examples
    --------
    >>> step, long_step = (ExpectedSample(0.02, cost, 1, 20) for cost in (0.1, 0.5))
    >>> sweep = ExpectedSample(0.02, 0.06, 1, 400)
    >>> best([step, sweep]), best([long_step, sweep])
    (0, 1)
    """
    limit = BETTER_BY * min(one.merit for one in samples)
    return next(at for at, one in enumerate(samples) if one.merit <= limit)


def neighbours(
    longest: Sequence[float], samples: Sequence[ExpectedSample], chosen: int
) -> tuple[NestLevel, ...]:
    """Return the chosen level between the next coarser and the next finer one."""
    return tuple(
        NestLevel(
            longest=longest[at],
            phases=samples[at].phases,
            occurrences=samples[at].occurrences,
            error=samples[at].error,
            cost=samples[at].cost,
            chosen=at == chosen,
        )
        for at in range(max(chosen - 1, 0), min(chosen + 2, len(samples)))
    )
