"""Ask a model of times for a speedup, an efficiency, or a rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from skelgen.errors import InputError, UsageError
from skelgen.models.derived import check_times, derive, rate_of
from skelgen.models.formulas import (
    MATHEMATICS,
    Number,
    calls,
    evaluate,
    names,
    parse,
    walk,
)
from skelgen.models.model import Model
from skelgen.models.quantities import Quantity, QuantityKind
from skelgen.models.runs import LARGEST, SMALLEST
from skelgen.pipeline.load_requests import FORECAST, MEASURED, LoadRequest, typed_loads
from skelgen.pipeline.model import asked_values
from skelgen.pipeline.model_keep import FittedModel
from skelgen.pipeline.model_loads import LoadedPrediction, predict_under_load
from skelgen.progress import Progress

_EXPECTED = "expected time, speedup, efficiency or rate:COLUMN, such as rate:n^3"


def asked_quantity(text: str, reference: str = "") -> Quantity:
    """Read ``speedup`` and ``ranks=1``, or ``rate:n^3``.

    Raises
    ------
    UsageError
    """
    word, colon, amount = text.partition(":")
    if word not in set(QuantityKind):
        raise UsageError(f"--quantity: read {text[:60]!r}, {_EXPECTED}")
    kind = QuantityKind(word)
    if (kind is QuantityKind.RATE) != bool(colon):
        raise UsageError(f"--quantity: read {text[:60]!r}, {_EXPECTED}")
    if reference and not kind.compares:
        raise UsageError("--reference is for --quantity speedup or efficiency")
    at = asked_values(reference, "--reference") if reference else {}
    for name, value in at.items():
        if not SMALLEST <= value <= LARGEST:
            raise UsageError(f"--reference: {name} is {value:g}, expected 1 or more")
    if kind is not QuantityKind.RATE:
        return Quantity(kind, reference=tuple(at.items()))
    try:
        formula = parse(amount)
    except InputError as error:
        raise UsageError(f"--quantity: {error}") from error
    if unknown := calls(formula):
        raise UsageError(
            f"--quantity: the formula calls {unknown[0]}, expected one of "
            f"{', '.join(MATHEMATICS)}"
        )
    if any(isinstance(one, Number) and one.unit for one in walk(formula)):
        raise UsageError(
            f"--quantity: {amount[:60]!r} has a unit; an amount is a plain number of "
            "inputs, such as rate:n^3"
        )
    return Quantity(kind, formula)


@dataclass(frozen=True, slots=True)
class AskedQuantity:
    """What a model says of a quantity.

    Attributes
    ----------
    model : Model
        Of the quantity.
    answer : LoadedPrediction
    """

    model: Model
    answer: LoadedPrediction


def model_of_quantity(asked: FittedModel, quantity: Quantity) -> Model:
    """Return the model of a quantity that a model of times gives."""
    return derive(asked.model, quantity, constants_of(asked))


def constants_of(asked: FittedModel) -> dict[str, float]:
    """Return the numbers that are the same in all runs of a model."""
    if asked.origin is None:
        return {}
    found = {k: v for k, v in asked.origin.fixed if not isinstance(v, str)}
    return found | ({"ranks": float(asked.origin.ranks)} if asked.origin.ranks else {})


def predict_quantity(
    asked: FittedModel,
    at: Mapping[str, float],
    quantity: Quantity,
    under: LoadRequest,
    *,
    progress: Progress,
) -> AskedQuantity:
    """Ask a model for a quantity, under a load that the user says or asks for.

    Raises
    ------
    InputError
        When the model has no input that the quantity needs, or does not know the load.
    """
    model = asked.model
    if quantity.is_time:
        answer = predict_under_load(model, at, under, progress=progress)
        return AskedQuantity(model, answer)
    if quantity.amount is None:
        _check_load(model, quantity, under)
        found = derive(model, quantity)
        answer = predict_under_load(found, at, under, progress=progress)
        check_times(found, dict(answer.prediction.at))
        return AskedQuantity(found, answer)
    known = constants_of(asked)
    inputs = {one.input.name for one in model.inputs}
    own = {
        name: at[name]
        for name in names(quantity.amount)
        if name in at and name not in inputs and name not in known
    }
    found = derive(model, quantity, {**known, **own})
    rest = {name: value for name, value in at.items() if name not in own}
    answer = predict_under_load(model, rest, under, progress=progress)
    said = answer.prediction
    amount = evaluate(quantity.amount, {**known, **own, **dict(said.at)})
    return AskedQuantity(
        found, replace(answer, prediction=rate_of(said, float(amount)))
    )


def _check_load(model: Model, quantity: Quantity, under: LoadRequest) -> None:
    """Refuse loads of which only the effect on one time is known.

    Raises
    ------
    UsageError, InputError
    """
    if under.skeleton is not None or under.load in (FORECAST, MEASURED):
        raise UsageError(
            f"--quantity {quantity.kind} compares two runs under one load; give it "
            "with --load cpu=0.5"
        )
    known = {str(one.input.meaning) for one in model.inputs}
    if unknown := [name for name in typed_loads(under.load) if name not in known]:
        raise InputError(
            f"--load: the runs had no {unknown[0]}, so the model does not say what it "
            f"does to a {quantity.kind}; leave it out, or add runs under loads"
        )
