"""Answers of the commands of phases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.results.base import Result
from skelgen.ticks.table import PlacedCall

if TYPE_CHECKING:
    from skelgen.phases.compare import Pair
    from skelgen.phases.stored import PhaseSignature
    from skelgen.phases.types import NestLevel, Phase
    from skelgen.ticks.table import TickTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPhase:
    """One phase of a run.

    Attributes
    ----------
    id : int
        From 1, by first occurrence.
    key, site_key : str
        The same for phases, also of other runs of as many ranks, in which the same
        ranks make the same kinds of calls; `site_key` from the same places.
    calls : sequence of str
        MPI functions of one occurrence, of the smallest rank that takes part.
    events : int
        Whole matched events of the first occurrence.
    weight : int
        Occurrences in the run.
    time_s : float
        Mean time of an occurrence [s].
    spread : float
        Standard deviation of the times over their mean [1].
    drift : float
        How much the times of whole parts of the run differ [1].
    share : float
        Part of the application's time [0 to 1].
    part : str
        ``body``, or ``prologue`` and ``epilogue``: what comes once, before and after
        the loops.
    stratum : str
        What tells its occurrences from others of the same structure before they run;
        empty where nothing does.
    """

    id: int
    key: str
    site_key: str
    calls: Sequence[str]
    events: int
    weight: int
    time_s: float
    spread: float
    drift: float
    share: float
    part: str
    stratum: str

    @classmethod
    def of(cls, one: Phase) -> Self:
        """Return what is said of a phase."""
        return cls(
            id=one.number,
            key=one.key,
            site_key=one.site_key,
            calls=one.calls,
            events=one.events,
            weight=one.weight,
            time_s=one.time_s,
            spread=one.spread,
            drift=one.drift,
            share=one.share,
            part=one.part,
            stratum=one.stratum,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseLevel:
    """A level of the loop nest, whose iterations may be the occurrences of phases.

    Attributes
    ----------
    longest : float
        Value of ``--longest`` that gives this level [0 to 1].
    phases, occurrences : int
        Relevant phases, and their occurrences.
    error : float
        Expected standard error of the application's time when the phases are measured,
        over that time [1].
    cost : float
        Part of the application's time until they are measured [0 to 1].
    chosen : bool
        Whether the phases of the answer are those of this level.
    """

    longest: float
    phases: int
    occurrences: int
    error: float
    cost: float
    chosen: bool

    @classmethod
    def of(cls, one: NestLevel) -> Self:
        """Return what is said of a level."""
        return cls(
            longest=one.longest,
            phases=one.phases,
            occurrences=one.occurrences,
            error=one.error,
            cost=one.cost,
            chosen=one.chosen,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class PhasesOfRun:
    """What all phases of a run make up.

    Attributes
    ----------
    ranks : int
        Of the run.
    application_s : float
        Its time [s].
    paet_s : float
        Sum of time x weight of the relevant phases [s].
    covered_share : float
        Part of the run time in relevant phases [0 to 1].
    others : int
        Phases that are too small.
    others_share : float
        Part of the run time in these [0 to 1].
    repeated_share : float
        Part of the run time in what occurs more than once [0 to 1].
    """

    ranks: int
    application_s: float
    paet_s: float
    covered_share: float
    others: int
    others_share: float
    repeated_share: float

    @classmethod
    def whole(cls, run: PhaseSignature) -> PhasesOfRun:
        """Return what is said of a run."""
        return PhasesOfRun(**_whole(run))


def _whole(run: PhaseSignature) -> dict[str, Any]:
    return {
        "ranks": run.ranks,
        "application_s": run.application_s,
        "paet_s": run.predicted_s,
        "covered_share": run.covered_share,
        "others": run.others,
        "others_share": run.others_share,
        "repeated_share": run.repeated_share,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasesResult(PhasesOfRun, Result):
    """The phases of a run.

    Attributes
    ----------
    phases : sequence of RunPhase
        The relevant ones, largest share first.
    levels : sequence of PhaseLevel
        The chosen level of the loop nest between the next coarser and the next finer
        one; empty where no loop is a phase, and for older signatures.
    """

    result: ClassVar[str] = "phases-show"

    phases: Sequence[RunPhase]
    levels: Sequence[PhaseLevel]

    @classmethod
    def of(cls, run: PhaseSignature) -> Self:
        """Return the answer to what was found in a run."""
        known = sorted((one.phase for one in run.phases), key=lambda one: -one.share)
        return cls(
            **_whole(run),
            phases=tuple(map(RunPhase.of, known)),
            levels=tuple(map(PhaseLevel.of, run.levels)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasePair:
    """A phase in two runs.

    Attributes
    ----------
    before, after : RunPhase or None
        None where that run does not have it.
    """

    before: RunPhase | None
    after: RunPhase | None

    @classmethod
    def of(cls, one: Pair) -> Self:
        """Return what is said of a pair."""
        return cls(
            before=None if one.before is None else RunPhase.of(one.before),
            after=None if one.after is None else RunPhase.of(one.after),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasesDiffResult(Result):
    """The phases of two runs.

    Attributes
    ----------
    phases : sequence of PhasePair
        Those that belong together, and those of one run only.
    before, after : PhasesOfRun
        All of each run.
    """

    result: ClassVar[str] = "phases-diff"

    phases: Sequence[PhasePair]
    before: PhasesOfRun
    after: PhasesOfRun

    @classmethod
    def of(cls, pairs: Sequence[Pair], runs: Sequence[PhaseSignature]) -> Self:
        """Return the answer to what was compared."""
        before, after = map(PhasesOfRun.whole, runs)
        return cls(phases=tuple(map(PhasePair.of, pairs)), before=before, after=after)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasesTicksResult(Result):
    """The logical trace of a run.

    Attributes
    ----------
    ranks : int
        Of the run.
    last : int
        Its last tick.
    calls : sequence of PlacedCall
        Those at the ticks that were asked for.
    """

    result: ClassVar[str] = "phases-ticks"

    ranks: int
    last: int
    calls: Sequence[PlacedCall]

    @classmethod
    def of(cls, table: TickTable) -> Self:
        """Return the answer to what was placed."""
        return cls(ranks=table.ranks, last=table.last, calls=table.calls)
