"""Answer of measure: the application's time, from its executed phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import known_only
from skelgen.results.predicted_times import (
    PredictionResult,
    TrustedTime,
    about,
    trusted,
)

if TYPE_CHECKING:
    from skelgen.phase_execution.estimate import PhaseTime
    from skelgen.pipeline.measure import Measurement


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
