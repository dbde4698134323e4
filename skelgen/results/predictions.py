"""Answers of predict, select and measure, and what all predictions say."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.results.base import Result, known_only
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.launch.hosts import Host
    from skelgen.pipeline.keep_predictions import Subject
    from skelgen.prediction import Calibration, Failure, Prediction
    from skelgen.prediction.types import Need
    from skelgen.trust import Doubt, Interval

if TYPE_CHECKING:
    from skelgen.phase_execution.estimate import PhaseTime
    from skelgen.pipeline.measure import Measurement
    from skelgen.pipeline.predict import Predicted
    from skelgen.prediction import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedCalibration:
    """The calibration that a prediction uses.

    Attributes
    ----------
    date : str
        When it was measured (ISO, UTC); empty in older files.
    host : str
        Where it was started.
    hosts : sequence of str
        Node set; empty where the launch of the application says it.
    mpi : str
        Library that ran both.
    ratio : float
        Application time / skeleton time [1].
    """

    date: str
    host: str
    hosts: Sequence[str]
    mpi: str
    ratio: float

    @classmethod
    def of(cls, known: Calibration | None) -> Self | None:
        """Return what is said of a calibration, None without one."""
        if known is None:
            return None
        return cls(
            date=known.date,
            host=known.host,
            hosts=known.hosts,
            mpi=known.mpi,
            ratio=known.ratio,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionResult(Result):
    """What every prediction is about.

    Attributes
    ----------
    method : str
        How it was made, as ``skelgen trust`` names it.
    application : str or None
        Name of the program; None where it is not known.
    inputs : mapping of str to (float or str)
        Of the predicted run, as far as they are known.
    ranks : int
        Of the predicted run.
    skeleton : str
        Skeleton, phase signature or study that it was made with.
    scaling_factor : float or None
        K of the skeleton [1]; None where there is no skeleton.
    mpi : str
        Library that the skeleton or the phases ran with; empty when nothing ran.
    calibration : UsedCalibration or None
        The newest that was used.
    date : str
        When it was made (ISO, UTC).
    load : sequence of float
        Load averages of this host before the first run.
    """

    method: str
    application: str | None
    inputs: Mapping[str, float | str]
    ranks: int
    skeleton: str
    scaling_factor: float | None
    mpi: str
    calibration: UsedCalibration | None
    date: str
    load: Sequence[float]


def about(subject: Subject) -> dict[str, Any]:
    """Return the fields of `PredictionResult`."""
    return {
        "method": subject.method,
        "application": subject.application or None,
        "inputs": dict(subject.inputs),
        "ranks": subject.ranks,
        "skeleton": str(subject.source),
        "scaling_factor": subject.scaling_factor,
        "mpi": subject.running_mpi,
        "calibration": UsedCalibration.of(subject.calibration),
        "date": subject.date,
        "load": subject.load,
    }


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class TrustedTime:
    """The interval of a time, and whether to trust it.

    Attributes
    ----------
    p5_s, p95_s : float
        Ends of the 90 % interval, with the error of the method [s].
    measured_p5_s, measured_p95_s : float
        The same without that error [s].
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not; empty when it can be trusted.
    """

    p5_s: float
    p95_s: float
    measured_p5_s: float
    measured_p95_s: float
    verdict: str
    doubts: Sequence[NamedDoubt]


def trusted(
    time_s: Interval, measured_s: Interval, doubts: Sequence[Doubt]
) -> dict[str, Any]:
    """Return the fields of `TrustedTime`.

    Parameters
    ----------
    time_s, measured_s : Interval
        With the error of the method and without it [s].
    doubts : sequence of Doubt
    """
    return {
        "p5_s": time_s.p5,
        "p95_s": time_s.p95,
        "measured_p5_s": measured_s.p5,
        "measured_p95_s": measured_s.p95,
        "verdict": verdict_of(doubts),
        "doubts": named(doubts),
    }


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTime:
    """One phase of the application, executed.

    Attributes
    ----------
    id : int
        Number of the phase.
    weight : int
        How often it occurs in a run.
    pet_s : float
        Time of one occurrence [s].
    share : float
        Part of the predicted time [0 to 1].
    """

    id: int
    weight: int
    pet_s: float
    share: float

    @classmethod
    def of(cls, one: PhaseTime) -> Self:
        """Return what is said of a phase."""
        return cls(id=one.number, weight=one.weight, pet_s=one.pet_s, share=one.share)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStructure:
    """What a study of the workload takes of a phase.

    Attributes
    ----------
    key, site_key : str
        The same for phases in which the same ranks make the same calls.
    calls : sequence of str
        MPI functions of one occurrence.
    events : int
        Whole matched events of the first occurrence.
    weight : int
        Occurrences in a run.
    time_s : float
        Time of one [s].
    recorded_s : float
        The same in the recording [s].
    """

    key: str
    site_key: str
    calls: Sequence[str]
    events: int
    weight: int
    time_s: float
    recorded_s: float | None = known_only()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureResult(PredictionResult, TrustedTime):
    """The application's time, from its executed phases.

    Attributes
    ----------
    phases : sequence of MeasuredTime
        Those that were executed.
    paet_s : float
        Predicted time of the application [s].
    set_s : float
        Wall time of the measuring [s].
    aet_s : float
        Time of the application where it is known: on the machine of the recording [s].
    structures : sequence of PhaseStructure
        What ``skelgen workload add`` takes.
    """

    result: ClassVar[str] = "measure"

    phases: Sequence[MeasuredTime]
    paet_s: float
    set_s: float
    structures: Sequence[PhaseStructure]
    aet_s: float | None = known_only()

    @classmethod
    def of(cls, done: Measurement) -> Self:
        """Return the answer to what was measured."""
        from skelgen.workload.store import plain_phases
        from skelgen.workload.types import point_phases

        found = done.estimate
        structures = point_phases(
            [phase for phase, _ in found.known], [time for _, time in found.known]
        )
        return cls(
            **about(done.about),
            **trusted(found.time_s, found.measured_s, found.doubts),
            phases=tuple(map(MeasuredTime.of, found.phases)),
            paet_s=found.time_s.p50,
            set_s=done.set_s,
            aet_s=done.aet_s,
            structures=tuple(PhaseStructure(**one) for one in plain_phases(structures)),
        )
