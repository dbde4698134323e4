"""Several dimensions one at a time, as the thesis treats them.

Each dimension is fitted by the points where only it varies. The function of all is
the product of these, each divided by its value where they meet.

References
----------
Martinez Canillas 2011, section 6.4.3 (Sweep3D-n and Sweep3D-i).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from skelgen.errors import InputError
from skelgen.models.points import Points
from skelgen.models.types import Candidate, Flag, FlagKind, Function

#: Terms that are a smaller part of the product are errors of rounding [1].
_NOTHING = 1e-12

#: Fits the points of a line, where one dimension varies.
FitLine = Callable[[Points], tuple[tuple[Candidate, ...], list[Flag]]]


def multiply(
    points: Points, fit_line: FitLine, *, threshold: float
) -> tuple[tuple[Candidate, ...], list[Flag]]:
    """Fit each dimension on its own and multiply the functions."""
    lines = lines_of(points)
    flags: list[Flag] = []
    parts = []
    for name, line in lines.items():
        if len(line.values) < 2:
            raise InputError(
                f"{name} never varies alone in the {len(points.values)} workloads; "
                "record one that differs from another in it only, or fit jointly"
            )
        candidates, told = fit_line(line)
        parts.append(candidates[0])
        flags += told
    base = {name: float(v[_base(points)]) for name, v in points.columns.items()}
    function = _product([part.function for part in parts], base)
    errors = np.abs(function.at(points.columns) / np.maximum(points.values, 1e-300) - 1)
    on_a_line = _differences(points)[_base(points)] <= 1
    error = math.sqrt(sum(part.error**2 for part in parts))
    if not on_a_line.all():
        worst = float(errors[~on_a_line].max())
        error = max(error, worst)
        if worst > threshold:
            text = "the product misses a workload where several dimensions vary by "
            text += f"{worst:.1%}: they do not act separately, fit jointly"
            flags.append(Flag(FlagKind.MISFIT, text))
    c = np.array(function.coefficients)
    rows = tuple(tuple(map(float, row)) for row in error**2 * np.outer(c, c))
    return (Candidate(function, error, 1.0, rows),), flags


def lines_of(points: Points) -> dict[str, Points]:
    """Return for each varied dimension the points where only it varies.

    All lines meet in the point with most others on its lines.
    """
    base = points.at[_base(points)]
    return {
        name: points.only(np.all(np.delete(points.at == base, i, axis=1), axis=1))
        for i, name in enumerate(points.dimensions)
        if name in points.varied
    }


def _differences(points: Points) -> np.ndarray:
    """Return in how many dimensions each point differs from each other."""
    return np.asarray(np.sum(points.at[:, None] != points.at[None, :], axis=2))


def _base(points: Points) -> int:
    return int(np.argmax(np.sum(_differences(points) == 1, axis=1)))


def _product(functions: list[Function], base: dict[str, float]) -> Function:
    """Multiply sums of terms out: the product is a sum of products."""
    at_base = [float(function.at(base)) for function in functions]
    if min(at_base) <= 0.0:
        raise InputError(
            f"{min(at_base):g} at {base}, where the dimensions meet: functions cannot "
            "be multiplied there; fit jointly"
        )
    scale = float(np.exp(np.mean(np.log(at_base)))) / math.prod(at_base)
    pairs = [list(zip(f.terms, f.coefficients, strict=True)) for f in functions]
    terms, coefficients = [], []
    for chosen in itertools.product(*pairs):
        terms.append(tuple(factor for term, _ in chosen for factor in term))
        coefficients.append(scale * math.prod(c for _, c in chosen))
    function = Function(tuple(terms), tuple(coefficients))
    parts = np.abs(function.columns(base) * coefficients)
    kept = np.flatnonzero(parts > _NOTHING * parts.max())
    return Function(tuple(terms[i] for i in kept), tuple(coefficients[i] for i in kept))
