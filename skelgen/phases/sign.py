"""From the phases of a run to what is stored of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.phases.counts import event_counts
from skelgen.phases.stored import Occurrence, StoredPhase
from skelgen.phases.types import Phases

#: Occurrences that are stored: so many of the first, for those who run the program
#: from its start, and so many of the rest, for those who want to see it all.
FIRST, SPREAD = 16, 8


def occurrences(phases: Phases, calls: Calls) -> tuple[StoredPhase, ...]:
    """Return the relevant phases with where some of their occurrences are.

    Parameters
    ----------
    phases : Phases
    calls : Calls
        Of the same run.
    """
    mean_s = phases.time_ns.mean(axis=0) / 1e9
    counts = event_counts(calls, phases.cut)
    found = []
    for phase in phases.relevant:
        rows = np.flatnonzero(phases.phase == phase.number - 1)
        found.append(
            StoredPhase(
                phase,
                tuple(
                    Occurrence(
                        number=number,
                        time_s=float(mean_s[rows[number]]),
                        begin=tuple(counts[:, rows[number]].tolist()),
                        end=tuple(counts[:, rows[number] + 1].tolist()),
                    )
                    for number in _stored(len(rows)).tolist()
                ),
            )
        )
    return tuple(found)


def _stored(weight: int) -> NDArray[np.int64]:
    """Choose occurrences of a phase."""
    first = np.arange(min(weight, FIRST))
    rest = np.linspace(len(first), weight - 1, SPREAD).round().astype(np.int64)
    return np.unique(np.concatenate([first, rest[rest >= len(first)]]))
