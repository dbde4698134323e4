"""Intervals for the median of a few runs, and for a product of such medians."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.trust.thresholds import SINGLE_RUN_SPREAD, UNKNOWN_TIME_FACTOR
from skelgen.trust.types import Interval

#: Seed of intervals: the same times give the same interval, in whatever order.
INTERVAL_SEED = 20050704
#: Draws for an interval; its ends then move by less than 1 % of its width.
DRAWS = 20_000

#: Standard error of a median over that of a mean, for large samples of normal
#: values sqrt(pi / 2); smaller samples are better, so this errs to the safe side.
MEDIAN_FACTOR = math.sqrt(math.pi / 2)


#: Standard deviation of the logarithm of a time that is only known from other parts of
#: the program.
UNKNOWN_SPREAD = math.log(UNKNOWN_TIME_FACTOR) / 1.645


def median_draws(
    values: Sequence[float],
    generator: np.random.Generator,
    *,
    spread: float | None = None,
    worth: int = 0,
) -> NDArray[np.float64]:
    """Draw where the true median of a few positive measurements may lie.

    A plain bootstrap of three values never leaves them and gives an interval that is
    far too narrow. The draws follow Student's t of the logarithms instead, whose
    heavy tails for few values are the small-sample correction.

    Parameters
    ----------
    values : sequence of float
        Measurements, all positive.
    generator : numpy.random.Generator
    spread : float, optional
        Relative standard deviation of one measurement [1], for a single value.
    worth : int
        How many measurements the given spread stands for beside those of several
        values, which say little about their own when they are two or three.

    Returns
    -------
    (draws,) float64 array
    """
    logs = [math.log(value) for value in values]
    middle, count = statistics.median(logs), len(logs)
    if count == 1:
        deviation = SINGLE_RUN_SPREAD if spread is None else spread
        return np.exp(middle + deviation * generator.standard_normal(DRAWS))
    freedom, squares = count - 1, (count - 1) * _variance(logs)
    if spread is not None:
        freedom, squares = freedom + worth, squares + worth * spread**2
    error = math.sqrt(squares / freedom / count)
    if count > 2:  # of two values the median is the mean
        error *= MEDIAN_FACTOR
    # The tails of t reach any number; the quantiles do not see where they are cut.
    shift = np.clip(error * generator.standard_t(freedom, DRAWS), -30.0, 30.0)
    return np.exp(middle + shift)


def error_of_mean_draws(
    error: float, freedom: float | None, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the truth over a measured mean [1].

    Parameters
    ----------
    error : float
        Standard error of the mean's logarithm [1].
    freedom : float or None
        Degrees of freedom by which the error is known; None: it is certain.
    generator : numpy.random.Generator
    """
    if freedom is None:
        return np.exp(error * generator.standard_normal(DRAWS))
    shift = error * generator.standard_t(freedom, DRAWS)
    return np.asarray(np.exp(np.clip(shift, -30.0, 30.0)))


def whole_draws(
    unmeasured: float, generator: np.random.Generator, *, spread: float = 0.0
) -> NDArray[np.float64]:
    """Draw a whole of which a part was not measured, as a share of its estimate [1].

    The part is taken to be slower by as much as the rest; it may be half or twice that.

    Parameters
    ----------
    unmeasured : float
        Share of the part [0 to 1].
    generator : numpy.random.Generator
    spread : float
        By how much measured parts differ from each other, where that is more [1].
    """
    deviation = max(UNKNOWN_SPREAD, spread)
    part = np.exp(deviation * generator.standard_normal(DRAWS))
    return np.asarray(1.0 - unmeasured + unmeasured * part, np.float64)


def relative_spread(*measured: Sequence[float]) -> float | None:
    """Return the standard deviation of one value as a share of its mean [1].

    Of several measurements the one that they share; None where each is one value.
    """
    freedom = sum(len(values) - 1 for values in measured)
    if not freedom:
        return None
    squares = 0.0
    for values in measured:
        logs = [math.log(value) for value in values]
        squares += (len(logs) - 1) * _variance(logs) if len(logs) > 1 else 0.0
    return math.sqrt(squares / freedom)


def _variance(values: Sequence[float]) -> float:
    """Return the variance of a sample; the exact one of `statistics` takes long."""
    return float(np.var(values, ddof=1))


def interval(draws: NDArray[np.float64], middle: float) -> Interval:
    """Return the 90 % interval of draws around a known median."""
    low, high = np.quantile(draws, [0.05, 0.95])
    return Interval(min(float(low), middle), middle, max(float(high), middle))
