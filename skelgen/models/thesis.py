"""The procedure of the thesis: common complexities and polynomials, tried in turn.

A line goes through the two ends. The next point validates it; when it is missed, the
point is used as well and the next family that agrees with all used points is taken,
until points that were not used are met.

References
----------
Martinez Canillas 2011, table 2.1 and section 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from skelgen.models.combinations import relative_to
from skelgen.models.points import Points
from skelgen.models.types import (
    Candidate,
    Factor,
    Flag,
    FlagKind,
    Floats,
    Function,
    Term,
)

#: Above this n! is no longer a number.
_LARGEST_FACTORIAL = 170.0


def procedure(
    points: Points, *, threshold: float = 0.05
) -> tuple[tuple[Candidate, ...], list[Flag]]:
    """Choose a function of one dimension as the thesis does.

    Parameters
    ----------
    points : Points
        At least two, which differ in one dimension.
    threshold : float
        Largest relative error at a point that was not used [1].

    Returns
    -------
    tuple of Candidate
        The one function; its error is the largest at unused points.
    list of Flag
        That no unused point was left to validate it. The error is then what the
        function before it missed by, or 1 after two points.
    """
    (dimension,) = points.varied
    n = points.columns[dimension]
    used, unused = _ends_first(n)
    function = _function(points.only(np.array(used)), dimension, threshold)
    missed = 1.0
    waiting = list(unused)
    while waiting:
        errors = _errors(function, points.only(np.array(waiting)))
        if errors.max() <= threshold:
            return (_certain(function, float(errors.max())),), []
        first = int(np.argmax(errors > threshold))
        missed = float(errors[first])
        used.append(waiting.pop(first))
        function = _function(points.only(np.array(used)), dimension, threshold)
    told = f"all {len(used)} points were needed for {function.text}; "
    told += "none is left to validate it, record another"
    return (_certain(function, missed),), [
        Flag(FlagKind.NOT_VALIDATED, told, dimension)
    ]


def _certain(function: Function, error: float) -> Candidate:
    """Make a candidate whose uncertainty is its relative error everywhere."""
    c = np.array(function.coefficients)
    rows = tuple(tuple(float(x) for x in row) for row in error**2 * np.outer(c, c))
    return Candidate(function, error, 1.0, rows)


def _ends_first(n: Floats) -> tuple[list[int], list[int]]:
    """Return both ends, and the other points in the order of the bisection.

    That is the point farthest from those before it, each time.
    """
    ends = [int(np.argmin(n)), int(np.argmax(n))]
    order = list(ends)
    while len(order) < len(n):
        distance = np.abs(n[:, None] - n[order]).min(axis=1)
        order.append(int(np.argmax(distance)))
    return ends, order[2:]


def _errors(function: Function, points: Points) -> Floats:
    scale, target = relative_to(points)
    return np.asarray(np.abs(function.at(points.columns) / scale - target))


def _function(points: Points, dimension: str, threshold: float) -> Function:
    """Return the first family that agrees with the points it is fitted to.

    The polynomial through all points always does.
    """
    if len(points.values) == 2:
        return _least_squares(points, _powers(dimension, 1))
    for function in _families(points, dimension):
        if _errors(function, points).max() <= threshold:
            return function
    return _least_squares(points, _powers(dimension, len(points.values) - 1))


def _families(points: Points, n: str) -> Iterator[Function]:
    """Fit the families that need no more than these points: table 2.1, polynomials."""
    yield _least_squares(points, ((),))
    yield _least_squares(points, ((Factor(n, 0.0, 1),), ()))
    yield _least_squares(points, _powers(n, 1))
    yield _least_squares(points, ((Factor(n, 1.0, 1),), ()))
    yield _least_squares(points, ((Factor(n, 2.0),), ()))
    yield _least_squares(points, ((Factor(n, 3.0),), ()))
    if points.values.min() > 0.0:
        slope, start = np.polyfit(points.columns[n], np.log(points.values), 1)
        if max(abs(start), abs(slope)) < 700.0:  # both exponentials are numbers
            yield Function(((Factor(n, base=math.exp(slope)),),), (math.exp(start),))
    if points.columns[n].max() <= _LARGEST_FACTORIAL:
        yield _least_squares(points, ((Factor(n, factorial=True),), ()))
    for order in range(2, len(points.values)):
        yield _least_squares(points, _powers(n, order))


def _powers(n: str, order: int) -> tuple[Term, ...]:
    return (*(((Factor(n, float(k)),)) for k in range(order, 0, -1)), ())


def _least_squares(points: Points, terms: tuple[Term, ...]) -> Function:
    """Fit coefficients of either sign, by relative error."""
    columns = Function(terms, (0.0,) * len(terms)).columns(points.columns)
    scale, target = relative_to(points)
    scaled = columns / scale
    norms = np.linalg.norm(scaled, axis=1)
    norms[norms == 0.0] = 1.0
    found = np.linalg.lstsq((scaled / norms[:, None]).T, target, rcond=None)[0]
    return Function(terms, tuple(float(c) for c in found / norms))
