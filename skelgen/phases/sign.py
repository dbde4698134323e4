"""From the phases of a run to their signature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.launch.record import RunFacts
from skelgen.phases.counts import event_counts
from skelgen.phases.stored import Occurrence, PhaseSignature, StoredPhase
from skelgen.phases.thresholds import (
    FIRST_OCCURRENCES,
    SPREAD_OCCURRENCES,
    STRETCHED_SHARE,
    STRETCHES,
)
from skelgen.phases.types import EPILOGUE, PROLOGUE, Phase, Phases
from skelgen.signature import Provenance
from skelgen.trust.recording_doubts import Unseen


def sign(
    phases: Phases,
    calls: Calls,
    provenance: Provenance,
    facts: RunFacts | None,
    threads: int,
    unseen: Unseen | None = None,
) -> PhaseSignature:
    """Make the phase signature of a run.

    Parameters
    ----------
    phases : Phases
    calls : Calls
        Of the same run.
    provenance : Provenance
    facts : RunFacts or None
        None for runs recorded by hand.
    threads : int
        Most threads of a rank that called MPI.
    unseen : Unseen, optional
        What no event of the run shows.
    """
    counts = event_counts(calls, phases.cut)
    relevant = phases.relevant
    kept = {phase.number for phase in relevant}
    others = [phase for phase in phases.phases if phase.number not in kept]
    return PhaseSignature(
        provenance=provenance,
        folder=facts.folder if facts is not None else "",
        environment=facts.environment if facts is not None else (),
        files=facts.files if facts is not None else (),
        ranks=calls.ranks,
        threads=threads,
        application_s=phases.application_s,
        counts=tuple(counts[:, -1].tolist()) if phases.phases else (0,) * calls.ranks,
        parameters=phases.parameters,
        phases=tuple(
            StoredPhase(phase, _occurrences(phase, phases, counts))
            for phase in relevant
        ),
        others=len(others),
        others_share=math.fsum(phase.share for phase in others),
        unseen=unseen,
        levels=phases.levels,
    )


def _occurrences(
    phase: Phase, phases: Phases, counts: NDArray[np.int64]
) -> tuple[Occurrence, ...]:
    rows = np.flatnonzero(phases.phase == phase.number - 1)
    if phase.part == PROLOGUE or (phase.part == EPILOGUE and not phase.calls):
        return (_at_an_end(phase, phases, counts),)
    found = []
    time_ns = phases.time_ns.mean(axis=0)
    for number, repeats in _stretches(rows, time_ns[rows]):
        begin, end = int(rows[number]), int(rows[number]) + repeats
        found.append(
            Occurrence(
                number=number,
                time_s=float(time_ns[begin:end].sum()) / 1e9,
                begin=tuple(counts[:, begin].tolist()),
                end=tuple(counts[:, end].tolist()),
                repeats=repeats,
            )
        )
    return tuple(found)


def _stretches(
    rows: NDArray[np.int64], time_ns: NDArray[np.float64]
) -> list[tuple[int, int]]:
    """Choose what is stored of a phase: numbers of occurrences, each with repeats.

    The first ones alone; then stretches of several, one after the other, where nothing
    is between their occurrences; then a few alone up to the last.

    Examples
    --------
    >>> _stretches(np.arange(10), np.ones(10))[-1]
    (9, 1)
    >>> _stretches(np.arange(2000), np.ones(2000))[63:66]
    [(63, 1), (64, 5), (69, 5)]
    >>> _stretches(np.arange(2000), np.arange(2000.0))[63:66]  # longer and longer
    [(63, 1), (64, 18), (82, 18)]
    """
    first = min(len(rows), FIRST_OCCURRENCES)
    found = [(number, 1) for number in range(first)]
    spent_ns = np.cumsum(time_ns)
    most_ns = STRETCHED_SHARE * float(spent_ns[-1])
    behind = int(np.searchsorted(spent_ns, most_ns, "right")) - first
    if behind > 0:
        length = -(-behind // STRETCHES)
        for number in range(first, first + behind, length):
            repeats = min(length, first + behind - number)
            whole = rows[number + repeats - 1] - rows[number] == repeats - 1
            found.append((number, repeats if whole else 1))
    last = sum(found[-1])
    spread = np.linspace(last - 1, len(rows) - 1, SPREAD_OCCURRENCES + 1).round()
    alone = sorted({number for number in spread.astype(int).tolist() if number >= last})
    return found + [(number, 1) for number in alone]


def _at_an_end(phase: Phase, phases: Phases, counts: NDArray[np.int64]) -> Occurrence:
    """Return the prologue or epilogue with the occurrence next to it."""
    begin, end = (0, 2) if phase.part == PROLOGUE else (-3, -1)
    columns = slice(0, 2) if phase.part == PROLOGUE else slice(-2, None)
    side = 0 if phase.part == PROLOGUE else 1
    spent_ns = phases.time_ns[:, columns].sum(axis=1) - phases.unmeasured_ns[:, side]
    return Occurrence(
        number=0,
        time_s=float(spent_ns.mean()) / 1e9,
        begin=tuple(counts[:, begin].tolist()),
        end=tuple(counts[:, end].tolist()),
    )
