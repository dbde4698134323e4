"""Non-negative combinations of few terms n^i log^j n, chosen by leave-one-out error.

Errors are relative. Minimising them over non-negative coefficients puts the result on
a face of the cone, where some coefficients are zero and the others solve a plain
least-squares problem. As all sets of few terms are tried anyway, the faces are simply
the smaller sets: a set counts when its plain solution is positive.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.points import Points
from skelgen.models.types import Candidate, Factor, Floats, Function, Term, column

#: At most so many terms, the constant among them.
MOST_TERMS = 3

#: So many of the best sets are tried with one more term.
_BEAM = 40

#: Error that counts as none [1]: no clock is better; counts are exact.
_EXACT, _EXACT_COUNT = 2e-4, 1e-9

#: Error at a point without which the others do not determine the function.
_UNKNOWN = 1e9

#: What a further term, and a log or a half power in it, must gain [1].
TERM_COST, _ODD_COST = 0.25, 0.02

#: Candidates less likely than this share of the best are not kept.
_LEAST_SHARE, _MOST_KEPT = 0.02, 40

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


#: Score, terms, solutions of all sets of that size, and which of them.
_Found = tuple[float, _Sets, Solved, int]


def terms_of(dimensions: tuple[str, ...]) -> list[Term]:
    """Return the terms to choose from: the constant, then by growing order.

    One dimension has powers in halves up to 4 with up to two logs, several have powers
    up to 3 with up to one log each, multiplied with each other.
    """
    alone = len(dimensions) == 1
    powers = np.arange(0, 9 if alone else 7) / 2
    logs = range(3 if alone else 2)
    each = [
        [Factor(name, float(power), log) for power in powers for log in logs]
        for name in dimensions
    ]
    products = itertools.product(*each)
    return [tuple(f for f in term if f.power or f.logs) for term in products]


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


def choose(
    points: Points, *, whole: bool = False, most_terms: int = MOST_TERMS
) -> tuple[Candidate, ...]:
    """Choose the combination with the smallest error at points left out.

    Parameters
    ----------
    points : Points
        At least two, in at least one varied dimension.
    whole : bool
        Values are exact counts, whose constant may be negative: n - 1.
    most_terms : int

    Returns
    -------
    tuple of Candidate
        The best first, then those that are about as likely.
    """
    terms = terms_of(points.varied)
    values, target = relative_to(points)
    columns = np.stack([column(t, points.columns, values.shape) for t in terms])
    columns = columns / values
    odd = np.array([sum(f.logs + f.power % 1 * 2 for f in term) for term in terms])
    exact = _EXACT_COUNT if whole else _EXACT
    found: list[_Found] = []
    sets = np.arange(len(terms))[:, None]
    spare = len(target) - 1
    if len(points.varied) > 1:  # so many products that some fit any few points
        spare = max(1, spare // 2)
    for count in range(1, min(most_terms, spare) + 1):
        solved = solve(columns, target, sets)
        allowed = solved.coefficients > 0.0
        if whole:
            allowed |= (sets == 0) & np.isfinite(solved.coefficients)
        good = allowed.all(axis=1)
        cost = term_cost(count, len(target)) + _ODD_COST * odd[sets].sum(axis=1)
        scores = np.where(good, (solved.errors + exact) * cost, np.inf)
        order = np.argsort(scores, kind="stable")
        found += [(scores[i], sets[i], solved, i) for i in order[:_MOST_KEPT]]
        sets = _extended(sets[order], len(terms))
    return _likely(found, terms, len(target))


def term_cost(count: int, points: int) -> float:
    """Return what the error of a set of so many terms is multiplied with to compare it.

    Sets of more terms are more, so the best of them is better by chance, the more so
    the fewer points are left over.
    """
    return 1.0 + TERM_COST * (count - 1) * points / (points - count)


def relative_to(points: Points) -> tuple[Floats, Floats]:
    """Return what errors are divided by, and the relative values to be met.

    Counts of zero are compared with one.
    """
    scale = np.where(points.values > 0.0, points.values, 1.0)
    return scale, points.values / scale


def candidate(
    terms: list[Term], chosen: _Sets, solved: Solved, i: int, share: float = 1.0
) -> Candidate:
    """Make the candidate of a set of terms; the fastest growing term comes first.

    The residuals of a set that was chosen for fitting well are too small to tell how
    uncertain its coefficients are, so the errors at points left out stand for them.
    """
    order = np.argsort(-chosen)
    covariance = solved.covariance[i][np.ix_(order, order)] * solved.errors[i] ** 2
    function = Function(
        tuple(terms[k] for k in chosen[order]),
        tuple(float(c) for c in solved.coefficients[i][order]),
    )
    rows = tuple(tuple(float(c) for c in row) for row in covariance)
    return Candidate(function, float(solved.errors[i]), share, rows)


def _extended(best: _Sets, terms: int) -> _Sets:
    """Return the best sets with each further term."""
    kept = best[:_BEAM]
    wider = np.column_stack(
        [np.repeat(kept, terms, axis=0), np.tile(np.arange(terms), len(kept))]
    )
    wider.sort(axis=1)
    wider = wider[np.all(np.diff(wider, axis=1) > 0, axis=1)]
    key = wider @ (terms ** np.arange(wider.shape[1]))
    return np.asarray(wider[np.unique(key, return_index=True)[1]])


def _likely(
    found: list[_Found], terms: list[Term], points: int
) -> tuple[Candidate, ...]:
    """Return the candidates that are likely, the best first, with probabilities."""
    found.sort(key=lambda one: one[0])
    shares = (found[0][0] / np.array([one[0] for one in found])) ** (points / 2)
    kept = int(np.sum(shares[:_MOST_KEPT] >= _LEAST_SHARE))
    shares = shares[:kept] / shares[:kept].sum()
    return tuple(
        candidate(terms, chosen, solved, i, float(share))
        for share, (_, chosen, solved, i) in zip(shares, found[:kept], strict=True)
    )
