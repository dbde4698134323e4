"""Models as JSON: written with a checksum, read without trust, years later, too."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skelgen.documents import Field, read_json, sealed_json
from skelgen.documents.system import writing
from skelgen.errors import InputError
from skelgen.models.families.contract import TemplateForm
from skelgen.models.formulas import Expression, names, parse, to_text
from skelgen.models.intervals import Scale
from skelgen.models.model import InputRange, Model, PartModel
from skelgen.models.runs import LARGEST, SMALLEST, Meaning, ModelInput, when_of
from skelgen.trust import Doubt

#: Of the format: it changes when a member means another thing.
MODEL_FILE_VERSION = 1

_MEMBERS = (
    *("skelgen_model", "family", "formula", "inputs", "quantity", "unit", "scale"),
    *("alternatives", "dropped", "doubts", "notes", "coefficients"),
)
_MOST_RUNS = 10**12


def model_facts(model: Model) -> dict[str, Any]:
    """Return what the file of a model holds."""
    return {
        "skelgen_model": MODEL_FILE_VERSION,
        "family": model.family,
        "formula": to_text(model.formula),
        "inputs": [
            {
                "name": one.input.name,
                "meaning": str(one.input.meaning),
                "unit": one.input.unit,
                "low": one.low,
                "high": one.high,
                **_usual_facts(one),
            }
            for one in model.inputs
        ],
        "quantity": model.quantity,
        "unit": model.unit,
        "scale": asdict(model.scale),
        "alternatives": [
            {"share": share, "formula": to_text(formula)}
            for share, formula in model.alternatives
        ],
        "dropped": list(model.dropped),
        "doubts": [
            {"code": one.code, "text": one.text, "remedy": one.remedy}
            | ({"about": one.about} if one.about else {})
            for one in model.doubts
        ],
        "notes": list(model.notes),
        "coefficients": [
            {"name": name, "value": value} for name, value in model.coefficients
        ],
    } | _rarely(model)


def _rarely(model: Model) -> dict[str, Any]:
    """Return members that few models have."""
    found: dict[str, Any] = {}
    if not math.isnan(model.error):
        found["error"] = model.error
    if model.parts:
        found["together"] = model.together
        found["parts"] = [
            {"name": one.name, "share": one.share, "model": model_facts(one.model)}
            for one in model.parts
        ]
    if model.template is not None:
        found["template"] = template_facts(model.template)
    return found


def template_facts(form: TemplateForm) -> dict[str, Any]:
    """Return what the file of a model holds of a formula that a user gave."""
    return {
        "text": form.text,
        "substituted": to_text(form.substituted),
        "facts": list(form.facts),
        "system": form.system,
    }


def _usual_facts(one: InputRange) -> dict[str, float]:
    if not math.isfinite(one.usual):
        return {}
    return {"usual": one.usual, "spread": one.spread}


def write_model(model: Model, path: Path) -> None:
    """Write the file of a model, whole or not at all, for its user alone."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(sealed_json(model_facts(model)))
        beside.replace(path)


def is_model(field: Field) -> bool:
    """Say whether JSON is the file of a model."""
    return isinstance(field.value, dict) and "skelgen_model" in field.value


def read_model(path: Path) -> Model:
    """Read the file of a model.

    Raises
    ------
    InputError
        When it is none, is damaged, or is of a later version.
    """
    return model_of(read_json(path))


def model_of(field: Field) -> Model:
    """Read a model from JSON; see `read_model`."""
    if not is_model(field):
        raise field.error("is not the file of a model; skelgen model fit writes one")
    version = field.mapping(["skelgen_model"], None)["skelgen_model"]
    if version.integer(1, 10**6) > MODEL_FILE_VERSION:
        raise version.error(
            f"is of version {version.value}, this skelgen reads up to "
            f"{MODEL_FILE_VERSION}; install a later one"
        )
    parts = field.mapping(_MEMBERS, ("error", "parts", "together", "template"))
    inputs = tuple(_input(one) for one in parts["inputs"].items())
    known = {one.input.name for one in inputs}
    return Model(
        family=parts["family"].text(),
        formula=_formula(parts["formula"], known),
        inputs=inputs,
        quantity=parts["quantity"].text(),
        unit=parts["unit"].text(),
        scale=_scale(parts["scale"]),
        alternatives=tuple(
            _alternative(one, known) for one in parts["alternatives"].items()
        ),
        dropped=parts["dropped"].texts(),
        doubts=tuple(_doubt(one) for one in parts["doubts"].items()),
        notes=parts["notes"].texts(),
        coefficients=tuple(
            (inner["name"].text(), inner["value"].number())
            for one in parts["coefficients"].items()
            for inner in [one.mapping(["name", "value"])]
        ),
        error=parts["error"].amount() if "error" in parts else math.nan,
        parts=_parts(parts["parts"], known) if "parts" in parts else (),
        together=parts["together"].share() if "together" in parts else 0.0,
        template=_template(parts["template"]) if "template" in parts else None,
    )


