"""Which coefficients runs cannot tell apart: their slopes are one and the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from skelgen.models.runs import Floats
from skelgen.models.thresholds import LEAST_PART_OF_DIRECTION

#: Slopes are found over this part of a coefficient.
_STEP = 1e-6

#: Directions in which a formula changes by less than this part of the most say nothing.
_NOTHING = 1e-6


def inseparable(
    at: Callable[[Floats], Floats], values: Floats, names: Sequence[str]
) -> tuple[str, ...]:
    """Return coefficients that can change together while a formula stays as it is.

    Parameters
    ----------
    at : callable
        The formula at the runs for (coefficients,) values.
    values : (coefficients,) float64 array
        Where it was fitted.
    names : sequence of str

    Notes
    -----
    The slopes of the logarithm of the formula, by relative changes of coefficients,
    have such directions as singular vectors of the value 0.
    """
    middle = at(values)
    slopes = np.zeros((len(middle), len(values)))
    with np.errstate(all="ignore"):
        for i, value in enumerate(values):
            step = np.zeros(len(values))
            step[i] = _STEP * (abs(value) or 1.0)
            slopes[:, i] = (at(values + step) - at(values - step)) / middle
    if not np.isfinite(slopes).all():
        return ()
    sizes = np.linalg.norm(slopes, axis=0)
    largest = float(sizes.max())
    if largest == 0.0:
        return tuple(names)
    shown = slopes / np.where(sizes > _NOTHING * largest, sizes, np.inf)
    _, strengths, directions = np.linalg.svd(shown, full_matrices=True)
    strengths = np.concatenate([strengths, np.zeros(len(values) - len(strengths))])
    weak = directions[strengths < np.sqrt(_NOTHING)]
    lost = (np.abs(weak) > LEAST_PART_OF_DIRECTION).any(axis=0)
    return tuple(name for name, one in zip(names, lost, strict=True) if one)
