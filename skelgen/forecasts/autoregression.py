"""Autoregression: forecasts of the mean over a horizon from the newest cells."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from skelgen.forecasts.thresholds import AUTOREGRESSION_UPDATES
from skelgen.forecasts.types import Floats, Ints
from skelgen.forecasts.windows import sums

#: Largest coefficient of AR(1): beyond it the last cell would not fade at all.
_MOST = 0.999999
#: Added to the variance, as a share of it, so that equations can be solved.
_RIDGE = 1e-9


def first_order(values: Floats, positions: Ints, horizon: int) -> Floats:
    """Forecast by AR(1), fitted to all cells so far.

    With the mean m, the coefficient r and the horizon h the mean of the next h cells is
    m + (x - m) r (1 - r^h) / (h (1 - r)).

    Parameters
    ----------
    values : (cells,) float64 array
    positions : (positions,) int64 array
    horizon : int
        Cells.
    """
    count = positions + 1.0
    mean = sums(values)[positions + 1] / count
    variance = sums(values**2)[positions + 1] / count - mean**2
    products = sums(values[1:] * values[:-1])[positions] / np.maximum(positions, 1)
    covariance = products - mean**2
    ratio = np.divide(
        covariance, variance, out=np.zeros_like(mean), where=variance > 0.0
    )
    ratio = np.clip(ratio, 0.0, _MOST)
    weight = ratio * -np.expm1(horizon * np.log(np.maximum(ratio, 1e-300)))
    weight /= horizon * (1.0 - ratio)
    return np.asarray(mean + weight * (values[positions] - mean))


def of_horizon(values: Floats, positions: Ints, horizon: int) -> Floats:
    """Forecast by AR(1) whose coefficient is fitted to the horizon.

    It is the slope of the mean of the next h cells over the last one, in all that
    happened so far: m + b (x - m). Noise of single cells makes the coefficient of one
    step too small, and its power of h far too small; this one is right on average.
    """
    if len(values) <= horizon + 1:
        return first_order(values, positions, horizon)
    total = sums(values)
    followed = (total[horizon + 1 :] - total[1:-horizon]) / horizon
    cells = values[: len(followed)]
    pairs = np.maximum(positions + 1 - horizon, 0)
    count = np.maximum(pairs, 1).astype(float)
    x, y = sums(cells)[pairs] / count, sums(followed)[pairs] / count
    xx = sums(cells**2)[pairs] / count - x**2
    xy = sums(cells * followed)[pairs] / count - x * y
    slope = np.divide(xy, xx, out=np.zeros_like(x), where=xx > 0.0)
    mean = total[positions + 1] / (positions + 1.0)
    return np.asarray(mean + np.clip(slope, 0.0, 1.0) * (values[positions] - mean))


def higher_order(values: Floats, positions: Ints, horizon: int, order: int) -> Floats:
    """Forecast by AR(p), whose coefficients are brought up to date 16 times.

    They solve the equations of Yule and Walker for the cells so far. The mean of the
    next h cells is that of the first h powers of the companion matrix.
    """
    ends = np.unique(
        np.linspace(positions[0], positions[-1], AUTOREGRESSION_UPDATES).astype(int)
    )
    count = ends + 1.0
    mean = sums(values)[ends + 1] / count
    lags = [_covariances(values, ends, mean, lag) for lag in range(order + 1)]
    weights = _weights(np.stack(lags, axis=1), horizon)
    own = np.searchsorted(ends, positions, side="right") - 1
    newest = sliding_window_view(values, order)[positions + 1 - order][:, ::-1]
    away = newest - mean[own, None]
    return np.asarray(mean[own] + (weights[own] * away).sum(axis=1))


def _covariances(values: Floats, ends: Ints, mean: Floats, lag: int) -> Floats:
    """Return the covariance with what was `lag` cells before, up to each end.

    Divided by all cells, so that the process that the equations give is stable.
    """
    total = sums(values)
    pairs = np.maximum(ends + 1 - lag, 0)
    products = sums(values[lag:] * values[: len(values) - lag])[pairs]
    both = total[ends + 1] - total[lag] + total[pairs]
    return np.asarray((products - mean * both + pairs * mean**2) / (ends + 1.0))


def _weights(covariances: Floats, horizon: int) -> Floats:
    """Return the weight of each of the newest cells in the mean of the next ones."""
    updates, order = covariances.shape[0], covariances.shape[1] - 1
    ages = np.abs(np.arange(order)[:, None] - np.arange(order))
    matrix = covariances[:, ages]
    flat = covariances[:, 0] <= 0.0
    matrix[flat] = np.eye(order)
    matrix += _RIDGE * matrix[:, :1, :1] * np.eye(order)
    right = np.where(flat[:, None], 0.0, covariances[:, 1:])
    companion = np.zeros((updates, order, order))
    companion[:, 0] = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
    companion[:, np.arange(1, order), np.arange(order - 1)] = 1.0
    return _powers(companion, horizon)[:, 0] / horizon


def _powers(matrix: Floats, count: int) -> Floats:
    """Return the sum of the first powers of matrices, by doubling."""
    total = np.zeros_like(matrix)
    power = np.broadcast_to(np.eye(matrix.shape[-1]), matrix.shape).copy()
    for digit in f"{count:b}":
        total = total + power @ total
        power = power @ power
        if digit == "1":
            power = power @ matrix
            total = total + power
    return total
