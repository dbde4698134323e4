"""Sums that were found near others, each fitted near itself.

The search is linear near what several sums say together. A sum that differs from it is
fitted a little wrong there, so each is fitted again near its own values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.models.families.searching import Sums, meant
from skelgen.models.runs import Floats

_TIMES = 2

#: Larger misses are taken as these: what is linear near 1 is not there [1].
LARGEST_MISS = 0.9

#: Leverage that is left where a run alone determines a coefficient.
_NOTHING = 1e-9

_Sets = NDArray[np.intp]


def refined(
    sums: Sums, columns: Floats, values: Floats, weights: Floats, steps: int
) -> Sums:
    """Fit each sum near itself.

    Parameters
    ----------
    sums : Sums
    columns : (terms + steps, runs) float64 array
        As they are; the last ones are steps.
    values, weights : (runs,) float64 array
    steps : int

    Returns
    -------
    Sums
        With errors at runs left out. Sums that come out with a coefficient below 0, or
        a large step, stay as they were.
    """
    coefficients, errors = list(sums.coefficients), sums.errors.copy()
    sizes = np.array([len(chosen) for chosen in sums.sets])
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        sets = np.stack([sums.sets[i] for i in which])
        start = np.stack([sums.coefficients[i] for i in which])
        step = sets >= len(columns) - steps
        found, error = _near_themselves(columns[sets], step, start, values, weights)
        good = meant(found, step).all(axis=1) & np.isfinite(error)
        for i, one, its in zip(which[good], found[good], error[good], strict=True):
            coefficients[i], errors[i] = one, its
    order = np.argsort((replace(sums, errors=errors)).scores, kind="stable")
    return Sums(
        [sums.sets[i] for i in order],
        [coefficients[i] for i in order],
        errors[order],
        sums.costs[order],
    )


def _near_themselves(
    columns: Floats,
    step: NDArray[np.bool_],
    found: Floats,
    values: Floats,
    weights: Floats,
) -> tuple[Floats, Floats]:
    """Return coefficients and errors of sets of one size: (sets, terms, runs) in."""
    error = np.full(len(found), np.inf)
    for _ in range(_TIMES):
        own = np.where(step, 0.0, found)
        sums = np.einsum("st,str->sr", own, columns)
        misses = np.clip(np.log(values / sums), -LARGEST_MISS, LARGEST_MISS)
        # Columns are what each term has of the sum now, so that they are alike in size.
        unit = np.where(step, 1.0, found)
        shares = unit[:, :, None] * columns
        shares = np.where(step[:, :, None], shares, shares / sums[:, None, :])
        rows = np.swapaxes(shares, 1, 2) * weights[:, None]
        target = (1.0 + misses) * weights
        usable = np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(target).all(axis=1)
        rows = np.where(usable[:, None, None], rows, 0.0)
        inverse = np.linalg.pinv(rows, rcond=1e-7)
        factors = np.einsum("str,sr->st", inverse, target)
        left = np.einsum("srt,st->sr", rows, factors) - target
        free = 1.0 - np.einsum("srt,str->sr", rows, inverse)
        out = left / np.maximum(free, _NOTHING)
        error = np.where(usable, np.sqrt(np.mean(out**2, axis=1)), np.nan)
        found = np.where(step, factors, unit * factors)
    return found, error
