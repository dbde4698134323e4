"""Scale times of a skeleton to times of the application, by runs of both when quiet."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.prediction.thresholds import LARGEST_SAME_RUN_FACTOR, QUIET_RUNS_ASSUMED
from skelgen.prediction.types import Times
from skelgen.trust.intervals import median_draws, relative_spread
from skelgen.trust.types import PAPER_2005


def correction(measured: float, expected: float, method: str) -> float:
    """Return how much longer the application becomes when the skeleton does [1].

    Calls, their bytes and waits are kept whole, and which part of them is known. What
    the measured ratio differs by comes from the noise of a few runs and from
    computation, which is imitated; neither grows with what links and competitors add.

    Parameters
    ----------
    measured, expected : float
        Application time / skeleton time, both quiet, and as the skeleton was built [1].
    method : str
        How it was planned.
    """
    same = max(expected / measured, measured / expected) <= LARGEST_SAME_RUN_FACTOR
    return expected if same and method != PAPER_2005 else measured


def scaled(
    there_s: Times, application_s: Times, skeleton_s: Times, correction: Times
) -> NDArray[np.float64]:
    """Turn times of the skeleton into times of the application [s].

    Where the skeleton takes longer than on the reference, its time counts `correction`
    times. By as many seconds as application and scaled skeleton differed on the
    reference they differ there: calls and waits are kept, so it is computation that
    differs, and not what links and competitors add. Where the skeleton takes less,
    the application takes as much less.

    Parameters
    ----------
    there_s : float or array
        Times of the skeleton [s].
    application_s, skeleton_s : float or array
        Times of both on the reference [s].
    correction : float
        See :func:`correction` [1].

    Examples
    --------
    >>> [round(float(scaled(there_s, 20.0, 2.0, 9.0)), 3) for there_s in (1, 2, 4)]
    [10.0, 20.0, 38.0]
    """
    longer = np.maximum(there_s / skeleton_s, 1.0)
    less = np.minimum(there_s / skeleton_s, 1.0)
    differ_s = application_s - correction * skeleton_s
    return np.asarray(less * (correction * skeleton_s * longer + differ_s), np.float64)


def scaled_draws(
    runs_s: Sequence[float],
    application_runs_s: Sequence[float],
    skeleton_runs_s: Sequence[float],
    correction: float,
    generator: np.random.Generator,
    *,
    longer: Times = 1.0,
) -> NDArray[np.float64]:
    """Draw what the three medians that were measured predict.

    Parameters
    ----------
    runs_s : sequence of float
        Times of the skeleton on the node set [s].
    application_runs_s, skeleton_runs_s : sequence of float
        Times of both on the reference [s].
    correction : float
        See :func:`correction` [1].
    generator : numpy.random.Generator
    longer : float or (draws,) float64 array
        How much longer the skeleton typically takes there than its times say [1].

    Returns
    -------
    (draws,) float64 array
        Predicted times [s].
    """
    steady = _steady(application_runs_s, skeleton_runs_s)
    there = median_draws(runs_s, generator, spread=steady, worth=1) * longer
    above, below = quiet_draws(application_runs_s, skeleton_runs_s, generator)
    ratio = statistics.median(application_runs_s) / statistics.median(skeleton_runs_s)
    if math.isclose(correction, ratio):  # measured, and so no better known than these
        return scaled(there, above, below, above / below)
    return scaled(there, above, below, correction)


def quiet_draws(
    application_runs_s: Sequence[float],
    skeleton_runs_s: Sequence[float],
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw the times of application and skeleton on the reference [s]."""
    quiet = relative_spread(application_runs_s, skeleton_runs_s)
    above = median_draws(
        application_runs_s, generator, spread=quiet, worth=QUIET_RUNS_ASSUMED
    )
    steady = _steady(application_runs_s, skeleton_runs_s)
    return above, median_draws(skeleton_runs_s, generator, spread=steady)


def _steady(
    application_runs_s: Sequence[float], skeleton_runs_s: Sequence[float]
) -> float | None:
    """Return the spread of a quiet skeleton [1], of both where it ran only once.

    An application may vary with its caches.
    """
    steady = relative_spread(skeleton_runs_s)
    quiet = relative_spread(application_runs_s, skeleton_runs_s)
    return quiet if steady is None else steady
