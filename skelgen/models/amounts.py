"""Ask models of parts of a program: times that may be nothing, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import evaluate
from skelgen.models.model import MOST_WIDE, Model, ModelPrediction, predict_with
from skelgen.models.runs import LARGEST, SMALLEST, Floats
from skelgen.models.thresholds import LARGEST_FRACTION
from skelgen.trust import Doubt, Interval

#: Functions of counts that miss by less are exact [1].
_EXACT = 1e-6

#: Doubts of a model that say less than `outside` and what is said of the whole.
_SAID_OTHERWISE = ("extrapolation", "interval-too-wide")

#: Smaller misses are errors of rounding [1].
_NOTHING = 1e-9


def predict_time(model: Model, at: Mapping[str, float]) -> ModelPrediction:
    """Predict the time of a part, which may be nothing.

    Parameters
    ----------
    model : Model
    at : mapping of str to float
        A value of each input; 0 counts as almost nothing.

    Raises
    ------
    InputError
        When it is too far from the runs for numbers.
    """
    at = _above_0(at)
    value = _value(model, at)
    if value < SMALLEST:
        return _nothing(model, value, at)
    found = predict_with(model, at)
    doubts = [one for one in found.doubts if one.code not in _SAID_OTHERWISE]
    return replace(found, doubts=tuple(doubts))


def predict_count(model: Model, at: Mapping[str, float]) -> ModelPrediction:
    """Predict a count: a whole number, and exact where its function is."""
    at = _above_0(at)
    value = _value(model, at)
    if value < 0.0:
        return _nothing(model, value, at)
    doubts = list(model.doubts)
    if abs(value - round(value)) > LARGEST_FRACTION:
        told = f"{value:.2f} is not a whole number; rounded to {round(value)}"
        doubts.append(Doubt("not-whole", told))
    wide = 0.0
    if value > 0.0 and not (model.scale.noise < _EXACT and _agree(model, at, value)):
        wide = min(float(model.half_width(at)), MOST_WIDE)
    ends = (value * np.exp(-wide), value, value * np.exp(wide))
    interval = Interval(*(float(round(end)) for end in ends))
    return ModelPrediction(tuple(at.items()), interval, tuple(doubts))


def _agree(model: Model, at: Mapping[str, float], value: float) -> bool:
    others = [float(evaluate(formula, at)) for _, formula in model.alternatives]
    return all(abs(one / value - 1.0) < _EXACT for one in others)


def _above_0(at: Mapping[str, float]) -> dict[str, float]:
    return {name: above_0(value) for name, value in at.items()}


def above_0(value: float) -> float:
    """Return a size as models take it: 0 is almost nothing."""
    return SMALLEST if value == 0.0 else float(value)


def _value(model: Model, at: Mapping[str, float]) -> float:
    for one in model.inputs:
        value = at[one.input.name]
        if not SMALLEST <= value <= LARGEST:
            raise InputError(
                f"{one.input.name} is {value:g}; a model takes numbers from "
                f"{SMALLEST:g} to {LARGEST:g}"
            )
    value = float(model.at(at))
    if not abs(value) <= LARGEST:
        where = ", ".join(f"{name}={number:g}" for name, number in at.items())
        raise InputError(
            f"{model.text} at {where} is not known: that is too far from the recorded "
            "workloads; record one nearer to it"
        )
    return value


def _nothing(model: Model, value: float, at: Mapping[str, float]) -> ModelPrediction:
    doubts = model.doubts
    if value < 0.0:
        where = ", ".join(f"{name}={number:g}" for name, number in at.items())
        told = f"{model.text} is {value:.4g} at {where}; taken as 0"
        doubts = (*doubts, Doubt("negative", told))
    return ModelPrediction(tuple(at.items()), Interval(0.0, 0.0, 0.0), doubts)


def outside(
    names: Sequence[str], recorded: Floats, at: Mapping[str, float]
) -> tuple[Doubt, ...]:
    """Doubt what of a workload lies outside the recorded ones, and say by how much.

    Between two recorded workloads, one not larger and one not smaller in every input,
    a growing function is bounded; elsewhere it is not.

    Parameters
    ----------
    names : sequence of str
    recorded : (workloads, names) float64 array
    at : mapping of str to float
    """
    doubts = []
    for i, name in enumerate(names):
        low, high, here = recorded[:, i].min(), recorded[:, i].max(), at[name]
        if low <= here <= high:
            continue
        edge = high if here > high else low
        times = f"{here / edge:.3g} times " if edge else ""
        if low == high:
            told = f"{name} was {low:g} in every recorded workload; its effect at "
            told += f"{here:g} is unknown"
            doubts.append(Doubt("extrapolation", told, "record others", name))
        else:
            side = "largest" if here > high else "smallest"
            told = f"{name}={here:g} is {times}the {side} recorded one ({edge:g})"
            doubts.append(Doubt("extrapolation", told, "record one there", name))
    wanted = np.array([at[name] for name in names])
    above, below = (recorded >= wanted).all(axis=1), (recorded <= wanted).all(axis=1)
    if not doubts and not (above.any() and below.any()):
        side = "large" if not above.any() else "small"
        where = ", ".join(f"{name}={at[name]:g}" for name in names)
        told = f"no recorded workload is as {side} as {where} in all dimensions at "
        told += "once: what they do together is extrapolated"
        doubts.append(Doubt("extrapolation", told, "record one there"))
    return tuple(doubts)


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
