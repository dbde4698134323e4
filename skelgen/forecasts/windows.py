"""Means, medians and trimmed means of the newest cells, at many positions at once.

All functions take a history and positions in it. Position p stands for the moment at
which cells 0 to p are known; nothing after p is looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from skelgen.forecasts.thresholds import MEDIAN_UPDATES, RECENT_ERRORS
from skelgen.forecasts.types import Floats, Ints


def sums(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, ... cells."""
    return np.concatenate(([0.0], np.cumsum(values)))


def means(total: Floats, positions: Ints, width: int) -> Floats:
    """Return the mean of the newest cells, or of all where there are fewer.

    Parameters
    ----------
    total : (cells + 1,) float64 array
        From `sums`.
    positions : (positions,) int64 array
    width : int
        Cells in the window.
    """
    first = np.maximum(positions + 1 - width, 0)
    return np.asarray((total[positions + 1] - total[first]) / (positions + 1 - first))


def running_medians(values: Floats, positions: Ints) -> Floats:
    """Return the median of all cells so far, brought up to date 64 times."""
    ends = np.unique(
        np.linspace(positions[0], positions[-1], MEDIAN_UPDATES).astype(int)
    )
    order = np.argsort(values, kind="stable")
    found = np.empty(len(ends))
    for number, end in enumerate(ends):
        within = order[order <= end]
        middle = within[[end // 2, (end + 1) // 2]]
        found[number] = values[middle].mean()
    return found[np.searchsorted(ends, positions, side="right") - 1]


def ordered(values: Floats, positions: Ints, width: int) -> Floats:
    """Return the newest cells, sorted: a (positions, width) array.

    Every position has at least `width` cells.
    """
    return np.sort(sliding_window_view(values, width)[positions + 1 - width], axis=1)


def medians(cells: Floats) -> Floats:
    """Return the median of each row of `ordered` cells."""
    width = cells.shape[1]
    return np.asarray((cells[:, (width - 1) // 2] + cells[:, width // 2]) / 2)


def trimmed_means(cells: Floats, share: float) -> Floats:
    """Return the mean of each row without its smallest and largest cells.

    Parameters
    ----------
    cells : (positions, width) float64 array
        From `ordered`.
    share : float
        Left out at each end [0 to 0.5].
    """
    width = cells.shape[1]
    cut = min(round(share * width), (width - 1) // 2)
    return np.asarray(cells[:, cut : width - cut].mean(axis=1))


def adaptive(values: Floats, candidates: Floats, positions: Ints) -> Floats:
    """Return at each position the window that was best lately, one step ahead.

    Parameters
    ----------
    values : (cells,) float64 array
    candidates : (windows, cells) float64 array
        Forecast of each window after each cell.
    positions : (positions,) int64 array

    References
    ----------
    Wolski 1998, adaptive windows: there the width moves by one when that would have
    been better; here it is the best of a few over the last 20 errors.
    """
    errors = np.abs(values[1:] - candidates[:, :-1])
    total = np.cumsum(np.pad(errors, ((0, 0), (1, 0))), axis=1)
    recent = total[:, positions] - total[:, np.maximum(positions - RECENT_ERRORS, 0)]
    return np.asarray(candidates[recent.argmin(axis=0), positions])
