"""Types of the phase stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Parts of a run that a phase can be: what comes before the first loop whose iterations
#: are phases and after the last one, and all between.
PROLOGUE, BODY, EPILOGUE = "prologue", "body", "epilogue"
PHASE_PARTS = (PROLOGUE, BODY, EPILOGUE)


@dataclass(frozen=True, slots=True)
class Parameters:
    """What counts as a phase.

    Attributes
    ----------
    relevance : float
        Smallest share of the application's time of a phase that is executed [0 to 1].
    longest : float or None
        An iteration of a loop that takes a larger share of the application's time is
        divided into the phases inside it, where they make up most of it [0 to 1].
        None: chosen by the expected error of what is then measured.
    time_similarity : float
        Occurrences of one structure that only their place in the run tells apart are
        two phases where their times jump by more: shorter over longer [0 to 1]. 0:
        occurrences of one structure are one phase, whatever tells them apart.

    References
    ----------
    PAS2P as in Martinez Canillas 2011, chapter 4: phases are similar in their
    communication and in their computation time, and only relevant ones are executed.
    That those take 1 % and more is PAS2P's own limit (Wong, Rexachs, Luque, papers of
    2009 to 2015); the thesis names none.
    """

    relevance: float = 0.01
    longest: float | None = None
    time_similarity: float = 0.5


@dataclass(frozen=True, slots=True)
class NestLevel:
    """A level of the loop nest, whose iterations may be the occurrences of phases.

    Attributes
    ----------
    longest : float
        The value of `Parameters.longest` that gives this level [0 to 1].
    phases, occurrences : int
        Relevant phases, and their occurrences.
    error : float
        Expected standard error of the application's time when the phases are measured,
        over that time [1]: what differs among occurrences, and what is not reached.
    cost : float
        Share of the application's time until they are measured [0 to 1].
    chosen : bool
    """

    longest: float
    phases: int
    occurrences: int
    error: float
    cost: float
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase.

    Attributes
    ----------
    number : int
        From 1, by first occurrence.
    key, site_key : str
        The same for phases, also of other runs of as many ranks, in which the same
        ranks make the same kinds of calls with the same partners; `site_key` from the
        same places in the program. Phases of one structure and several times have one.
    calls : tuple of str
        MPI functions of one occurrence of the smallest rank that takes part, a
        function that comes several times in a row once.
    events : int
        Whole matched events of the first occurrence.
    weight : int
        Occurrences in the run.
    time_s : float
        Mean time of an occurrence, mean of the ranks [s].
    spread : float
        Standard deviation of the occurrences' times over their mean [1].
    drift : float
        Standard deviation of the means of tenths of the run behind the first over the
        mean, beside a steady change and what single times explain [1]: what neighbours
        have in common. 0 where there are too few occurrences to tell.
    share : float
        Part of the application's time [0 to 1].
    part : str
        One of `PHASE_PARTS`.
    stratum : str
        What tells its occurrences from others of the same structure before they run:
        ``number mod 10 = 9`` or ``bytes > 3000``; empty where nothing does.
    """

    number: int
    key: str
    site_key: str
    calls: tuple[str, ...]
    events: int
    weight: int
    time_s: float
    spread: float
    drift: float
    share: float
    part: str = BODY
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of a run: it is one occurrence after the other.

    Attributes
    ----------
    phases : tuple of Phase
    phase : (o,) int32 array
        Index of the phase of each occurrence, in the order of the logical trace.
    cut : (ranks, o + 1) int64 array
        Rank r makes its calls ``cut[r, i]`` to ``cut[r, i + 1]``, counted from its
        first, in occurrence i. Prologue and epilogue may have none.
    time_ns : (ranks, o) int64 array
        Time of each rank in each occurrence [ns]; the sum of a row is the time of the
        application. From the end of its last call before the occurrence to the end
        of its last call in it; the prologue begins with the application and has what
        the first occurrence behind it takes more than the next ones of its phase, and
        the epilogue ends with the application.
    unmeasured_ns : (ranks, 2) int64 array
        Time from the application's begin to a rank's, and from its last call to the
        application's end: no boundary shows it [ns].
    application_s : float
        [s]
    parameters : Parameters
    levels : tuple of NestLevel
        The chosen level of the nest between the next coarser and the next finer one,
        as far as there are such; empty where no loop is a phase.
    """

    phases: tuple[Phase, ...]
    phase: NDArray[np.int32]
    cut: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    unmeasured_ns: NDArray[np.int64]
    application_s: float
    parameters: Parameters
    levels: tuple[NestLevel, ...] = ()

    @property
    def relevant(self) -> tuple[Phase, ...]:
        """Return the phases that are executed to predict the application's time."""
        least = self.parameters.relevance
        found = (phase for phase in self.phases if phase.time_s > 0)
        return tuple(phase for phase in found if phase.share >= least)
