"""Models of quantities that are made of times: a speedup, an efficiency, a rate.

A model is fitted to times, which are always positive. The other quantities are made of
what it says of times:

    speedup    = T(reference) / T
    efficiency = speedup x ranks of the reference / ranks
    rate       = amount / T

The amount is a formula of the inputs and has no error, so the interval of a rate is
that of the time, turned round. Both times of a speedup are of one model. The noise of
the two runs is independent, and so is what each of them lies ahead of the runs: squares
are added. What formulas that fit about as well differ by is taken from their speedups.
The reference is never surer than the error at the runs on the smallest ranks, where
families that look ahead fit least.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import (
    Expression,
    Name,
    Number,
    Product,
    Quotient,
    evaluate,
    names,
    replaced,
)
from skelgen.models.formulas.expression import Values
from skelgen.models.intervals import NORMAL, disagreement
from skelgen.models.model import Model, ModelPrediction, predict_with, wide_doubts
from skelgen.models.quantities import Quantity, QuantityKind, reference_among
from skelgen.models.runs import LARGEST, SMALLEST, Floats, Meaning, ModelInput
from skelgen.trust import Doubt, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedModel(Model):
    """A model of a quantity that is made of times.

    Attributes
    ----------
    base : Model
        Of the times.
    reference : tuple of (str, float)
        Values of inputs that a time is compared at; empty for a rate.
    """

    base: Model
    reference: tuple[tuple[str, float], ...] = ()

    def half_width(self, values: Values) -> Floats:
        """Return half of the 90 % interval at cases: a difference of logarithms.

        0 at the reference, infinite where one of two times is none.
        """
        if not self.reference:
            return self.base.half_width(values)
        base, fixed = self.base, dict(self.reference)
        there = {**values, **fixed}
        if base.parts:
            here, other = base.half_width(values), base.half_width(there)
        else:
            ratios = [
                (share, _ratio(formula, fixed)) for share, formula in base.alternatives
            ]
            ratio = _value(_ratio(base.formula, fixed), values)
            apart = disagreement(ratios, ratio, values)
            here = base.half_width_where(values, apart)
            other = base.half_width_where(there)
        seen = NORMAL * max(base.scale.smallest, *_at_smallest(base))
        widths = (here, np.maximum(other, seen))
        same = np.all(
            [np.equal(values[name], number) for name, number in self.reference], axis=0
        )
        times = (base.at(values), base.at(there))
        good = np.all([one > 0.0 for one in np.broadcast_arrays(*times)], axis=0)
        half = np.where(good, np.hypot(*widths), np.inf)
        return np.asarray(np.where(same & good, 0.0, half))


def _at_smallest(base: Model) -> list[float]:
    """Return the errors of parts at the runs on the smallest ranks."""
    return [0.0, *(one.model.scale.smallest for one in base.parts)]


def _value(formula: Expression, values: Values) -> Floats:
    with np.errstate(all="ignore"):
        return evaluate(formula, values)


def _ratio(formula: Expression, reference: Mapping[str, float]) -> Expression:
    return Quotient(with_numbers(formula, reference), formula)


def with_numbers(formula: Expression, values: Mapping[str, float]) -> Expression:
    """Return a formula with numbers for some of its names."""

    def number(part: Expression) -> Expression | None:
        known = isinstance(part, Name) and part.name in values
        return Number(float(values[part.name])) if known else None  # type: ignore[union-attr]

    return replaced(formula, number)


def derive(
    model: Model, quantity: Quantity, constants: Mapping[str, float] | None = None
) -> Model:
    """Return a model of a quantity that is made of the times of a model.

    Parameters
    ----------
    model : Model
        Of times.
    quantity : Quantity
    constants : mapping of str to float, optional
        Values of names of an amount that are no inputs of the model.

    Raises
    ------
    InputError
        When the model has no input that the quantity needs.
    """
    if quantity.is_time:
        return model
    reference: tuple[tuple[str, float], ...] = ()
    doubts: tuple[Doubt, ...] = ()
    if quantity.amount is not None:
        formula: Expression = Quotient(
            _amount(model, quantity.amount, constants or {}), model.formula
        )
    else:
        reference = reference_of(model, quantity)
        formula = _compared(model, quantity.kind, dict(reference))
        doubts = _beside_runs(model, dict(reference))
    return DerivedModel(
        family=model.family,
        formula=formula,
        inputs=model.inputs,
        quantity=str(quantity.kind),
        unit=quantity.unit(model.unit),
        scale=model.scale,
        dropped=model.dropped,
        doubts=(*model.doubts, *doubts),
        notes=model.notes,
        base=model,
        reference=reference,
    )


def _amount(
    model: Model, amount: Expression, constants: Mapping[str, float]
) -> Expression:
    inputs = {one.input.name for one in model.inputs}
    found = with_numbers(
        amount, {k: v for k, v in constants.items() if k not in inputs}
    )
    if unknown := [name for name in names(found) if name not in inputs]:
        known = ", ".join([*(one.input.name for one in model.inputs), *constants])
        raise InputError(
            f"rate: there is no {unknown[0]}; write it with what the runs have: {known}"
        )
    return found


def _compared(
    model: Model, kind: QuantityKind, reference: Mapping[str, float]
) -> Expression:
    speedup = _ratio(model.formula, reference)
    if kind is QuantityKind.SPEEDUP:
        return speedup
    ranks = _ranks(tuple(one.input for one in model.inputs))
    return Product((speedup, _ratio(ranks, reference)))


def _ranks(inputs: tuple[ModelInput, ...]) -> Expression:
    """Return the number of ranks: one input, or nodes times ranks per node."""
    parallel = [one for one in inputs if one.meaning.parallel]
    ranks = [one for one in parallel if one.meaning is Meaning.RANKS]
    found: list[Expression] = [Name(one.name) for one in ranks[:1] or parallel]
    return found[0] if len(found) == 1 else Product(tuple(found))


def reference_of(model: Model, quantity: Quantity) -> tuple[tuple[str, float], ...]:
    """Return the values of inputs at which a speedup is 1.

    Raises
    ------
    InputError
        When the model has no such input, or not the one that is given.
    """
    lows = {
        one.input.name: one.low for one in model.inputs if one.input.meaning.parallel
    }
    return reference_among(lows, quantity, model.dropped)


def _beside_runs(model: Model, reference: Mapping[str, float]) -> tuple[Doubt, ...]:
    """Doubt a reference that is not within the runs."""
    doubts = []
    for one in model.inputs:
        value = reference.get(one.input.name, one.low)
        if not one.low <= value <= one.high:
            told = f"the reference {one.input.name}={value:g} is outside of the runs, "
            told += f"which have {one.low:g} to {one.high:g}"
            remedy = f"add runs with {one.input.name}={value:g}"
            doubts.append(Doubt("extrapolation", told, remedy))
    return tuple(doubts)


def predict_quantity(
    model: Model,
    quantity: Quantity,
    values: Mapping[str, float],
    constants: Mapping[str, float] | None = None,
) -> ModelPrediction:
    """Ask a model of times for a quantity.

    Parameters
    ----------
    model : Model
        Of times.
    quantity : Quantity
    values : mapping of str to float
        A value of each input of the model; others are ignored.
    constants : mapping of str to float, optional
        See `derive`.

    Raises
    ------
    InputError
        As `predict_with`, and where the quantity needs an input that is not there.
    """
    derived = derive(model, quantity, constants)
    check_times(derived, values)
    return predict_with(derived, values)


def check_times(model: Model, values: Mapping[str, float]) -> None:
    """Refuse to divide by a time that is none: a quotient of two may look well.

    Raises
    ------
    InputError
    """
    if isinstance(model, DerivedModel):
        predict_with(model.base, values)
        predict_with(model.base, {**values, **dict(model.reference)})


def rate_of(time: ModelPrediction, amount: float) -> ModelPrediction:
    """Return the rate at which an amount is done in a predicted time.

    Raises
    ------
    InputError
        When the amount is no number that can be meant.
    """
    if not SMALLEST <= amount <= LARGEST:
        raise InputError(
            f"rate: the amount is {amount:g} there; expected a number from "
            f"{SMALLEST:g} to {LARGEST:g}"
        )
    ends = time.interval
    interval = Interval(amount / ends.p95, amount / ends.p50, amount / ends.p5)
    doubts: list[Doubt] = []
    for one in time.doubts:
        again = wide_doubts(interval) if one.code == "interval-too-wide" else (one,)
        doubts += [replace(new, remedy=one.remedy) for new in again]
    return replace(time, interval=interval, doubts=tuple(doubts))