def _template(field: Field) -> TemplateForm:
    parts = field.mapping(["text", "substituted", "facts", "system"])
    try:
        form = parse(parts["substituted"].text())
    except InputError as error:
        raise parts["substituted"].error(str(error)) from error
    facts, system = parts["facts"].texts(), parts["system"].text()
    return TemplateForm(parts["text"].text(), form, facts, system)


def _parts(field: Field, known: set[str]) -> tuple[PartModel, ...]:
    found = []
    for one in field.items():
        parts = one.mapping(["name", "share", "model"])
        model = model_of(parts["model"])
        lacking = [i.input.name for i in model.inputs if i.input.name not in known]
        if lacking or model.parts:
            raise one.error(
                f"has the input {lacking[0][:60]}, which the whole has not"
                if lacking
                else "has parts of its own; parts have none"
            )
        share = parts["share"].share()
        found.append(PartModel(parts["name"].text(), share, model))
    return tuple(found)


def _input(field: Field) -> InputRange:
    required = ["name", "meaning", "unit", "low", "high"]
    parts = field.mapping(required, ["usual", "spread"])
    meaning = parts["meaning"].text()
    if meaning not in set(Meaning):
        raise parts["meaning"].error(
            f"read {meaning[:60]!r}, expected one of {', '.join(Meaning)}"
        )
    name, unit = parts["name"].text(), parts["unit"].text()
    found = ModelInput(name, Meaning(meaning), unit, when_of(name))
    low, high = parts["low"].positive(), parts["high"].positive()
    if not SMALLEST <= low <= high <= LARGEST:
        raise field.error(
            f"has the range {low:g} to {high:g}; the first is the smaller"
        )
    if "usual" not in parts or "spread" not in parts:
        return InputRange(found, low, high)
    return InputRange(
        found, low, high, parts["usual"].positive(), parts["spread"].amount()
    )


def _formula(field: Field, known: set[str]) -> Expression:
    try:
        formula = parse(field.text())
    except InputError as error:
        raise field.error(str(error)) from error
    unknown = [name for name in names(formula) if name not in known]
    if unknown:
        raise field.error(f"names {unknown[0][:60]}, which is none of the inputs")
    return formula


def _scale(field: Field) -> Scale:
    later = ["ahead", "falls", "middle", "smallest"]
    parts = field.mapping(["noise", "terms", "runs", "factor", "tested"], later)
    return Scale(
        noise=_bounded(parts["noise"]),
        terms=parts["terms"].integer(1, _MOST_RUNS),
        runs=parts["runs"].integer(1, _MOST_RUNS),
        factor=_bounded(parts["factor"]),
        tested=_bounded(parts["tested"]),
        ahead=_bounded(parts["ahead"]) if "ahead" in parts else 0.0,
        falls=_bounded(parts["falls"]) if "falls" in parts else 0.0,
        middle=parts["middle"].number() if "middle" in parts else 0.0,
        smallest=_bounded(parts["smallest"]) if "smallest" in parts else 0.0,
    )


def _bounded(field: Field) -> float:
    """Read a number that formulas of intervals can square."""
    number = field.amount()
    if number > LARGEST:
        raise field.error(f"read {number:g}, expected 0 to {LARGEST:g}")
    return number


def _alternative(field: Field, known: set[str]) -> tuple[float, Expression]:
    parts = field.mapping(["share", "formula"])
    return parts["share"].amount(), _formula(parts["formula"], known)


def _doubt(field: Field) -> Doubt:
    parts = field.mapping(["code", "text", "remedy"], ["about"])
    about = parts["about"].text() if "about" in parts else ""
    return Doubt(
        parts["code"].text(), parts["text"].text(), parts["remedy"].text(), about
    )
