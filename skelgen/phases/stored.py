"""The phase signature: the relevant phases of a run, and where they are in it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from skelgen.phases.thresholds import FEWEST_OCCURRENCES
from skelgen.phases.types import NestLevel, Parameters, Phase
from skelgen.signature import Provenance
from skelgen.trust.recording_doubts import Unseen


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a phase.

    Attributes
    ----------
    number : int
        From 0, among the occurrences of its phase.
    time_s : float
        Mean of the ranks [s]; of all of them where it is several in a row.
    begin, end : tuple of int
        Event counts of each rank, as `skelgen.phases.counts` defines them. Those of the
        prologue, and of an epilogue without calls, reach over the occurrence next to
        it, and the time as well: ranks cannot stop between two calls.
    repeats : int
        So many occurrences in a row, with nothing between them.
    """

    number: int
    time_s: float
    begin: tuple[int, ...]
    end: tuple[int, ...]
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class StoredPhase:
    """A relevant phase and some of its occurrences.

    Attributes
    ----------
    phase : Phase
    occurrences : tuple of Occurrence
        The first ones, without gaps, and some spread evenly over the rest of the run.
    """

    phase: Phase
    occurrences: tuple[Occurrence, ...]

    @property
    def group(self) -> Hashable:
        """Return what it has in common with phases that only differ in their time."""
        phase = self.phase
        return phase.site_key, phase.calls, phase.events, phase.stratum


@dataclass(frozen=True, slots=True)
class PhaseSignature:
    """The phase signature of one run.

    Attributes
    ----------
    provenance : Provenance
    folder : str
        Working folder of the launch; empty when the run was recorded by hand.
    environment : tuple of (str, str)
        Variables that change how MPI behaves, as they were set.
    files : tuple of (str, str)
        Path and SHA-256 of the program, first, and of the files that its arguments
        name; empty when the run was recorded by hand.
    ranks : int
    threads : int
        Most threads of a rank that called MPI: with several, counts depend on time.
    application_s : float
        Time from ``MPI_Init`` to ``MPI_Finalize`` (AET) [s].
    counts : tuple of int
        Event count of each rank at the end of the run.
    parameters : Parameters
    phases : tuple of StoredPhase
        The relevant ones, in the order of their first occurrences.
    others : int
        Number of phases that are not relevant.
    others_share : float
        Part of the application's time that these take [0 to 1].
    unseen : Unseen or None
        What the ranks did that no event shows; None where the recorder did not look.
    levels : tuple of NestLevel
        As in `skelgen.phases.Phases`.

    References
    ----------
    Martinez Canillas 2011, chapter 4: the signature of an application is its relevant
    phases with their weights.
    """

    provenance: Provenance
    folder: str
    environment: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]
    ranks: int
    threads: int
    application_s: float
    counts: tuple[int, ...]
    parameters: Parameters
    phases: tuple[StoredPhase, ...]
    others: int
    others_share: float
    unseen: Unseen | None = None
    levels: tuple[NestLevel, ...] = ()

    @property
    def predicted_s(self) -> float:
        """Return the sum of time x weight of the relevant phases (PAET) [s]."""
        return math.fsum(one.phase.time_s * one.phase.weight for one in self.phases)

    @property
    def covered_share(self) -> float:
        """Return the share of the application's time in relevant phases [0 to 1]."""
        return math.fsum(one.phase.share for one in self.phases)

    @property
    def repeated_share(self) -> float:
        """Return the share of the time in phases that come often [0 to 1]."""
        often = (
            one.phase for one in self.phases if one.phase.weight >= FEWEST_OCCURRENCES
        )
        return math.fsum(phase.share for phase in often)
