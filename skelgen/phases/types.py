"""Types of the phase stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Parameters:
    """What counts as a phase.

    Attributes
    ----------
    relevance : float
        Smallest share of the application's time of a phase that is executed [0 to 1].
    longest : float
        An iteration of a loop that takes a larger share of the application's time is
        divided into the phases inside it, where they make up most of it [0 to 1].
    time_similarity : float
        Occurrences of one structure are one phase when no two neighbours in the
        order of their times differ by more: shorter over longer [0 to 1].

    References
    ----------
    PAS2P as in Martinez Canillas 2011, chapter 4: phases are similar in their
    communication and in their computation time, and only relevant ones are executed.
    That those take 1 % and more is PAS2P's own limit (Wong, Rexachs, Luque, papers of
    2009 to 2015); the thesis names none.
    """

    relevance: float = 0.01
    longest: float = 0.01
    time_similarity: float = 0.5


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
        first, in occurrence i.
    time_ns : (ranks, o) int64 array
        Time of each rank from the end of its last call before the occurrence to the
        end of its last call in it [ns].
    application_s : float
        [s]
    parameters : Parameters
    """

    phases: tuple[Phase, ...]
    phase: NDArray[np.int32]
    cut: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    application_s: float
    parameters: Parameters

    @property
    def relevant(self) -> tuple[Phase, ...]:
        """Return the phases that are executed to predict the application's time."""
        least = self.parameters.relevance
        found = (phase for phase in self.phases if phase.time_s > 0)
        return tuple(phase for phase in found if phase.share >= least)
