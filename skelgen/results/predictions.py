"""Answers of predict and select: a time for each node set."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import known_only
from skelgen.results.predicted_times import (
    PredictionResult,
    TrustedTime,
    UsedCalibration,
    about,
    trusted,
)

if TYPE_CHECKING:
    from skelgen.launch.hosts import Host
    from skelgen.pipeline.keep_predictions import Subject
    from skelgen.pipeline.predict import Predicted
    from skelgen.prediction import Choice, Failure, Prediction
    from skelgen.prediction.types import Need


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededRuns:
    """What an interval takes that is narrow enough.

    Attributes
    ----------
    runs : int or None
        Further runs; None where the calibration alone is too wide.
    more : bool
        Whether it takes more than these.
    time_s : float
        How long these take, launching included [s].
    application_s : float
        How long one run of the application takes there, as predicted [s].
    stopped : bool
        Whether runs ended early because even fewer would not fit into the budget.
    """

    runs: int | None
    more: bool
    time_s: float
    application_s: float
    stopped: bool

    @classmethod
    def of(cls, need: Need | None) -> Self | None:
        """Return what is said of it, None where nothing is needed."""
        if need is None:
            return None
        return cls(
            runs=need.runs,
            more=need.more,
            time_s=need.time_s,
            application_s=need.application_s,
            stopped=need.stopped,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPrediction(TrustedTime):
    """The predicted time on one node set.

    Attributes
    ----------
    hosts : sequence of str
        Names of its hosts.
    skeleton_s : float
        Time of the skeleton there, median of its runs [s]; with disturbed runs the time
        that a longer run would take for as much work.
    ratio : float
        Application time / skeleton time that was used [1].
    predicted_s : float
        Time of the application there [s].
    runs_s : sequence of float
        Time of each run of the skeleton there [s].
    calibration : UsedCalibration or None
        Where the ratio comes from.
    computed_s : sequence of (float or None)
        Computation in each run, on the rank that computed longest [s].
    planned_compute_s : float or None
        The same as the skeleton plans it, at the speed of the recording [s].
    disturbed : sequence of int
        Which of the runs computed longer than the others, from 0.
    need : NeededRuns or None
        What a narrow enough interval takes; None where it is one.
    notes : sequence of str
        What else happened, a sentence each.
    best_probability : float
        Probability that the application is fastest there [0 to 1]; select says it.
    cores : str
        ``own`` where the ranks of the skeleton had their cores to themselves,
        ``shared`` where other processes had them, too, or may have had. It decides
        which error of the method is in the interval.
    """

    hosts: Sequence[str]
    skeleton_s: float
    ratio: float
    predicted_s: float
    runs_s: Sequence[float]
    calibration: UsedCalibration | None
    computed_s: Sequence[float | None]
    planned_compute_s: float | None
    disturbed: Sequence[int]
    need: NeededRuns | None
    notes: Sequence[str]
    best_probability: float | None = known_only()
    cores: str | None = known_only()

    @classmethod
    def of(cls, one: Prediction, best: float | None = None) -> Self:
        """Return what is said of a node set, and how likely it is the best."""
        return cls(
            **trusted(one.time_s, one.measured_s, one.doubts),
            hosts=names(one.hosts),
            skeleton_s=one.skeleton_s,
            ratio=one.ratio,
            predicted_s=one.time_s.p50,
            runs_s=one.runs_s,
            calibration=UsedCalibration.of(one.calibration),
            computed_s=one.computed_s,
            planned_compute_s=one.planned_compute_s,
            disturbed=one.disturbed,
            need=NeededRuns.of(one.need),
            notes=one.notes,
            best_probability=best,
            cores=one.cores or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedSet:
    """A node set without a prediction.

    Attributes
    ----------
    hosts : sequence of str
        Names of its hosts.
    reason : str
        Why.
    """

    hosts: Sequence[str]
    reason: str


def failed(failures: Iterable[Failure]) -> tuple[FailedSet, ...]:
    """Return the sets without a prediction."""
    return tuple(
        FailedSet(hosts=names(one.hosts), reason=one.reason) for one in failures
    )


def names(hosts: Sequence[Host]) -> list[str]:
    """Return the names of a node set; the empty one is this machine."""
    return [host.name for host in hosts] or [platform.node()]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictResult(PredictionResult):
    """Predicted times on node sets, the fastest first.

    Attributes
    ----------
    sets : sequence of SetPrediction
        The fastest first.
    failed : sequence of FailedSet
        Sets on which the skeleton did not run.
    """

    result: ClassVar[str] = "predict"

    sets: Sequence[SetPrediction]
    failed: Sequence[FailedSet]

    @classmethod
    def of(cls, found: Predicted) -> Self:
        """Return the answer to what was predicted."""
        return cls(
            **about(found.about),
            sets=tuple(map(SetPrediction.of, found.predictions)),
            failed=failed(found.failures),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectResult(PredictionResult):
    """Node sets, the best first.

    Attributes
    ----------
    sets : sequence of SetPrediction
        The best first.
    failed : sequence of FailedSet
        Sets without a time: the skeleton failed there, or was not run.
    """

    result: ClassVar[str] = "select"

    sets: Sequence[SetPrediction]
    failed: Sequence[FailedSet]

    @classmethod
    def of(cls, choice: Choice, subject: Subject) -> Self:
        """Return the answer to what was chosen."""
        return cls(
            **about(subject),
            sets=tuple(
                SetPrediction.of(one.prediction, one.best_probability)
                for one in choice.candidates
            ),
            failed=failed(choice.failures),
        )
