"""Answers of model next, check, compare and draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.results.base import Result
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.models.advice import Advice
    from skelgen.models.checking import CheckedConfiguration, ModelCheck
    from skelgen.models.comparing import FamilyScore
    from skelgen.models.model import Model
    from skelgen.models.next_run import NextRun


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class RunToMake:
    """A run that would narrow intervals.

    Attributes
    ----------
    run : mapping of str to float, or None
        Its inputs; None, as all others, where no run is of use.
    reason : str or None
        Why this one.
    gain : float or None
        By how much half of the interval narrows [1].
    cost_s, time_s : float or None
        Time times ranks, and time that it is expected to take [s].
    half_width : float or None
        Half of the interval without it [1].
    """

    run: Mapping[str, float] | None
    reason: str | None
    gain: float | None
    cost_s: float | None
    time_s: float | None
    half_width: float | None

    @classmethod
    def fields_of(cls, one: NextRun | None) -> dict[str, Any]:
        """Return what is said of a run, by the names of the fields."""
        return {
            "run": one and one.run,
            "reason": one and one.reason,
            "gain": one and one.gain,
            "cost_s": one and one.cost_s,
            "time_s": one and one.time_s,
            "half_width": one and one.before,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNextResult(RunToMake, Result):
    """The run to make next.

    Attributes
    ----------
    formula : str
        Of the model.
    others : sequence of RunToMake
        The next best.
    """

    result: ClassVar[str] = "model-next"

    formula: str
    others: Sequence[RunToMake]

    @classmethod
    def of(cls, model: Model, found: Sequence[NextRun]) -> Self:
        """Return the answer to runs, the best first."""
        best = next(iter(found), None)
        others = tuple(RunToMake(**RunToMake.fields_of(one)) for one in found[1:])
        return cls(**cls.fields_of(best), formula=model.text, others=others)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAdvice:
    """What to add to the runs.

    Attributes
    ----------
    kind : str
        ``repeat``, ``input``, ``load``, ``neighbour`` or ``beyond``.
    text : str
        For people.
    run : mapping of str to float, or None
        The configuration to run; None where a run is not what is missing.
    """

    kind: str
    text: str
    run: Mapping[str, float] | None

    @classmethod
    def of(cls, one: Advice) -> Self:
        """Return what is said of an advice."""
        return cls(kind=one.kind, text=one.text, run=dict(one.run) or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationError:
    """How a model that has not seen a configuration did there.

    Attributes
    ----------
    at : mapping of str to float
        The configuration.
    runs : int
        Of it.
    error : float or None
        Of the prediction; None where the other runs determine no model [1].
    spread : float or None
        By how much its runs differ from each other [1].
    meets : bool
        Whether the error is below the goal.
    advice : RunAdvice or None
        What to add where it is not.
    """

    at: Mapping[str, float]
    runs: int
    error: float | None
    spread: float | None
    meets: bool
    advice: RunAdvice | None

    @classmethod
    def of(cls, one: CheckedConfiguration) -> Self:
        """Return what is said of a configuration."""
        return cls(
            at=dict(one.at),
            runs=one.runs,
            error=one.error,
            spread=one.spread,
            meets=one.meets,
            advice=RunAdvice.of(one.advice) if one.advice else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheckResult(Result):
    """Whether a model is good enough.

    Attributes
    ----------
    family, formula : str
        Of the model.
    goal : float
        Largest error [1].
    met : bool
        Whether all configurations meet it.
    configurations : sequence of ConfigurationError
        The worst first.
    advice : sequence of RunAdvice
        What all of the runs lack.
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    quantity : str
        What the model says.
    """

    result: ClassVar[str] = "model-check"

    family: str
    formula: str
    goal: float
    met: bool
    configurations: Sequence[ConfigurationError]
    advice: Sequence[RunAdvice]
    verdict: str
    doubts: Sequence[NamedDoubt]
    quantity: str

    @classmethod
    def of(cls, found: ModelCheck, quantity: str) -> Self:
        """Return the answer to a check."""
        return cls(
            family=found.family,
            formula=found.formula,
            goal=found.goal,
            met=not found.off,
            configurations=tuple(map(ConfigurationError.of, found.configurations)),
            advice=tuple(map(RunAdvice.of, found.advice)),
            verdict=verdict_of(found.doubts),
            doubts=named(found.doubts),
            quantity=quantity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyErrors:
    """How a family predicted the larger runs from the smaller ones.

    Attributes
    ----------
    family : str
        Its name.
    median_error, worst_error : float or None
        Of the predictions; None where it failed [1].
    coverage : float or None
        Share of these runs inside the 90 % interval [0 to 1].
    half_width : float or None
        Median of the intervals [1].
    formula : str
        Fitted to all runs; empty where that failed.
    seconds : float
        For all fits [s].
    failed : str or None
        Why it gave no answer.
    """

    family: str
    median_error: float | None
    worst_error: float | None
    coverage: float | None
    half_width: float | None
    formula: str
    seconds: float
    failed: str | None

    @classmethod
    def of(cls, one: FamilyScore) -> Self:
        """Return what is said of a family."""
        return cls(
            family=one.family,
            median_error=one.median_error,
            worst_error=one.worst_error,
            coverage=one.coverage,
            half_width=one.half_width,
            formula=one.formula,
            seconds=one.seconds,
            failed=one.failed or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCompareResult(Result):
    """Families of models on the same runs.

    Attributes
    ----------
    families : sequence of FamilyErrors
        The best first.
    default : str
        The family that is used when nobody names one.
    quantity : str
        What they predict.
    """

    result: ClassVar[str] = "model-compare"

    families: Sequence[FamilyErrors]
    default: str
    quantity: str

    @classmethod
    def of(cls, scores: Sequence[FamilyScore], quantity: str) -> Self:
        """Return the answer to a comparison."""
        families = tuple(map(FamilyErrors.of, scores))
        return cls(families=families, default="default", quantity=quantity)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDrawResult(Result):
    """A picture of a model.

    Attributes
    ----------
    picture : Path
        The file.
    formula : str
        Of the model.
    """

    result: ClassVar[str] = "model-draw"

    picture: Path
    formula: str
