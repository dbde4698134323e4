"""Twin of the kernels that `skelgen.models.families.searching` calls, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.models.combinations import solve
from skelgen.models.families.searching import (
    BEAM,
    KEPT,
    MOST_TERMS,
    NEARLY_ONE,
    OTHERS,
    Kinds,
    Sets,
    Squares,
    Sums,
    meant,
)
from skelgen.models.runs import Floats

#: Leverage that is left where a run alone determines a coefficient.
_NOTHING = 1e-9


def search_plainly(kinds: Kinds, columns: Floats, target: Floats, most: int) -> Sums:
    """Do what `searching.search` does."""
    squares = Squares.of(columns, target)
    found: list[tuple[Sets, Floats, Floats]] = []
    sets: Sets = np.arange(len(columns))[:, None]
    for _ in range(most):
        rest, above = _rest(squares, sets)
        good = (above | kinds.step[sets]).all(axis=1) & kinds.sensible(sets)
        best = np.argsort(np.where(good, rest, np.inf), kind="stable")[:KEPT]
        best = best[good[best]]
        solved = solve(columns, target, sets[best])
        kept = meant(solved.coefficients, kinds.step[sets[best]]).all(axis=1)
        found.append(
            (
                _padded(sets[best][kept], -1),
                _padded(solved.coefficients[kept], 0),
                solved.errors[kept],
            )
        )
        order = np.argsort(rest, kind="stable")
        both = np.concatenate([best[:BEAM], order[:OTHERS]])
        sets = _extended(sets[np.unique(both)], len(columns))
    return Sums.ordered(
        np.concatenate([one[0] for one in found]).astype(np.intp),
        np.concatenate([one[1] for one in found]),
        np.concatenate([one[2] for one in found]),
        kinds,
    )


def _padded(found: NDArray[Any], nothing: int) -> NDArray[Any]:
    missing = MOST_TERMS - found.shape[1]
    return np.pad(found, ((0, 0), (0, missing)), constant_values=nothing)


def _rest(squares: Squares, sets: Sets) -> tuple[Floats, NDArray[np.bool_]]:
    """Return what each set leaves over, and which coefficients are above 0.

    Terms that nearly are one another stay apart by a small ridge.
    """
    size = sets.shape[1]
    inner = squares.products[sets[:, :, None], sets[:, None, :]]
    inner = inner + NEARLY_ONE * np.eye(size)
    shares = squares.shares[sets]
    found = np.linalg.solve(inner, shares[:, :, None])[:, :, 0]
    rest = squares.whole - np.sum(found * shares, axis=1)
    return np.maximum(rest, 0.0), np.asarray(found > 0.0)


def _extended(best: Sets, terms: int) -> Sets:
    """Return sets with each further term, each once."""
    wider = np.column_stack(
        [np.repeat(best, terms, axis=0), np.tile(np.arange(terms), len(best))]
    )
    wider.sort(axis=1)
    wider = wider[np.all(np.diff(wider, axis=1) > 0, axis=1)]
    key = wider @ (terms ** np.arange(wider.shape[1]))
    return np.asarray(wider[np.unique(key, return_index=True)[1]])


def near_themselves_plainly(
    columns: Floats,
    step: NDArray[np.bool_],
    found: Floats,
    values: Floats,
    weights: Floats,
    *,
    times: int,
    largest_miss: float,
) -> tuple[Floats, Floats]:
    """Do what the kernel of `refining` does, for sets of one size.

    Parameters
    ----------
    columns : (sets, terms, runs) float64 array
    step : (sets, terms) bool array
    found : (sets, terms) float64 array
    values, weights : (runs,) float64 array
    times : int
    largest_miss : float

    Returns
    -------
    (sets, terms) float64 array
        Coefficients.
    (sets,) float64 array
        Errors at runs left out.
    """
    error = np.full(len(found), np.inf)
    for _ in range(times):
        own = np.where(step, 0.0, found)
        sums = np.einsum("st,str->sr", own, columns)
        misses = np.clip(np.log(values / sums), -largest_miss, largest_miss)
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
