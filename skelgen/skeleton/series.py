"""Take a few values of a quantity, in the order of time, from a leaf's samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.selection import strata

#: Most columns of a `Series`.
COLUMNS = 16


def sampled(samples: NDArray[np.float64], columns: int) -> NDArray[np.float64] | None:
    """Return values from the middle of as many strata of the samples.

    Parameters
    ----------
    samples : (..., s) float64 array
        In the order of time, NaN beyond a leaf's number of samples.
    columns : int

    Returns
    -------
    (..., columns) float64 array, or None when there are no samples

    Examples
    --------
    >>> sampled(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 2).tolist()
    [2.0, 4.0]
    """
    known = ~np.isnan(samples)
    valid = int(known.reshape(-1, samples.shape[-1]).all(axis=0).sum())
    if not valid:
        return None
    if columns >= valid:
        picked = np.arange(columns) * valid // columns
    else:
        picked = strata(valid, columns)
    return np.asarray(samples[..., picked], np.float64)


def occurrences_of_columns(columns: int, occurrences: int) -> NDArray[np.int64]:
    """Return how many of n occurrences take each column ``k * s // n``.

    Examples
    --------
    >>> occurrences_of_columns(2, 5).tolist()
    [3, 2]
    """
    # Column j begins at the first k with k * s >= j * n.
    begins = -(-np.arange(columns + 1) * occurrences // columns)
    return np.diff(begins)


def series_sums(values: NDArray[np.float64], occurrences: int) -> NDArray[np.float64]:
    """Return the sum of a series over all occurrences, for each rank.

    Examples
    --------
    >>> series_sums(np.array([[1.0, 10.0]]), 5).tolist()
    [23.0]
    """
    weight = occurrences_of_columns(values.shape[1], occurrences)
    return np.asarray(values @ weight.astype(np.float64))
