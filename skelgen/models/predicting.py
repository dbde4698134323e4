"""Evaluate a fitted model at a workload, with an interval and flags."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from skelgen.errors import InputError
from skelgen.models.types import (
    Fit,
    Flag,
    FlagKind,
    Floats,
    Prediction,
    Values,
    written,
)

#: 95 % quantile of Student's t for 1, 2, ... degrees of freedom; 1.65 is the limit.
_T95 = (6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81)

#: A count farther than this from a whole number is told.
_WHOLE = 0.05

#: Smaller misses are errors of rounding [1].
_NOTHING = 1e-9


def predict(fit: Fit, workload: Mapping[str, float]) -> Prediction:
    """Evaluate a model at a workload.

    Parameters
    ----------
    fit : Fit
    workload : mapping of str to float
        A value for each dimension of the model; others are ignored.

    Returns
    -------
    Prediction
        With the flags of the fit and those of this workload: outside the recorded
        ones, below zero, not a whole number.
    """
    for name in fit.dimensions:
        if name not in workload:
            raise InputError(
                f"the workload has no value for {name}: the model is a function of "
                f"{', '.join(fit.dimensions)}; give each of them"
            )
    at = {name: float(workload[name]) for name in fit.dimensions}
    if not all(math.isfinite(value) and value >= 0.0 for value in at.values()):
        raise InputError(
            f"workload {written(at)}: each value must be a number of at least 0"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # told below
        value, deviation = float(fit.function.at(at)), float(spread(fit, at))
    width = t95(fit) * deviation
    if not math.isfinite(value + width):
        raise InputError(
            f"{fit.function.text} at {written(at)} is not known: that is too far from "
            "the recorded workloads; record one nearer to it"
        )
    flags = list(fit.flags) + _outside(fit, at)
    if value < 0.0:
        told = f"{fit.function.text} is {value:.4g} at {written(at)}; taken as 0"
        flags.append(Flag(FlagKind.NEGATIVE, told))
        value = 0.0
    if fit.whole and abs(value - round(value)) > _WHOLE:
        told = f"{value:.2f} is not a whole number; rounded to {round(value)}"
        flags.append(Flag(FlagKind.NOT_WHOLE, told))
    low, high = max(0.0, value - width), value + width
    if fit.whole:
        low, value, high = (float(round(end)) for end in (low, value, high))
    return Prediction(value, low, high, tuple(flags))


def spread(fit: Fit, values: Values) -> Floats:
    """Return the standard deviation of what the true function may be at workloads.

    It holds what the candidates differ by from the chosen one, by their probability,
    and how uncertain their coefficients are.
    """
    middle = fit.function.at(values)
    variance = np.zeros_like(middle)
    for candidate in fit.candidates:
        terms = candidate.function.columns(values)
        own = np.einsum("i...,ij,j...", terms, np.array(candidate.covariance), terms)
        gap = candidate.function.at(values) - middle
        variance = variance + candidate.probability * (np.maximum(own, 0.0) + gap**2)
    return np.asarray(np.sqrt(variance))


def t95(fit: Fit) -> float:
    """Return the factor from a standard deviation to half the 90 % interval."""
    freedom = max(len(fit.points) - len(fit.function.terms), 1)
    return _T95[freedom - 1] if freedom <= len(_T95) else 1.65


def summed(widths: Floats, found: Floats, known: Floats) -> Floats:
    """Return how far a sum may be off, from how far each of its parts may be.

    Parts of one run are not off on their own: a slow second slows all of them. The sum
    is off by as much more as it misses the workloads more than parts would that miss
    them independently. Where nothing is missed all may be off to the same side.

    Parameters
    ----------
    widths : (parts, ...) float64 array
    found, known : (parts, workloads) float64 array
        Parts at recorded workloads: by their functions, and as recorded, not a number
        where they were not.
    """
    misses = (found - known) / known.sum(axis=0)
    misses = misses[:, np.isfinite(misses).all(axis=0)]
    most, alone = np.asarray(widths.sum(axis=0)), float(np.linalg.norm(misses))
    if alone < _NOTHING:
        return most
    together = max(1.0, float(np.linalg.norm(misses.sum(axis=0))) / alone)
    return np.asarray(np.minimum(most, together * np.linalg.norm(widths, axis=0)))


def _outside(fit: Fit, at: Mapping[str, float]) -> list[Flag]:
    """Tell what of a workload lies outside the recorded ones, and by how much.

    Between two recorded workloads, one not larger and one not smaller in every
    dimension, a growing function is bounded; elsewhere it is not.
    """
    flags = []
    points = np.array(fit.points + fit.elsewhere)
    for i, name in enumerate(fit.dimensions):
        low, high, here = points[:, i].min(), points[:, i].max(), at[name]
        if low <= here <= high:
            continue
        edge = high if here > high else low
        times = f"{here / edge:.3g} times " if edge else ""
        if low == high:
            told = f"{name} was {low:g} in every recorded workload; its effect at "
            told += f"{here:g} is unknown, record others"
        else:
            side = "largest" if here > high else "smallest"
            told = f"{name}={here:g} is {times}the {side} recorded one ({edge:g}); "
            told += "record one there"
        flags.append(Flag(FlagKind.EXTRAPOLATION, told, name))
    wanted = np.array([at[name] for name in fit.dimensions])
    above, below = (points >= wanted).all(axis=1), (points <= wanted).all(axis=1)
    if not flags and not (above.any() and below.any()):
        side = "large" if not above.any() else "small"
        told = f"no recorded workload is as {side} as {written(at)} in all dimensions "
        told += "at once: what they do together is extrapolated, record one there"
        flags.append(Flag(FlagKind.EXTRAPOLATION, told))
    return flags
