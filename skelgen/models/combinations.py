"""Least-squares solutions of many sets of terms, with their errors at runs left out.

Errors are relative. Minimising them over non-negative coefficients puts the result on
a face of the cone, where some coefficients are zero and the others solve a plain
least-squares problem. As all sets of few terms are tried anyway, the faces are simply
the smaller sets: a set counts when its plain solution is positive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.runs import Floats

#: Error at a point without which the others do not determine the function.
_UNKNOWN = 1e9

_Sets = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Solved:
    """Least-squares solutions of many sets of terms.

    Attributes
    ----------
    coefficients : (sets, terms) float64 array
    covariance : (sets, terms, terms) float64 array
        Of the coefficients, for errors of variance 1.
    errors : (sets,) float64 array
        Root mean square of the relative errors at points left out [1].
    """

    coefficients: Floats
    covariance: Floats
    errors: Floats


def solve(columns: Floats, target: Floats, sets: _Sets) -> Solved:
    """Solve the least-squares problem of each set of terms.

    Parameters
    ----------
    columns : (terms, points) float64 array
        Terms at the points, divided by the measured values.
    target : (points,) float64 array
        What the combination should be: 1, or 0 where nothing was measured.
    sets : (sets, terms) intp array
        Terms of each set.

    Notes
    -----
    The error at a point that is left out follows from the residual and the leverage h
    of that point, residual / (1 - h): nothing is fitted twice.
    """
    norms = np.linalg.norm(columns, axis=1)
    norms[norms == 0.0] = 1.0
    a = np.swapaxes((columns / norms[:, None])[sets], 1, 2)
    q, r = np.linalg.qr(a)
    singular = np.abs(np.diagonal(r, axis1=1, axis2=2)).min(axis=1) < 1e-7
    r[singular] = np.eye(sets.shape[1])
    inverse = np.linalg.inv(r) / norms[sets][:, :, None]
    projected = np.swapaxes(q, 1, 2) @ target
    coefficients = (inverse @ projected[:, :, None])[:, :, 0]
    coefficients[singular] = np.nan
    residuals = (q @ projected[:, :, None])[:, :, 0] - target
    free = 1.0 - np.sum(q**2, axis=2)
    left_out = np.where(free > 1e-9, residuals / np.maximum(free, 1e-9), _UNKNOWN)
    return Solved(
        coefficients,
        inverse @ np.swapaxes(inverse, 1, 2),
        np.sqrt(np.mean(left_out**2, axis=1)),
    )
