"""How much each run counts: less where it is far off, less where runs are unsteady.

Noise of a run is seldom the same for all. Short runs vary more, and what sensors say
of them is of few samples. So the deviation is a power of the time, which is found from
the misses.
"""

from __future__ import annotations

import math

import numpy as np

from skelgen.models.runs import Floats
from skelgen.models.thresholds import (
    FEWEST_STEADY,
    FREEDOM_OF_MISSES,
    LEAST_DEVIATION_OF_RUNS,
)

#: The deviation falls at most as fast as the time grows.
_STEEPEST = 1.0

#: Steps towards the power by which it falls.
_ROUNDS = 8


def weights(misses: Floats, fitted: Floats) -> Floats:
    """Return what each run counts: factors of its miss.

    Parameters
    ----------
    misses : (runs,) float64 array
        Logarithms of measured over fitted values.
    fitted : (runs,) float64 array
        Logarithms of fitted values.

    Returns
    -------
    (runs,) float64 array
        Their mean square is about 1 where no run is far off.
    """
    times = fitted - fitted.sum() / len(fitted)  # quicker than a mean for so few
    found = np.exp(falling_power(misses, fitted) * times)
    steady = found / math.sqrt(found @ found / len(found))
    far = misses * steady / deviation(misses * steady)
    return np.asarray(steady / np.sqrt(1.0 + far**2 / FREEDOM_OF_MISSES))


def deviation(misses: Floats) -> float:
    """Return the deviation of misses, by their median."""
    ordered = np.sort(np.abs(misses))  # quicker than a median for so few
    middle = 0.5 * (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2])
    return (
        1.4826 * float(middle if ordered[-1] < np.inf else np.median(ordered))
        + LEAST_DEVIATION_OF_RUNS
    )


def falling_power(misses: Floats, fitted: Floats) -> float:
    """Return the power of the time by which misses fall; 0 where they do not.

    Parameters
    ----------
    misses, fitted : (runs,) float64 array
        As for `weights`. By measured times a run that took too long would have a large
        miss because it took long.

    Notes
    -----
    The likeliest power where misses follow Laplace's distribution: it is less noisy
    than a line through logarithms of misses, of which the smallest say nothing. It
    counts as far as it is larger than its own error.
    """
    times = fitted - fitted.sum() / len(fitted)
    whole = float(times @ times)
    sizes = np.abs(misses)
    if len(times) < FEWEST_STEADY or whole <= 0.0 or not 0.0 < sizes.sum() < np.inf:
        return 0.0
    power = 0.0
    for _ in range(_ROUNDS):
        even = sizes * np.exp(power * times)
        even = even / even.sum()
        middle = float(even @ times)
        bend = float(even @ times**2) - middle**2
        if bend <= 0.0:
            return 0.0
        power = min(max(power - middle / bend, 0.0), _STEEPEST)
    rest = even * len(even) - 1.0
    error = float(rest @ rest) / len(rest) / whole
    return power * power**2 / (power**2 + error) if power > 0.0 else 0.0
