"""What is said of a fitted model: model fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.models.formulas import to_text
from skelgen.models.model_file import MODEL_FILE_VERSION
from skelgen.pipeline.model_facts import made_of_times
from skelgen.results.base import Result, known_only
from skelgen.results.model_details import FormulaGiven, OtherSystems
from skelgen.trust.facts import NamedDoubt

if TYPE_CHECKING:
    from skelgen.models.model import InputRange, Model
    from skelgen.pipeline.kept_model import KeptModel
    from skelgen.pipeline.model_keep import FittedModel
    from skelgen.trust import Doubt


def _parts(model: Model) -> tuple[FittedPart, ...] | None:
    return (
        tuple(
            FittedPart(
                name=one.name,
                share=one.share,
                model=ModelFields(**ModelFields.fields_of(one.model)),
            )
            for one in model.parts
        )
        or None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedInput:
    """An input of a model.

    Attributes
    ----------
    name, meaning, unit : str
        What it is.
    low, high : float
        Values that it was fitted to.
    usual, spread : float
        Of a load: median over the longer runs, and deviation of its logarithm.
    """

    name: str
    meaning: str
    unit: str
    low: float
    high: float
    usual: float | None = known_only()
    spread: float | None = known_only()

    @classmethod
    def of(cls, one: InputRange) -> Self:
        """Return what is said of an input."""
        usual = math.isfinite(one.usual)
        return cls(
            name=one.input.name,
            meaning=str(one.input.meaning),
            unit=one.input.unit,
            low=one.low,
            high=one.high,
            usual=one.usual if usual else None,
            spread=one.spread if usual else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorScale:
    """What half of an interval is made of.

    Attributes
    ----------
    noise : float
        Deviation of a run of middle length: of logarithms [1].
    terms, runs : int
        Coefficients, and runs that they are fitted to.
    factor : float
        From the scale to half of a 90 % interval [1].
    tested : float
        How far ahead runs were when the factor was found: logarithm of a factor [1].
    ahead : float
        Deviation for each factor e ahead [1].
    falls, middle : float
        Power by which noise falls with the value; logarithm of the value of `noise`.
    smallest : float
        Error at the runs on the smallest ranks [1].
    """

    noise: float
    terms: int
    runs: int
    factor: float
    tested: float
    ahead: float
    falls: float
    middle: float
    smallest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFormula:
    """Another formula that fits as well.

    Attributes
    ----------
    share : float
        How much it counts in intervals [0 to 1].
    formula : str
        Of the same inputs.
    """

    share: float
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FitDoubt(NamedDoubt):
    """Why a model should not be trusted.

    Attributes
    ----------
    about : str
        Input that it is about, where it is about one.
    """

    about: str | None = known_only()

    @classmethod
    def of(cls, one: Doubt) -> Self:
        """Return what is said of a doubt."""
        about = one.about or None
        return cls(code=one.code, text=one.text, remedy=one.remedy, about=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedNumber:
    """A coefficient.

    Attributes
    ----------
    name : str
        In the formula.
    value : float
        That was fitted.
    """

    name: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPart:
    """A model of a part of the run.

    Attributes
    ----------
    name : str
        Of the part.
    share : float
        Of the time of the runs [0 to 1].
    model : ModelFields
        As the file of a model has it.
    """

    name: str
    share: float
    model: ModelFields


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherQuantity:
    """What a model says besides times.

    Attributes
    ----------
    quantity : str
        What it is.
    reference : mapping of str to float, or None
        The run that a speedup compares with.
    unit, formula : str
        Of the quantity.
    """

    quantity: str
    reference: Mapping[str, float] | None
    unit: str
    formula: str

    @classmethod
    def of(cls, shown: Model) -> Self | None:
        """Return what is said of a quantity; None where it is the time."""
        made = made_of_times(shown)
        if made is None:
            return None
        return cls(
            quantity=shown.quantity,
            reference=dict(made.reference) or None,
            unit=shown.unit,
            formula=shown.text,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class ModelFields:
    """A fitted model, as its file has it.

    Attributes
    ----------
    skelgen_model : int
        Version of the file.
    family, formula : str
        Of the model.
    inputs : sequence of FittedInput
        Of the formula.
    quantity, unit : str
        What it says.
    scale : ErrorScale
        Of its intervals.
    alternatives : sequence of OtherFormula
        That fit as well.
    dropped : sequence of str
        Inputs that are the same in all runs, or of no use.
    doubts : sequence of FitDoubt
        Why not to trust it.
    notes : sequence of str
        For people.
    coefficients : sequence of FittedNumber
        Of the formula.
    error : float
        Of the runs ahead of those it was fitted to, where that was tested [1].
    together : float
        How far errors of the parts go together [0 to 1].
    parts : sequence of FittedPart
        Of a model by parts.
    template : FormulaGiven
        The formula that was given.
    substituted : str
        The same with the numbers of facts.
    """

    skelgen_model: int
    family: str
    formula: str
    inputs: Sequence[FittedInput]
    quantity: str
    unit: str
    scale: ErrorScale
    alternatives: Sequence[OtherFormula]
    dropped: Sequence[str]
    doubts: Sequence[FitDoubt]
    notes: Sequence[str]
    coefficients: Sequence[FittedNumber]
    error: float | None = known_only()
    together: float | None = known_only()
    parts: Sequence[FittedPart] | None = known_only()
    template: FormulaGiven | None = known_only()
    substituted: str | None = known_only()

    @classmethod
    def fields_of(cls, model: Model) -> dict[str, Any]:
        """Return what is said of a model, by the names of the fields."""
        template = model.template and FormulaGiven.of(model.template)
        return {
            "skelgen_model": MODEL_FILE_VERSION,
            "family": model.family,
            "formula": to_text(model.formula),
            "inputs": tuple(map(FittedInput.of, model.inputs)),
            "quantity": model.quantity,
            "unit": model.unit,
            "scale": ErrorScale(**asdict(model.scale)),
            "alternatives": tuple(
                OtherFormula(share=share, formula=to_text(formula))
                for share, formula in model.alternatives
            ),
            "dropped": model.dropped,
            "doubts": tuple(map(FitDoubt.of, model.doubts)),
            "notes": model.notes,
            "coefficients": tuple(
                FittedNumber(name=name, value=value)
                for name, value in model.coefficients
            ),
            "error": None if math.isnan(model.error) else model.error,
            "together": model.together if model.parts else None,
            "parts": _parts(model),
            "template": template,
            "substituted": template and template.substituted,
        }


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class FittedFields(ModelFields):
    """A model that was fitted now.

    Attributes
    ----------
    says : OtherQuantity
        What was asked for, where that is not the time.
    """

    says: OtherQuantity | None = known_only()

    @classmethod
    def of(cls, found: Model, shown: Model, **more: Any) -> Self:
        """Return what is said of a model of times, and of one of what was asked for.

        `more` are other fields.
        """
        return cls(**cls.fields_of(found), says=OtherQuantity.of(shown), **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNamed:
    """Where a store keeps a model.

    Attributes
    ----------
    name, id : str
        Of the model.
    """

    name: str
    id: str

    @classmethod
    def of(cls, kept: KeptModel | None) -> Self | None:
        """Return what is said of it; None where it is not kept."""
        return None if kept is None else cls(name=kept.name, id=kept.identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFitResult(FittedFields, Result):
    """A model that was fitted.

    Attributes
    ----------
    file : Path or None
        That was written.
    kept : ModelNamed or None
        Where a store keeps it.
    system : OtherSystems or None
        Where the form of the model is from other systems.
    """

    result: ClassVar[str] = "model-fit"

    file: Path | None
    kept: ModelNamed | None
    system: OtherSystems | None

    @classmethod
    def of_fit(
        cls,
        done: FittedModel,
        shown: Model,
        *,
        file: Path | None,
        system: OtherSystems | None,
    ) -> Self:
        """Return the answer to a fit; `shown` is the model of what was asked for."""
        kept = ModelNamed.of(done.kept)
        return cls.of(done.model, shown, file=file, kept=kept, system=system)
