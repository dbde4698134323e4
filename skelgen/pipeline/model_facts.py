"""What machines are told of models, by commands and by the server."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skelgen.documents.dates import date_of
from skelgen.trust.facts import trust_facts

if TYPE_CHECKING:
    from skelgen.models.derived import DerivedModel
    from skelgen.models.families.contract import TemplateForm
    from skelgen.models.model import Model
    from skelgen.models.systems import CarriedModel
    from skelgen.models.template_values import ComputedTime
    from skelgen.pipeline.kept_model import KeptModel
    from skelgen.pipeline.model_loads import LoadedPrediction, PredictedLoad

_ENDS = ("p5", "p95")
_ALL = ("p5", "p50", "p95")


def kept_model_facts(one: KeptModel) -> dict[str, Any]:
    """Return what machines are told of a model in a list."""
    return {
        "id": one.identity,
        "name": one.name,
        "app": one.origin.application,
        "author": one.author,
        "fitted": fitted_date(one.fitted) or None,
        "family": one.model.family,
        "formula": one.model.text,
        "runs": one.origin.runs,
        "where": list(one.origin.where),
        "file": one.origin.file or None,
    }


def shown_model_facts(found: KeptModel, now: tuple[int, bool] | None) -> dict[str, Any]:
    """Return what machines are told of one model.

    Parameters
    ----------
    found : KeptModel
    now : tuple of (int, bool) or None
        What `skelgen.pipeline.model_keep.runs_now` says.
    """
    from skelgen.models.model_file import model_facts

    return (
        model_facts(found.model)
        | form_facts(found.model.template)
        | kept_model_facts(found)
        | {
            "formula": found.model.text,
            "fixed": dict(found.origin.fixed),
            "runs_now": now[0] if now else None,
            "fit_again": now is not None and not now[1],
        }
    )


def prediction_facts(
    found: Model, answer: LoadedPrediction, system: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what machines are told of a prediction of a model.

    Parameters
    ----------
    found : Model
    answer : LoadedPrediction
    system : mapping, optional
        What `carried_facts` says of the model.
    """
    said = answer.prediction
    at = dict(said.at)
    return {
        "at": at,
        "value": said.interval.p50,
        **quantity_facts(found),
        "unit": found.unit,
        "p5": said.interval.p5,
        "p50": said.interval.p50,
        "p95": said.interval.p95,
        **trust_facts(said.doubts),
        "formula": found.text,
        "family": found.family,
        "load": load_facts(answer.load),
        "range": {
            one.input.name: {
                "low": one.low,
                "high": one.high,
                "factor": math.exp(one.beyond(at[one.input.name])),
            }
            for one in found.inputs
        },
        "parts": part_facts(found, at),
        "system": system,
        **form_facts(found.template),
    }


def computed_facts(found: ComputedTime) -> dict[str, Any]:
    """Return what machines are told of a template that was computed without runs."""
    from skelgen.models.formulas import to_text

    nothing = {"low": None, "high": None, "factor": None}
    return {
        "at": dict(found.at),
        "value": found.value,
        "unit": found.unit,
        **dict.fromkeys(("p5", "p50", "p95")),
        **trust_facts(found.doubts),
        "formula": to_text(found.form.substituted, 4),
        "family": "template",
        "load": {"cpu": None, "bandwidth": None, "source": "quiet"},
        "range": {name: nothing for name, _ in found.at},
        "parts": [],
        **form_facts(found.form),
    }


def carried_facts(carried: CarriedModel | None, system: str) -> dict[str, Any] | None:
    """Return what machines are told of a model that other systems gave the form of."""
    if carried is None:
        return None
    factor = carried.factor
    return {
        "name": system,
        "factor": {"p5": factor.p5, "p50": factor.p50, "p95": factor.p95},
        "runs": carried.runs,
        "others": dict(carried.others),
    }


def quantity_facts(model: Model) -> dict[str, Any]:
    """Return what machines are told of the quantity that a model is of."""
    made = made_of_times(model)
    reference = dict(made.reference) if made else {}
    return {"quantity": model.quantity, "reference": reference or None}


def made_of_times(model: Model) -> DerivedModel | None:
    """Return a model of another quantity than times as what it is; else None."""
    from skelgen.models.derived import DerivedModel

    return model if isinstance(model, DerivedModel) else None


def made_facts(model: Model) -> dict[str, Any]:
    """Return what machines are told of what a fitted model says besides times."""
    if made_of_times(model) is None:
        return {}
    facts = {"unit": model.unit, "formula": model.text}
    return {"says": quantity_facts(model) | facts}


def fit_facts(found: Model, shown: Model) -> dict[str, Any]:
    """Return what machines are told of a model that was fitted.

    Parameters
    ----------
    found, shown : Model
        Of times, and of the quantity that was asked for.
    """
    from skelgen.models.model_file import model_facts

    return model_facts(found) | form_facts(found.template) | made_facts(shown)


def form_facts(form: TemplateForm | None) -> dict[str, Any]:
    """Return what machines are told of a template; nothing where there is none."""
    from skelgen.models import model_file

    if form is None:
        return {}
    found = model_file.template_facts(form)
    return {"template": found, "substituted": found["substituted"]}


def load_facts(load: PredictedLoad) -> dict[str, Any]:
    """Return what machines are told of the load of a prediction."""
    facts: dict[str, Any] = {
        "cpu": load.cpu and load.cpu.p50,
        "bandwidth": load.bandwidth and load.bandwidth.p50,
        "source": load.source,
    }
    if load.source == "forecast":
        facts["horizon_s"] = load.horizon_s
        facts["missing"] = load.missing
        for name, one in (("cpu", load.cpu), ("bandwidth", load.bandwidth)):
            facts |= {f"{name}_{end}": one and getattr(one, end) for end in _ENDS}
    if load.slowdown is not None:
        facts["slowdown"] = {end: getattr(load.slowdown, end) for end in _ALL}
    return facts


def part_facts(model: Model, at: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return what machines are told of the parts of a prediction."""
    from skelgen.models.model import predict_with

    found = []
    for one in model.parts:
        said = predict_with(one.model, at).interval
        found.append(
            {
                "name": one.name,
                "value": said.p50,
                "p5": said.p5,
                "p50": said.p50,
                "p95": said.p95,
                "formula": one.model.text,
                "share": one.share,
            }
        )
    return found


def fitted_date(moment: float) -> str:
    """Return when a model was fitted; empty where no calendar has it."""
    found = date_of(moment)
    return "" if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
