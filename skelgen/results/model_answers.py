"""What models say of runs that nobody made: model predict, templates on a server."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.models.formulas import to_text
from skelgen.models.model import predict_with
from skelgen.pipeline.model_facts import made_of_times
from skelgen.pipeline.model_loads import LoadedPrediction
from skelgen.results.base import Result, known_only
from skelgen.results.model_details import (
    FormulaGiven,
    LoadAsked,
    LoadForeseen,
    OtherSystems,
    PartForetold,
    SeenRange,
)
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.models.model import Model
    from skelgen.models.template_values import ComputedTime
    from skelgen.pipeline.template_curves import TemplateAnswer


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class ModelledValue:
    """What a model says of a run that nobody made.

    Attributes
    ----------
    at : mapping of str to float
        Inputs of that run.
    value : float
        Median, in `unit`.
    quantity : str
        What it is.
    reference : mapping of str to float, or None
        The run that a speedup compares with.
    unit : str
        Of the value.
    p5, p50, p95 : float or None
        90 % interval and median; None where no run was made.
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    formula, family : str
        Of the model.
    load : LoadForeseen or LoadAsked
        That it is for.
    range : mapping of str to SeenRange
        What the inputs were in the runs.
    parts : sequence of PartForetold
        Of a model by parts.
    system : OtherSystems or None
        Where the form of the model is from other systems.
    template : FormulaGiven
        The formula that was given.
    substituted : str
        The same with the numbers of facts.
    """

    at: Mapping[str, float]
    value: float
    quantity: str
    reference: Mapping[str, float] | None
    unit: str
    p5: float | None
    p50: float | None
    p95: float | None
    verdict: str
    doubts: Sequence[NamedDoubt]
    formula: str
    family: str
    load: LoadForeseen | LoadAsked
    range: Mapping[str, SeenRange]
    parts: Sequence[PartForetold]
    system: OtherSystems | None
    template: FormulaGiven | None = known_only()
    substituted: str | None = known_only()


def modelled_fields(
    found: Model, answer: LoadedPrediction, system: OtherSystems | None = None
) -> dict[str, Any]:
    """Return the fields of `ModelledValue` that a model says."""
    said = answer.prediction
    at = dict(said.at)
    made = made_of_times(found)
    template = found.template and FormulaGiven.of(found.template)
    return {
        "at": at,
        "value": said.interval.p50,
        "quantity": found.quantity,
        "reference": (dict(made.reference) or None) if made else None,
        "unit": found.unit,
        "p5": said.interval.p5,
        "p50": said.interval.p50,
        "p95": said.interval.p95,
        "verdict": verdict_of(said.doubts),
        "doubts": named(said.doubts),
        "formula": found.text,
        "family": found.family,
        "load": LoadAsked.of(answer.load),
        "range": {
            one.input.name: SeenRange(
                low=one.low,
                high=one.high,
                factor=math.exp(one.beyond(at[one.input.name])),
            )
            for one in found.inputs
        },
        "parts": part_times(found, at),
        "system": system,
        "template": template,
        "substituted": template and template.substituted,
    }


def part_times(model: Model, at: Mapping[str, float]) -> tuple[PartForetold, ...]:
    """Return what is said of the parts of a run, by their own models."""
    said = [(one, predict_with(one.model, at).interval) for one in model.parts]
    return tuple(
        PartForetold(
            name=one.name,
            value=time_s.p50,
            p5=time_s.p5,
            p50=time_s.p50,
            p95=time_s.p95,
            formula=one.model.text,
            share=one.share,
        )
        for one, time_s in said
    )


def computed_fields(found: ComputedTime) -> dict[str, Any]:
    """Return the fields of `ModelledValue` that a template says without runs."""
    nothing = SeenRange(low=None, high=None, factor=None)
    template = FormulaGiven.of(found.form)
    return {
        "at": dict(found.at),
        "value": found.value,
        "quantity": "time",
        "reference": None,
        "unit": found.unit,
        **dict.fromkeys(("p5", "p50", "p95")),
        "verdict": verdict_of(found.doubts),
        "doubts": named(found.doubts),
        "formula": to_text(found.form.substituted, 4),
        "family": "template",
        "load": LoadAsked(cpu=None, bandwidth=None, source="quiet"),
        "range": {name: nothing for name, _ in found.at},
        "parts": (),
        "system": None,
        "template": template,
        "substituted": template.substituted,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPredictResult(ModelledValue, Result):
    """What a model says of a run that nobody made.

    Attributes
    ----------
    found_by, command : str
        How, for people, and what gives the same in a terminal; the server says both.
    """

    result: ClassVar[str] = "model-predict"

    found_by: str | None = known_only()
    command: str | None = known_only()

    @classmethod
    def of(cls, found: Model, answer: LoadedPrediction, **more: Any) -> Self:
        """Return the answer of a model; `more` are other fields."""
        return cls(**(modelled_fields(found, answer) | more))

    @classmethod
    def of_template(cls, found: ComputedTime) -> Self:
        """Return the answer of a template without runs."""
        return cls(**computed_fields(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class PointOfCurve:
    """A point of the curve of a template.

    Attributes
    ----------
    at, value : float
        Input, and what the template says there; None where that is no time.
    p5, p95 : float or None
        90 % interval, where runs give one.
    """

    at: float
    value: float | None
    p5: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceValues:
    """What a template says over two inputs.

    Attributes
    ----------
    names : sequence of str
        The two inputs.
    x, y : sequence of float
        Their values.
    values : sequence of sequence of float
        What it says there; None where that is no time.
    """

    names: Sequence[str]
    x: Sequence[float]
    y: Sequence[float]
    values: Sequence[Sequence[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTemplateResult(ModelledValue, Result):
    """What a template says, over its inputs; the server answers it.

    Attributes
    ----------
    curve : sequence of PointOfCurve
        Where one input has a range.
    surface : SurfaceValues or None
        Where two have.
    command : str
        Gives the value in a terminal.
    """

    result: ClassVar[str] = "model-template"

    curve: Sequence[PointOfCurve]
    surface: SurfaceValues | None
    command: str

    @classmethod
    def of(cls, found: TemplateAnswer) -> Self:
        """Return the answer to what a template says."""
        over = found.surface
        return cls(
            **_fields_of(found),
            curve=tuple(
                PointOfCurve(
                    at=one.at,
                    value=one.value,
                    p5=one.interval.p5 if one.interval else None,
                    p95=one.interval.p95 if one.interval else None,
                )
                for one in found.curve
            ),
            surface=SurfaceValues(
                names=over.names, x=over.x, y=over.y, values=over.values
            )
            if over
            else None,
            command=found.command,
        )


def _fields_of(found: TemplateAnswer) -> dict[str, Any]:
    if isinstance(found.said, LoadedPrediction):
        assert found.model is not None
        return modelled_fields(found.model, found.said)
    return computed_fields(found.said)
