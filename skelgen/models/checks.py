"""What is wrong with a fit: too few points, a knee, no function that fits."""

from __future__ import annotations

import math

import numpy as np

from skelgen.models.combinations import choose
from skelgen.models.points import Points
from skelgen.models.separate import lines_of
from skelgen.models.types import Candidate, Flag, FlagKind

#: A knee shows only with so many points on each side.
_SIDE = 3

#: Two pieces must be better than one function by this.
_BETTER = 2.0


def misfits(points: Points, chosen: Candidate, *, threshold: float) -> list[Flag]:
    """Tell where and how much the chosen function misses, and whether at a knee."""
    if chosen.error <= threshold:
        return []
    knees = [
        flag
        for name, line in lines_of(points).items()
        if (flag := knee(line, name, threshold=threshold)) is not None
    ]
    errors = np.abs(chosen.function.at(points.columns) - points.values)
    worst = int(np.argmax(errors / np.maximum(points.values, 1e-300)))
    at = ", ".join(f"{k}={v[worst]:g}" for k, v in points.columns.items())
    told = f"the best function, {chosen.function.text}, misses points left out by "
    told += f"{chosen.error:.1%} (threshold {threshold:.1%}), {at} most"
    return [*knees, Flag(FlagKind.MISFIT, told)]


def few(points: Points) -> list[Flag]:
    """Tell when no error can be trusted, and dimensions whose growth is not known."""
    flags = []
    needed = 2 + 2 * len(points.varied)
    if len(points.values) < needed:
        told = f"{len(points.values)} workloads recorded; with fewer than {needed} the "
        told += "errors say little, record more"
        flags.append(Flag(FlagKind.FEW_POINTS, told))
    for name in points.varied:
        values = np.unique(points.columns[name])
        if len(values) == 2:
            told = (
                f"{name} has two values, {values[0]:g} and {values[1]:g}; any growth "
            )
            told += "fits between them, record a third"
            flags.append(Flag(FlagKind.FEW_POINTS, told, name))
    return flags


def knee(points: Points, dimension: str, *, threshold: float) -> Flag | None:
    """Find the place where two pieces fit much better than one function.

    A cache that no longer holds the data, or another algorithm above some size. Each
    piece is a single term, judged at points left out.
    """
    order = np.argsort(points.columns[dimension])
    line = points.only(order)
    n, count = line.columns[dimension], len(line.values)
    if count < 2 * _SIDE:
        return None
    one = choose(line)[0].error
    best, split = math.inf, 0
    for i in range(_SIDE, count - _SIDE + 1):
        left, right = line.only(np.arange(i)), line.only(np.arange(i, count))
        squares = [
            len(side.values) * choose(side, most_terms=1)[0].error ** 2
            for side in (left, right)
        ]
        error = math.sqrt(sum(squares) / count)
        if error < best:
            best, split = error, i
    if best > threshold or one < _BETTER * best or one <= threshold:
        return None
    between = (float(n[split - 1]), float(n[split]))
    told = f"a knee or another algorithm between {dimension}={between[0]:g} and "
    told += f"{between[1]:g}: one function misses by {one:.1%}, one for each side by "
    told += f"{best:.1%}; fit the side you need"
    return Flag(FlagKind.KNEE, told, dimension, between)
