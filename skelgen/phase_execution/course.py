"""When the occurrences of a run end."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skelgen.phases.stored import Occurrence, PhaseSignature, StoredPhase


class Course:
    """When occurrences of a run end, as far as its signature tells.

    Of each phase it knows the time of the stored occurrences. What is between two of
    them takes as long as they do on average, and all together what the phase takes.
    """

    def __init__(self, signature: PhaseSignature) -> None:
        self._rank = int(np.argmax(signature.counts))
        self._phases = [_course_of(one, self._rank) for one in signature.phases]

    def end_s(self, one: Occurrence) -> float:
        """Return how long the application runs until an occurrence ended [s].

        Counted in events of the rank with the most of them.
        """
        return math.fsum(
            float(np.interp(one.end[self._rank], counts, spent_s))
            for counts, spent_s in self._phases
        )


def _course_of(
    stored: StoredPhase, rank: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return events of a rank, and the time that a phase has taken by then [s]."""
    known = stored.occurrences
    counts = [*(one.begin[rank] for one in known), known[-1].end[rank]]
    number = np.array([one.number for one in known])
    repeats = np.array([one.repeats for one in known])
    time_s = np.array([one.time_s for one in known])
    mean_s = time_s / repeats
    between = np.diff(number) - repeats[:-1]
    time_s[:-1] += between * (mean_s[:-1] + mean_s[1:]) / 2
    spent_s = np.concatenate([[0.0], np.cumsum(time_s)])
    whole_s = stored.phase.time_s * int(number[-1] + repeats[-1])
    if spent_s[-1] > 0:
        spent_s *= whole_s / spent_s[-1]
    return np.array(counts), spent_s.round(9)  # times are whole ns
