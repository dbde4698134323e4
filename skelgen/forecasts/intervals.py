"""The 90 % interval of a forecast, from the errors of its postcasts.

Errors of neighbouring moments are alike, for their horizons overlap: a history holds
about as many independent errors as horizons. So errors are drawn in blocks as long as
the horizon, and the levels of the quantiles are those of so few errors: the next one is
below the k-th smallest of n independent ones with probability k / (n + 1).
"""

from __future__ import annotations

import math

import numpy as np

from skelgen.forecasts.thresholds import BEYOND_SMALLEST, OUTSIDE_SHARE, RESAMPLES
from skelgen.forecasts.types import Floats, Postcasts
from skelgen.trust import Interval


def interval(
    found: Postcasts,
    cells: int,
    limits: tuple[float, float],
    generator: np.random.Generator,
    *,
    moved: bool = True,
) -> Interval:
    """Return a forecast with its 90 % interval.

    Parameters
    ----------
    found : Postcasts
    cells : int
        Of the wanted horizon. Where experts were judged over fewer, errors are taken to
        grow with the root of the horizon.
    limits : (float, float)
        Smallest and largest value.
    generator : numpy.random.Generator
    moved : bool
        Move the forecast by the median error.

    References
    ----------
    Künsch 1989 (block bootstrap); Vovk 2005 (the level of the quantiles).
    """
    errors = found.truths - found.forecasts
    if len(errors) < 2:
        low, high = limits
        middle = min(max(found.forecast, low), high)
        return Interval(low, middle, high)
    span = float(found.positions[-1] - found.positions[0])
    independent = max(min(span / found.cells, len(errors)), 2.0)
    block = max(round(len(errors) / independent), 1)
    drawn = _drawn(errors, block, generator)
    middle = _level(drawn, 0.5)
    wider = math.sqrt(cells / found.cells)
    low = middle - wider * (middle - _tail(drawn, independent))
    high = middle + wider * (-_tail(-drawn[:, ::-1], independent) - middle)
    centre = middle if moved else 0.0
    ends = found.forecast + np.array([min(low, centre), centre, max(high, centre)])
    return Interval(*(float(end) for end in np.clip(ends, *limits)))


def _drawn(errors: Floats, block: int, generator: np.random.Generator) -> Floats:
    """Draw errors in blocks, as many as there are: sorted (resamples, errors)."""
    count = len(errors)
    blocks = -(-count // block)
    starts = generator.integers(0, count, (RESAMPLES, blocks, 1))
    rows = (starts + np.arange(block)).reshape(RESAMPLES, -1)[:, :count] % count
    return np.sort(errors[rows], axis=1)


def _level(drawn: Floats, level: float) -> float:
    """Return a quantile, averaged over resamples."""
    count = drawn.shape[1]
    place = min(max(level * count - 0.5, 0.0), count - 1.0)
    below = int(place)
    above = min(below + 1, count - 1)
    means = drawn[:, [below, above]].mean(axis=0)
    return float(means[0] + (place - below) * (means[1] - means[0]))


def _tail(drawn: Floats, independent: float) -> float:
    """Return the error below which 5 % of those to come are expected.

    Parameters
    ----------
    drawn : (resamples, errors) float64 array
        Sorted.
    independent : float
        As many of the errors are independent.
    """
    order = OUTSIDE_SHARE * (independent + 1.0)
    end = _level(drawn, (max(order, 1.0) - 0.5) / independent)
    if order >= 1.0:
        return end
    middle = _level(drawn, 0.5)
    return middle + (end - middle) * (1.0 + BEYOND_SMALLEST * (1.0 / order - 1.0))
