"""Linear least squares for the families: scaled, and honest about what is undetermined.

In: a column for each coefficient and the measured values. Out: coefficients, and which
columns were left out because others say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.runs import Floats

#: A column whose part that others do not explain is smaller says nothing of its own.
_SAME = 1e-10


@dataclass(frozen=True, slots=True)
class Solution:
    """Coefficients that fit.

    Attributes
    ----------
    coefficients : (columns,) float64 array
        0 for columns that were left out.
    kept : tuple of int
        Columns that count.
    """

    coefficients: Floats
    kept: tuple[int, ...]


def solve(
    columns: Floats,
    values: Floats,
    *,
    relative_to: Floats | None = None,
    non_negative: bool = False,
) -> Solution:
    """Fit values by a sum of columns.

    Parameters
    ----------
    columns : (runs, columns) float64 array
        The more important ones first: of columns that say the same the first stays.
    values : (runs,) float64 array
    relative_to : (runs,) float64 array, optional
        What errors are divided by; else they are absolute.
    non_negative : bool
        Coefficients of 0 and more, else of any sign.

    Returns
    -------
    Solution
    """
    with np.errstate(all="ignore"):
        divisor = np.ones(len(values)) if relative_to is None else relative_to
        rows, wanted = columns / divisor[:, None], values / divisor
        scale, unit = np.max(np.abs(rows), axis=0, initial=0.0), np.max(np.abs(wanted))
        scale[~np.isfinite(scale) | (scale == 0.0)] = np.inf
        target = wanted / unit if unit > 0.0 else wanted
        scaled = np.where(np.isfinite(scale), rows / scale, 0.0)
        kept = independent(scaled)
        found = plain(scaled[:, kept], target, non_negative=non_negative)
        coefficients = np.zeros(columns.shape[1])
        coefficients[kept] = found / scale[kept] * unit
    return Solution(coefficients, tuple(kept))


def independent(columns: Floats) -> list[int]:
    """Return the columns that are no combination of those before them."""
    basis = np.zeros((len(columns), 0))
    kept = []
    for i, column in enumerate(columns.T):
        length = float(np.linalg.norm(column))
        if length == 0.0 or basis.shape[1] == len(column):
            continue
        rest = column / length
        for _ in range(2):  # the second time removes what rounding left
            rest = rest - basis @ (basis.T @ rest)
        own = float(np.linalg.norm(rest))
        if own > _SAME:
            basis = np.column_stack([basis, rest / own])
            kept.append(i)
    return kept


def plain(columns: Floats, target: Floats, *, non_negative: bool) -> Floats:
    """Return coefficients of columns of the order of 1, without any scaling."""
    return (_non_negative if non_negative else _any_sign)(columns, target)


def _any_sign(columns: Floats, target: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(columns, target, rcond=None)[0])


def _non_negative(columns: Floats, target: Floats) -> Floats:
    """Solve by active sets (Lawson and Hanson 1974, chapter 23)."""
    count = columns.shape[1]
    found, used = np.zeros(count), np.zeros(count, bool)
    for _ in range(3 * count):
        gain = columns.T @ (target - columns @ found)
        gain[used] = -np.inf
        best = int(np.argmax(gain)) if count else 0
        if not count or gain[best] <= 1e-12:
            break
        used[best] = True
        found = _inside(columns, target, found, used)
    return found


def _inside(
    columns: Floats, target: Floats, found: Floats, used: NDArray[np.bool_]
) -> Floats:
    """Go towards the solution of the used columns; what gets below 0 leaves them."""
    while used.any():
        wanted = np.zeros(len(found))
        wanted[used] = _any_sign(columns[:, used], target)
        below = used & (wanted <= 0.0)
        if not below.any():
            return wanted
        with np.errstate(all="ignore"):
            steps = found[below] / (found[below] - wanted[below])
        step = float(np.min(np.nan_to_num(steps, nan=0.0)))
        found = found + step * (wanted - found)
        used[used & (found <= 1e-15)] = False
        found[~used] = 0.0
    return found
