"""Answer of model couple: a loop from its kernels and their couplings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import Result, known_only
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.models.kernel_prediction import (
        CoupledChain,
        KernelAlone,
        LoopPrediction,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """A kernel of a loop.

    Attributes
    ----------
    name : str
        Of the kernel.
    alone, p5, p95 : float or None
        Time alone, with its 90 % interval [s].
    weight : float
        By which it counts in the loop [1].
    coupled : float
        Its time in the loop [s].
    runs : int
        Of which the time is the median; 0 where a model says it.
    family, formula : str or None
        Of that model.
    """

    name: str
    alone: float
    p5: float | None
    p95: float | None
    weight: float
    coupled: float
    runs: int
    family: str | None
    formula: str | None

    @classmethod
    def of(cls, one: KernelAlone) -> Self:
        """Return what is said of a kernel."""
        return cls(
            name=one.name,
            alone=one.time_s.p50,
            p5=one.time_s.p5,
            p95=one.time_s.p95,
            weight=one.weight,
            coupled=one.weight * one.time_s.p50,
            runs=one.runs,
            family=one.model.family if one.model else None,
            formula=one.model.text if one.model else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainTime:
    """Kernels that were measured together.

    Attributes
    ----------
    kernels : sequence of str
        In their order.
    together, alone : float
        Time of the chain, and sum of its kernels' times alone [s].
    coupling : float
        Together over alone [1].
    effect : str
        ``share``, ``disturb`` or ``not seen``.
    runs : int
        Of the chain.
    """

    kernels: Sequence[str]
    together: float
    alone: float
    coupling: float
    effect: str
    runs: int

    @classmethod
    def of(cls, one: CoupledChain) -> Self:
        """Return what is said of a chain."""
        coupling = one.coupling
        return cls(
            kernels=coupling.chain,
            together=coupling.together_s,
            alone=coupling.together_s / coupling.value,
            coupling=coupling.value,
            effect=one.effect,
            runs=one.runs,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCoupleResult(Result):
    """What kernels and couplings say of a loop.

    Attributes
    ----------
    at : mapping of str to float
        What was asked for.
    value : float
        Median [s].
    unit : str
        Of it: ``s``.
    p5, p50, p95 : float or None
        90 % interval and median [s].
    sum : float
        Of the kernels alone [s].
    measured : float or None
        The loop itself, where it ran [s].
    error, sum_error : float or None
        Of the value and of the sum against that [1].
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    notes : sequence of str
        For people.
    kernels : sequence of KernelTime
        In the order of the loop.
    chains : sequence of ChainTime
        That were measured.
    chains_at : mapping of str to float
        Where the couplings are from.
    command : str
        What gives the same in a terminal; the server says it.
    """

    result: ClassVar[str] = "model-couple"

    at: Mapping[str, float]
    value: float
    unit: str
    p5: float | None
    p50: float | None
    p95: float | None
    sum: float
    measured: float | None
    error: float | None
    sum_error: float | None
    verdict: str
    doubts: Sequence[NamedDoubt]
    notes: Sequence[str]
    kernels: Sequence[KernelTime]
    chains: Sequence[ChainTime]
    chains_at: Mapping[str, float]
    command: str | None = known_only()

    @classmethod
    def of(cls, found: LoopPrediction) -> Self:
        """Return the answer to a loop."""
        measured = found.measured
        return cls(
            at=dict(found.at),
            value=found.time_s.p50,
            unit="s",
            p5=found.time_s.p5,
            p50=found.time_s.p50,
            p95=found.time_s.p95,
            sum=found.sum_s,
            measured=measured.time_s if measured else None,
            error=found.error_of(found.time_s.p50),
            sum_error=found.error_of(found.sum_s),
            verdict=verdict_of(found.doubts),
            doubts=named(found.doubts),
            notes=found.notes,
            kernels=tuple(map(KernelTime.of, found.kernels)),
            chains=tuple(map(ChainTime.of, found.chains)),
            chains_at=dict(found.coupled_at),
        )
