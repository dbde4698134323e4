"""Nonlinear least squares for the families: Levenberg and Marquardt's steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skelgen.models.runs import Floats

#: Residuals of a vector of parameters; not finite where these are not allowed.
Residuals = Callable[[Floats], Floats]

#: Parameters are known when a step changes them by less than this, relative to 1.
_STEP, _DIFFERENCE = 1e-13, 1e-6


def minimise(residuals: Residuals, start: Floats, *, most: int = 200) -> Floats:
    """Return parameters with the least sum of squared residuals near a start.

    Parameters
    ----------
    residuals : callable
        Takes (parameters,), returns (runs,) float64 arrays.
    start : (parameters,) float64 array
        Of the order of 1.
    most : int
        Steps.

    Notes
    -----
    Slopes are central differences. A step that does not improve is tried again with
    ten times the damping (Marquardt 1963). Where squares of slopes are too large for a
    computer, the search ends.
    """
    at, now = start, residuals(start)
    damping = 1e-3
    with np.errstate(all="ignore"):
        for _ in range(most):
            slopes = _slopes(residuals, at)
            if not (np.isfinite(slopes).all() and np.isfinite(now).all()):
                return at
            step, new, damping = _step(residuals, at, now, slopes, damping)
            if step is None or new is None:
                return at
            at, now = at + step, new
            if np.max(np.abs(step)) <= _STEP * (1.0 + np.max(np.abs(at))):
                break
    return at


def _step(
    residuals: Residuals, at: Floats, now: Floats, slopes: Floats, damping: float
) -> tuple[Floats | None, Floats | None, float]:
    """Return a step that improves, its residuals, and the next damping."""
    square, along = slopes.T @ slopes, -slopes.T @ now
    scale = np.diag(square) + 1e-300
    while damping < 1e12:
        damped = square + damping * np.diag(scale)
        if not (np.isfinite(damped).all() and np.isfinite(along).all()):
            break  # LAPACK would not return
        damping *= 10.0
        try:
            step = np.asarray(np.linalg.lstsq(damped, along, rcond=None)[0])
        except np.linalg.LinAlgError:  # numbers too far apart for a computer
            continue
        new = residuals(at + step)
        if np.isfinite(new).all() and new @ new < now @ now:
            return step, new, max(damping / 100.0, 1e-15)
    return None, None, damping


def _slopes(residuals: Residuals, at: Floats) -> Floats:
    columns = []
    for i in range(len(at)):
        change = np.zeros(len(at))
        change[i] = _DIFFERENCE * max(1.0, abs(float(at[i])))
        columns.append(
            (residuals(at + change) - residuals(at - change)) / (2.0 * change[i])
        )
    return np.stack(columns, axis=1)
