"""What all predictions say: what they are about, the interval, whether to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from skelgen.results.base import Result
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.pipeline.keep_predictions import Subject
    from skelgen.prediction import Calibration
    from skelgen.trust import Doubt, Interval


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
