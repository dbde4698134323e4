"""Answers of the commands of workload."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import Result
from skelgen.results.predicted_times import (
    PredictionResult,
    TrustedTime,
    about,
    trusted,
)

if TYPE_CHECKING:
    from skelgen.pipeline.workload import WorkloadAnswer
    from skelgen.trust import Doubt
    from skelgen.workload import WorkloadTime
    from skelgen.workload.predicting import PartTime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlanResult(Result):
    """The workload to record next.

    Attributes
    ----------
    workload : mapping of str to float, or None
        Its inputs; None when no further one is needed.
    reason : str
        Why.
    uncertainty : float or None
        How well times in the ranges are known [1].
    recorded : int
        Workloads in the study.
    commands : sequence of str
        What records it and adds it.
    """

    result: ClassVar[str] = "workload-plan"

    workload: Mapping[str, float] | None
    reason: str
    uncertainty: float | None
    recorded: int
    commands: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadAddResult(Result):
    """A workload that was added to a study.

    Attributes
    ----------
    recorded : int
        Workloads in the study.
    phases : int
        Phases of the added run.
    application_s : float
        Its time [s].
    known_share : float
        Part of it in phases that the study knew [0 to 1].
    """

    result: ClassVar[str] = "workload-add"

    recorded: int
    phases: int
    application_s: float
    known_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFlag:
    """Why a value of a function should not be trusted.

    Attributes
    ----------
    kind : str
        Its name, the same in all answers.
    text : str
        What was found.
    dimension : str or None
        Input that it is about.
    """

    kind: str
    text: str
    dimension: str | None

    @classmethod
    def of(cls, doubt: Doubt) -> Self:
        """Return what is said of a doubt."""
        return cls(kind=doubt.code, text=str(doubt), dimension=doubt.about or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPhase:
    """A phase at another workload.

    Attributes
    ----------
    id : int
        From 1.
    key : str or None
        Of its structure; None for what is in no phase.
    calls : sequence of str
        MPI functions of one occurrence.
    weight : float
        Occurrences.
    weight_function, time_function : str
        How weight and time depend on the inputs.
    weight_flags, time_flags : sequence of FunctionFlag
        Why not to trust them.
    time_s, time_p5_s, time_p95_s : float
        Time of an occurrence and its 90 % interval [s].
    time_error : float or None
        Error of the function of the time [1].
    share : float
        Part of the predicted time [0 to 1].
    """

    id: int
    key: str | None
    calls: Sequence[str]
    weight: float
    weight_function: str
    weight_flags: Sequence[FunctionFlag]
    time_s: float
    time_p5_s: float
    time_p95_s: float
    time_function: str
    time_error: float | None
    time_flags: Sequence[FunctionFlag]
    share: float

    @classmethod
    def of(cls, number: int, one: PartTime, whole: WorkloadTime) -> Self:
        """Return what is said of a phase."""
        weight, time = one.weight, one.time
        error = one.fits.time.error
        return cls(
            id=number,
            key=one.part.key or None,
            calls=one.part.calls,
            weight=weight.interval.p50,
            weight_function=one.fits.weight.text,
            weight_flags=tuple(map(FunctionFlag.of, weight.doubts)),
            time_s=time.interval.p50,
            time_p5_s=time.interval.p5,
            time_p95_s=time.interval.p95,
            time_function=one.fits.time.text,
            time_error=error if math.isfinite(error) else None,
            time_flags=tuple(map(FunctionFlag.of, time.doubts)),
            share=one.total_s / whole.time_s.p50,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadResult(PredictionResult, TrustedTime):
    """The application's time at another workload.

    Attributes
    ----------
    at : mapping of str to float
        The workload.
    phases : sequence of WorkloadPhase
        What it consists of.
    paet_s : float
        Predicted time of the application [s].
    page : Path or None
        Page of the study; None where none was written.
    """

    result: ClassVar[str] = "workload-predict"

    at: Mapping[str, float]
    phases: Sequence[WorkloadPhase]
    paet_s: float
    page: Path | None

    @classmethod
    def of(cls, answer: WorkloadAnswer) -> Self:
        """Return the answer to what was predicted."""
        found = answer.found
        return cls(
            **about(answer.about),
            **trusted(found.time_s, found.measured_s, found.doubts),
            at=found.at,
            phases=tuple(
                WorkloadPhase.of(number, one, found)
                for number, one in enumerate(found.parts, start=1)
            ),
            paet_s=found.time_s.p50,
            page=answer.page,
        )
