"""A model: the formula of a family with its interval, its range and its doubts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings, FittedFormula
from skelgen.models.families.contract import TemplateForm
from skelgen.models.formulas import Expression, evaluate, to_text
from skelgen.models.formulas.expression import Values
from skelgen.models.intervals import (
    Scale,
    disagreement,
    error_at_smallest,
    scale_of,
)
from skelgen.models.odd_runs import no_error_known, odd_values, too_few
from skelgen.models.runs import LARGEST, SMALLEST, Floats, ModelInput, RunTable
from skelgen.models.thresholds import (
    LARGEST_NOISE,
    UNDOUBTED_FACTOR_AHEAD,
    WIDEST_AFTER_CHANGE,
)
from skelgen.trust import Doubt, Interval, verdict_of

#: Half of the widest interval: nobody knows (a difference of logarithms).
MOST_WIDE = 200.0

#: A factor to one side of an interval above which an answer is doubted: an error above
#: 20 % is more likely than not.
_WIDEST = math.exp(0.5)


@dataclass(frozen=True, slots=True)
class InputRange:
    """An input of a model and the values it has seen.

    Attributes
    ----------
    input : ModelInput
    low, high : float
    usual, spread : float
        Of a load: median over the longer half of the runs, and deviation of its
        logarithm from run to run; nan where nobody kept it.
    """

    input: ModelInput
    low: float
    high: float
    usual: float = math.nan
    spread: float = math.nan

    def beyond(self, value: Any) -> Floats:
        """Return the logarithm of the factor by which values lie outside."""
        outside = np.maximum(np.log(value / self.high), np.log(self.low / value))
        return np.asarray(np.maximum(outside, 0.0))


@dataclass(frozen=True, slots=True)
class Model:
    """A fitted model, ready to be asked.

    Attributes
    ----------
    family : str
    formula : Expression
    inputs : tuple of InputRange
    quantity, unit : str
        Of what it predicts.
    scale : Scale
    alternatives : tuple of (float, Expression)
    dropped : tuple of str
    doubts : tuple of Doubt
        Whatever it is asked for.
    notes : tuple of str
    coefficients : tuple of (str, float)
    error : float
        Relative, of runs that were left out; nan where the family leaves none out [1].
    parts : tuple of PartModel
        Models of parts of a run, of which this is the sum.
    together : float
        How much the errors of parts go together in one run: a correlation [0 to 1].
    template : TemplateForm or None
        The formula that a user gave, where one did.
    """

    family: str
    formula: Expression
    inputs: tuple[InputRange, ...]
    quantity: str
    unit: str
    scale: Scale
    alternatives: tuple[tuple[float, Expression], ...] = ()
    dropped: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    coefficients: tuple[tuple[str, float], ...] = ()
    error: float = math.nan
    parts: tuple[PartModel, ...] = ()
    together: float = 0.0
    template: TemplateForm | None = None

    @property
    def text(self) -> str:
        """The formula for people."""
        return to_text(self.formula, digits=4)

    def at(self, values: Values) -> Floats:
        """Evaluate the formula at cases: nan, infinite or below 0 where it says so."""
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        return np.broadcast_to(evaluate(self.formula, values), shape)

    def half_width(self, values: Values) -> Floats:
        """Return half of the 90 % interval at cases: a difference of logarithms.

        Of a sum of parts with half widths h_i in its unit, that is the root of
        (1 - together) sum h_i^2 + together (sum h_i)^2, over the sum.
        """
        if self.parts:
            return self._half_width_of_parts(values)
        with np.errstate(all="ignore"):  # where one of them is 0 they are far apart
            apart = disagreement(self.alternatives, self.at(values), values)
        return self.half_width_where(values, apart)

    def half_width_where(self, values: Values, apart: Floats | float = 0.0) -> Floats:
        """Return half of the interval where formulas that fit as well are so apart."""
        outside = [
            one.beyond(values[one.input.name])
            for one in self.inputs
            if not one.input.meaning.available
        ]
        beyond = np.sqrt(sum((one**2 for one in outside), np.zeros(())))
        with np.errstate(all="ignore"):
            scale = self.scale.at(self.at(values), np.asarray(apart), beyond)
        return np.asarray(self.scale.factor * scale)

    def _half_width_of_parts(self, values: Values) -> Floats:
        each = [one.model.at(values) for one in self.parts]
        widths = np.stack(
            [
                value * one.model.half_width(values)
                for one, value in zip(self.parts, each, strict=True)
            ]
        )
        apart, equal = np.sum(widths**2, axis=0), np.sum(widths, axis=0) ** 2
        both = (1.0 - self.together) * apart + self.together * equal
        return np.asarray(np.sqrt(both) / np.sum(each, axis=0))


@dataclass(frozen=True, slots=True)
class PartModel:
    """A model of a part of a run.

    Attributes
    ----------
    name : str
    share : float
        Of the time of the runs that it was fitted to [0 to 1].
    model : Model
    """

    name: str
    share: float
    model: Model


@dataclass(frozen=True, slots=True)
class ModelPrediction:
    """What a model says.

    Attributes
    ----------
    at : tuple of (str, float)
        What it was asked for.
    interval : Interval
        The value in the middle, in the unit of the model.
    doubts : tuple of Doubt
    """

    at: tuple[tuple[str, float], ...]
    interval: Interval
    doubts: tuple[Doubt, ...]

    @property
    def verdict(self) -> str:
        """``trust`` or ``do not trust``."""
        return verdict_of(self.doubts)


def fit_model(
    runs: RunTable, family: str = "default", settings: FamilySettings | None = None
) -> Model:
    """Fit a model to runs.

    Parameters
    ----------
    runs : RunTable
    family : str
        One of `FAMILIES`.
    settings : FamilySettings, optional

    Returns
    -------
    Model

    Raises
    ------
    InputError
        When there is no such family, or the runs do not determine a model of it.
    """
    settings = settings or FamilySettings()
    if family not in FAMILIES:
        raise InputError(
            f"there is no family {family!r}; there are {', '.join(FAMILIES)}"
        )
    chosen = runs.with_loads_of(FAMILIES[family].when)
    found = FAMILIES[family].fit(chosen, settings)
    used = found.used if found.used is not None else chosen
    names = {one.name for one in chosen.inputs}
    others = tuple(one.name for one in runs.inputs if one.name not in names)
    found = replace(
        found,
        dropped=(*found.dropped, *others),
        doubts=(*runs.doubts, *found.doubts, *_of_runs(runs, found)),
        notes=(*runs.notes, *found.notes),
    )
    with np.errstate(all="ignore"):  # formulas that are 0 somewhere are far apart
        scale = scale_of(FAMILIES[family], settings, used, found)
        scale = replace(scale, smallest=error_at_smallest(chosen, found))
    alone = not scale.tested or len(found.alternatives) == 1
    if alone and found.error > scale.noise:
        # Where no runs ahead could be asked for, and no other formula differs, those
        # that were left out tell more than those that were fitted.
        scale = replace(scale, noise=found.error)
    scale = replace(scale, noise=min(scale.noise, LARGEST_NOISE))
    return _model(found, used, scale)


def _of_runs(runs: RunTable, found: FittedFormula) -> tuple[Doubt, ...]:
    """Doubt what runs cannot tell, whatever the family."""
    if found.template:
        few = no_error_known(runs, len(found.coefficients))
    else:
        few = too_few(runs, found.formula)
    return (*few, *odd_values(runs, found.formula))


def _model(found: FittedFormula, used: RunTable, scale: Scale) -> Model:
    columns = used.columns
    return Model(
        family=found.family,
        formula=found.formula,
        inputs=tuple(
            InputRange(
                one,
                float(columns[one.name].min()),
                float(columns[one.name].max()),
                *_usual(one, columns[one.name], used.values),
            )
            for one in found.inputs
        ),
        quantity=used.quantity,
        unit=used.unit,
        scale=scale,
        alternatives=found.alternatives,
        dropped=found.dropped,
        doubts=found.doubts,
        notes=found.notes,
        coefficients=found.coefficients,
        error=found.error,
        template=found.template,
    )


def _usual(one: ModelInput, column: Floats, times: Floats) -> tuple[float, float]:
    """Return what runs had of a load, and by how much it differed between them."""
    if not one.meaning.available:
        return math.nan, math.nan
    logs = np.log(column[times >= np.median(times)])
    middle = float(np.median(logs))
    return math.exp(middle), 1.4826 * float(np.median(np.abs(logs - middle)))


def predict_with(model: Model, values: Mapping[str, float]) -> ModelPrediction:
    """Ask a model.

    Parameters
    ----------
    model : Model
    values : mapping of str to float
        A value of each input of the model; others are ignored.

    Returns
    -------
    ModelPrediction

    Raises
    ------
    InputError
        When an input is missing or no number that can be meant, or when the formula
        gives no positive number there.
    """
    at = {one.input.name: _asked(one.input, values) for one in model.inputs}
    value = float(evaluate(model.formula, at))
    if not SMALLEST <= value <= LARGEST:
        shown = ", ".join(f"{name}={number:g}" for name, number in at.items())
        raise InputError(
            f"the model of the family {model.family} says {value:g} {model.unit} at "
            f"{shown}: that is no {model.quantity}; ask nearer to its runs, or use the "
            "family default"
        )
    wide = float(np.nan_to_num(model.half_width(at), nan=MOST_WIDE))
    factor = math.exp(min(wide, MOST_WIDE))
    interval = Interval(value / factor, value, value * factor)
    doubts = (*_still(model, wide), *_far(model, at), *wide_doubts(interval))
    return ModelPrediction(tuple(at.items()), interval, doubts)


def _asked(one: ModelInput, values: Mapping[str, float]) -> float:
    if one.name not in values:
        raise InputError(f"the model needs {one.name}; give it")
    value = float(values[one.name])
    if not SMALLEST <= value <= LARGEST or (one.meaning.available and value > 1.0):
        raise InputError(
            f"{one.name} is {value:g}; "
            + (
                "a part that is left is above 0 and at most 1"
                if one.meaning.available
                else f"a model takes numbers from {SMALLEST:g} to {LARGEST:g}"
            )
        )
    return value


def _still(model: Model, wide: float) -> tuple[Doubt, ...]:
    """Return the doubts of the fit that remain where half of the interval is `wide`.

    An interval that has a change of regime in it, and is narrow, says that the change
    matters little there.
    """
    if not model.scale.ahead or wide > WIDEST_AFTER_CHANGE:
        return model.doubts
    return tuple(one for one in model.doubts if one.code != "knee")


def _far(model: Model, at: Mapping[str, float]) -> tuple[Doubt, ...]:
    """Doubt what lies farther ahead than was tested."""
    limit = max(model.scale.tested * 2, float(np.log(UNDOUBTED_FACTOR_AHEAD)))
    doubts = []
    for one in model.inputs:
        value = at[one.input.name]
        if one.low == one.high != value:
            told = (
                f"{one.input.name} was {one.low:g} in all runs, and {value:g} is asked"
            )
            remedy = f"add a run with another {one.input.name}"
            doubts.append(Doubt("extrapolation", told, remedy))
            continue
        if one.input.meaning.available or one.beyond(value) <= limit:
            continue
        edge = one.high if value > one.high else one.low
        told = f"{one.input.name}={value:g} is far from the runs, which have "
        told += f"{one.low:g} to {one.high:g}"
        remedy = f"run it between {edge:g} and {value:g}"
        doubts.append(Doubt("extrapolation", told, remedy))
    return tuple(doubts)


def wide_doubts(interval: Interval) -> tuple[Doubt, ...]:
    """Doubt an interval that says little."""
    wide = max(interval.p95 / interval.p50, interval.p50 / interval.p5)
    if wide <= _WIDEST:
        return ()
    told = f"the interval is a factor of {wide:.3g} wide to both sides"
    if not math.isclose(interval.p95 / interval.p50, interval.p50 / interval.p5):
        told = f"the interval goes from {interval.p5 / interval.p50:.2g} to "
        told += f"{interval.p95 / interval.p50:.3g} of the value"
    return (Doubt("interval-too-wide", told, "add runs nearer to it"),)
