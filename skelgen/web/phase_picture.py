"""Draw the phases of a run over time and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skelgen.phases.types import Phases
from skelgen.units import format_seconds
from skelgen.web.fill import filled

#: Ranks and stretches of one rank that are drawn.
_MOST_LANES, _MOST_BARS = 64, 2000
#: Phases with a colour of their own; others are grey.
_COLOURS = (
    *("#3b7dd8", "#e08a2e", "#3a9d6e", "#c2549d", "#8a6fd1"),
    *("#c9b12b", "#4bb3c4", "#d0574f", "#7d8b2d", "#95603a"),
)
_OTHER = "#9aa5b1"


@dataclass(frozen=True, slots=True)
class PhaseStretch:
    """Occurrences of one phase in a row; left and width in per cent of the run."""

    left: float
    width: float
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One phase of the legend."""

    colour: str
    text: str


@dataclass(frozen=True, slots=True)
class PhasePicture:
    """What the picture shows.

    Attributes
    ----------
    lanes : tuple of (int, tuple of PhaseStretch)
        Ranks with their stretches.
    entries : tuple of LegendEntry
        Relevant phases, those with most time first.
    hidden : int
        Ranks that are not drawn.
    length : str
        Time of the run.
    """

    lanes: tuple[tuple[int, tuple[PhaseStretch, ...]], ...]
    entries: tuple[LegendEntry, ...]
    hidden: int
    length: str


def phase_picture(found: Phases) -> PhasePicture:
    """Prepare the picture of a run's phases."""
    ranks = len(found.cut)
    drawn = min(ranks, _MOST_LANES)
    chosen = np.unique(np.linspace(0, max(ranks - 1, 0), drawn).astype(int)).tolist()
    by_share = sorted(found.relevant, key=lambda phase: -phase.share)
    colours = {
        phase.number: colour for phase, colour in zip(by_share, _COLOURS, strict=False)
    }
    return PhasePicture(
        tuple((rank, tuple(_stretches(found, rank, colours))) for rank in chosen),
        tuple(
            LegendEntry(
                colours.get(phase.number, _OTHER),
                f"phase {phase.number}: {phase.weight} x "
                f"{format_seconds(phase.time_s)}, {phase.share:.1%}",
            )
            for phase in by_share
        ),
        ranks - len(chosen),
        format_seconds(found.application_s),
    )


def _stretches(
    found: Phases, rank: int, colours: dict[int, str]
) -> Iterator[PhaseStretch]:
    """Join occurrences of one phase, and those too narrow to be seen."""
    whole_ns = max(found.application_s * 1e9, 1.0)
    ends = np.cumsum(found.time_ns[rank])
    change = np.flatnonzero(np.diff(found.phase, append=-1))
    begin_ns, first = 0, 0
    for last in change.tolist():
        width = 100 * (int(ends[last]) - begin_ns) / whole_ns
        if width < 100 / _MOST_BARS and last != change[-1]:
            continue
        phase = found.phases[int(found.phase[last])]
        yield PhaseStretch(
            round(100 * begin_ns / whole_ns, 3),
            round(width, 3),
            colours.get(phase.number, _OTHER),
            f"rank {rank}, phase {phase.number}, {last + 1 - first} occurrences",
        )
        begin_ns, first = int(ends[last]), last + 1


def render_phases(phases: Phases) -> str:
    """Draw the phases of a run over time and ranks.

    Parameters
    ----------
    phases : Phases

    Returns
    -------
    str
        An SVG picture.
    """
    return filled("phases.svg.j2", picture=phase_picture(phases))
