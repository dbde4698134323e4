"""Patterns that come back every day."""

from __future__ import annotations

import numpy as np

from skelgen.forecasts.autoregression import first_order
from skelgen.forecasts.thresholds import DAYS_AVERAGED, USUAL_PART_OF_DAY
from skelgen.forecasts.types import Floats, Ints
from skelgen.forecasts.windows import sums


def usual(values: Floats, positions: Ints, horizon: int, day: int) -> Floats:
    """Return the mean over the horizon at the same time of the days before.

    Parameters
    ----------
    values : (cells,) float64 array
    positions : (positions,) int64 array
    horizon, day : int
        Cells.

    Returns
    -------
    (positions,) float64 array
        Not a number where no day before is known.
    """
    total = sums(values)
    found, days = np.zeros(len(positions)), np.zeros(len(positions))
    nearest = -(-horizon // day)  # of a horizon beyond a day nothing is known before
    for back in range(nearest, nearest + DAYS_AVERAGED):
        first = positions + 1 - back * day
        there = first >= 0
        ends = np.where(there, first + horizon, 0)
        starts = np.where(there, first, 0)
        found += (total[ends] - total[starts]) / horizon
        days += there
    return np.divide(found, days, out=np.full_like(found, np.nan), where=days > 0)


def usual_and_away(values: Floats, positions: Ints, horizon: int, day: int) -> Floats:
    """Return `usual`, and how far the load is away from it now, faded as by AR(1)."""
    width = max(round(day * USUAL_PART_OF_DAY), 1)
    cells = np.arange(day + width // 2, len(values), dtype=np.int64)
    away = values[cells] - usual(values, cells - width // 2 - 1, width, day)
    own = positions - cells[0]
    found = usual(values, positions, horizon, day)
    there = own >= 2
    found[there] += first_order(away, own[there], horizon)
    return np.where(there, found, np.nan)
