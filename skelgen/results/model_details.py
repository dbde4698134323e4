"""Parts of what is said of models, in several answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from skelgen.models.model_file import template_facts
from skelgen.results.base import known_only

if TYPE_CHECKING:
    from skelgen.models.families.contract import TemplateForm
    from skelgen.models.systems import CarriedModel
    from skelgen.pipeline.model_loads import PredictedLoad
    from skelgen.trust import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaGiven:
    """A formula that a user gave.

    Attributes
    ----------
    text : str
        As it was given.
    substituted : str
        With the numbers of facts.
    facts : sequence of str
        The facts.
    system : str
        Where they are from; empty where no system was named.
    """

    text: str
    substituted: str
    facts: Sequence[str]
    system: str

    @classmethod
    def of(cls, form: TemplateForm) -> Self:
        """Return what is said of a formula."""
        return cls(**template_facts(form))


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEnds:
    """A number with its 90 % interval.

    Attributes
    ----------
    p5, p50, p95 : float or None
        Ends and median; None where one is not known.
    """

    p5: float | None
    p50: float | None
    p95: float | None

    @classmethod
    def of(cls, one: Interval) -> Self:
        """Return what is said of an interval."""
        return cls(p5=one.p5, p50=one.p50, p95=one.p95)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSystems:
    """What other systems gave to a model.

    Attributes
    ----------
    name : str
        The system that it is for.
    factor : IntervalEnds
        Time there over that on the other systems [1].
    runs : int
        On that system.
    others : mapping of str to int
        Runs on each of the other systems.
    """

    name: str
    factor: IntervalEnds
    runs: int
    others: Mapping[str, int]

    @classmethod
    def of(cls, carried: CarriedModel | None, system: str) -> Self | None:
        """Return what is said of them; None where there are none."""
        if carried is None:
            return None
        factor = IntervalEnds.of(carried.factor)
        others = dict(carried.others)
        return cls(name=system, factor=factor, runs=carried.runs, others=others)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAsked:
    """The load that a prediction is for.

    Attributes
    ----------
    cpu, bandwidth : float or None
        What is left for the run; None where it is not known [0 to 1].
    source : str
        ``quiet``, ``typed``, ``forecast``, ``measured`` or ``skeleton``.
    slowdown : IntervalEnds
        Of a skeleton, against its time on quiet nodes [1].
    """

    cpu: float | None
    bandwidth: float | None
    source: str
    slowdown: IntervalEnds | None = known_only()

    @classmethod
    def of(cls, load: PredictedLoad) -> LoadAsked:
        """Return what is said of a load."""
        common: dict[str, Any] = {
            "cpu": load.cpu and load.cpu.p50,
            "bandwidth": load.bandwidth and load.bandwidth.p50,
            "source": load.source,
            "slowdown": load.slowdown and IntervalEnds.of(load.slowdown),
        }
        if load.source != "forecast":
            return cls(**common)
        return LoadForeseen(
            **common,
            horizon_s=load.horizon_s,
            missing=load.missing,
            cpu_p5=load.cpu.p5 if load.cpu else None,
            cpu_p95=load.cpu.p95 if load.cpu else None,
            bandwidth_p5=load.bandwidth.p5 if load.bandwidth else None,
            bandwidth_p95=load.bandwidth.p95 if load.bandwidth else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadForeseen(LoadAsked):
    """A load that was forecast.

    Attributes
    ----------
    horizon_s : float or None
        Of the forecast [s].
    missing : str
        What is not known and taken to be free; else empty.
    cpu_p5, cpu_p95, bandwidth_p5, bandwidth_p95 : float or None
        Ends of their 90 % intervals [0 to 1].
    """

    horizon_s: float | None
    missing: str
    cpu_p5: float | None
    cpu_p95: float | None
    bandwidth_p5: float | None
    bandwidth_p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRange:
    """The values of an input that a model was fitted to.

    Attributes
    ----------
    low, high : float or None
        Ends; None where no run was made.
    factor : float or None
        How far outside the prediction is: 1 inside [1].
    """

    low: float | None
    high: float | None
    factor: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartForetold:
    """The time of a part of the run.

    Attributes
    ----------
    name : str
        Of the part.
    value, p5, p50, p95 : float
        Median, again with the 90 % interval.
    formula : str
        Of its own model.
    share : float
        Of the time of the runs that it was fitted to [0 to 1].
    """

    name: str
    value: float
    p5: float
    p50: float
    p95: float
    formula: str
    share: float
