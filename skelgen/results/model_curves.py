"""A model that a server fits to a choice of runs: ``/api/model/curve``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import Result
from skelgen.results.model_answers import ModelledValue, modelled_fields
from skelgen.results.model_fits import FittedFields

if TYPE_CHECKING:
    from skelgen.pipeline.fit_request import FitAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class OffAtRun:
    """A run, and by how much a model is off there.

    Attributes
    ----------
    at : mapping of str to float
        Inputs of the run.
    measured, said : float
        Of the run and of the model, in the unit of the model.
    error : float or None
        Measured over said, less 1 [1].
    """

    at: Mapping[str, float]
    measured: float
    said: float
    error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCurveResult(Result):
    """A model that was fitted, and what it says; the server answers it.

    Attributes
    ----------
    fit : FittedFields
        As ``skelgen model fit`` says it.
    prediction : ModelledValue or None
        As ``skelgen model predict`` says it, where something was asked.
    problem : str or None
        Why there is no prediction.
    residuals : sequence of OffAtRun
        Of the runs.
    commands : mapping of str to str
        What gives the same in a terminal.
    """

    result: ClassVar[str] = "model-curve"

    fit: FittedFields
    prediction: ModelledValue | None
    problem: str | None
    residuals: Sequence[OffAtRun]
    commands: Mapping[str, str]

    @classmethod
    def of(cls, found: FitAnswer, commands: Mapping[str, str]) -> Self:
        """Return the answer to a fit."""
        said = None
        if found.said is not None:
            said = ModelledValue(**modelled_fields(found.shown, found.said))
        return cls(
            fit=FittedFields.of(found.fitted.model, found.shown),
            prediction=said,
            problem=found.problem or None,
            residuals=tuple(
                OffAtRun(
                    at=dict(one.at),
                    measured=one.measured,
                    said=one.said,
                    error=one.error,
                )
                for one in found.residuals
            ),
            commands=commands,
        )
