"""Fit a function of the workload to measured values, and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.models import separate, thesis
from skelgen.models.checks import few, misfits
from skelgen.models.combinations import choose
from skelgen.models.points import Points
from skelgen.models.types import Candidate, Fit, Flag, FlagKind, written

#: Products of terms of more dimensions are too many to try.
_MOST_JOINTLY = 3

Method = Literal["combinations", "thesis"]


def fit(
    workloads: Sequence[Mapping[str, float]],
    values: Sequence[float],
    *,
    method: Method = "combinations",
    separately: bool = False,
    whole: bool = False,
    threshold: float = 0.05,
) -> Fit:
    """Fit a function of the workload.

    Parameters
    ----------
    workloads : sequence of mapping of str to float
        Recorded workloads; one recorded several times counts once, with the mean.
    values : sequence of float
        Phase time [s] or weight at each.
    method : {"combinations", "thesis"}
        Non-negative combinations of n^i log^j n chosen by leave-one-out error, or the
        thesis' families and procedure (one dimension at a time).
    separately : bool
        Fit each dimension by the points where only it varies, and multiply.
    whole : bool
        Values are counts (weights): predictions are whole numbers.
    threshold : float
        Relative error above which a function does not fit [1].

    Returns
    -------
    Fit

    Examples
    --------
    >>> sizes = [{"n": n} for n in (100, 200, 400, 800)]
    >>> fit(sizes, [2e-6 * w["n"] ** 2 for w in sizes]).function.text
    '2e-06 n^2'
    """
    points = Points.gather(workloads, values, whole=whole)
    if not points.varied:
        raise InputError(
            f"all workloads are {written(workloads[0])}: a function of the workload "
            "needs at least two different ones; record another, or take those of "
            "another machine"
        )

    def of_one(line: Points) -> tuple[tuple[Candidate, ...], list[Flag]]:
        if method == "thesis":
            return thesis.procedure(line, threshold=threshold)
        return choose(line, whole=whole), []

    if len(points.varied) > 1 and (separately or method == "thesis"):
        candidates, flags = separate.multiply(points, of_one, threshold=threshold)
    else:
        _check_jointly(points)
        candidates, flags = of_one(points)
    missed = misfits(points, candidates[0], threshold=threshold)
    if flags:  # the method has said already that its error is too large
        missed = [flag for flag in missed if flag.kind is FlagKind.KNEE]
    flags = few(points) + flags + missed
    if whole and (np.abs(points.values - np.round(points.values)) > 1e-9).any():
        told = "a recorded weight is not a whole number; they are counts of occurrences"
        flags.append(Flag(FlagKind.NOT_WHOLE, told))
    return Fit(
        method,
        points.dimensions,
        tuple(tuple(map(float, point)) for point in points.at),
        tuple(map(float, points.values)),
        candidates,
        whole,
        tuple(flags),
    )


def _check_jointly(points: Points) -> None:
    """Refuse dimensions of which there are too many products of terms."""
    if len(points.varied) > _MOST_JOINTLY:
        raise UsageError(
            f"{', '.join(points.varied)} vary, at most {_MOST_JOINTLY} dimensions are "
            "fitted jointly: fit each on its own (--separately), plan with --method "
            "bisection, or leave some as they are"
        )
