"""The functions of one machine with the coefficients of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.combinations import relative_to, solve, term_cost
from skelgen.models.points import Points
from skelgen.models.types import Candidate, Fit, Flag, FlagKind, Function


def refit(
    fit: Fit,
    workloads: Sequence[Mapping[str, float]],
    values: Sequence[float],
    *,
    threshold: float = 0.05,
) -> Fit:
    """Give a fitted model the coefficients of another machine.

    The terms stay. With few points the whole function is scaled by one factor; with
    more, each coefficient is found anew when that meets points left out better.

    Parameters
    ----------
    fit : Fit
        Of the machine where many workloads were recorded.
    workloads, values : sequence
        Measured on the other machine; one is enough.
    threshold : float
        Relative error above which the functions do not fit there [1].

    References
    ----------
    Martinez Canillas 2011, section 5.5.4.
    """
    points = Points.gather(workloads, values, whole=fit.whole)
    if set(points.dimensions) != set(fit.dimensions):
        raise InputError(
            f"the model is a function of {', '.join(fit.dimensions)}, the workloads "
            f"have {', '.join(points.dimensions)}; give the same dimensions"
        )
    candidates = tuple(_refitted(one, points) for one in fit.candidates)
    flags = [flag for flag in fit.flags if flag.kind is not FlagKind.FEW_POINTS]
    if len(points.values) <= len(fit.function.terms):
        told = f"workloads of this machine: {len(points.values)}; functions of as many "
        told += "coefficients and more are scaled as a whole, record more to tell"
        flags.append(Flag(FlagKind.FEW_POINTS, told))
    if len(points.values) > 1 and candidates[0].error > threshold:
        told = "the functions of the first machine miss points left out here by "
        told += f"{candidates[0].error:.1%}; fit this machine by its own points"
        flags.append(Flag(FlagKind.MISFIT, told))
    at = points.at[:, [points.dimensions.index(name) for name in fit.dimensions]]
    return replace(
        fit,
        points=tuple(tuple(map(float, point)) for point in at),
        values=tuple(map(float, points.values)),
        candidates=candidates,
        flags=tuple(flags),
        elsewhere=fit.points + fit.elsewhere,
    )


def _refitted(old: Candidate, points: Points) -> Candidate:
    """Scale a function, or find its coefficients anew where that does better."""
    scale, target = relative_to(points)
    columns = old.function.columns(points.columns) / scale
    before = np.array(old.function.coefficients)
    solved = solve((before @ columns)[None, :], target, np.array([[0]]))
    factor, error = float(solved.coefficients[0, 0]), float(solved.errors[0])
    covariance = solved.covariance[0] * error**2 * np.outer(before, before)
    if len(target) == 1:  # nothing is left out of one point
        error = old.error
        covariance = (error * factor) ** 2 * np.outer(before, before)
    after = factor * before
    if 1 < len(before) < len(target):
        anew = solve(columns, target, np.arange(len(before))[None, :])
        kept = (anew.coefficients[0] * before > 0.0).all()
        if kept and anew.errors[0] * term_cost(len(before), len(target)) < error:
            error, after = float(anew.errors[0]), anew.coefficients[0]
            covariance = anew.covariance[0] * error**2
    function = Function(old.function.terms, tuple(map(float, after)))
    rows = tuple(tuple(map(float, row)) for row in covariance)
    return Candidate(function, error, old.probability, rows)
