"""Where a program calls MPI from, and how long it spends there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from skelgen.dwarf import SourceLine
from skelgen.events.shapes import CALLED_BY
from skelgen.events.totals import RunTotals
from skelgen.units import seconds


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """The calls of one function from one place, all ranks.

    Attributes
    ----------
    function : str
    where : str
        Module and offset that the call returns to, then those of its callers where
        they were recorded.
    calls : int
    time_s : float
        Time inside [s].
    source : tuple of SourceLine
        Where that is in the source, innermost first; empty where nobody looked.
    """

    function: str
    where: str
    calls: int
    time_s: float
    source: tuple[SourceLine, ...] = ()

    @property
    def deep(self) -> bool:
        """Return whether callers were recorded."""
        return CALLED_BY in self.where

    @property
    def called_from(self) -> str:
        """Return the place for people: lines and functions where they are known."""
        frames = self.where.split(CALLED_BY)
        if len(self.source) != len(frames):
            return self.where
        return CALLED_BY.join(map(_frame, frames, self.source))


def with_source(
    sites: Iterable[SiteSummary], lines: Mapping[str, SourceLine]
) -> tuple[SiteSummary, ...]:
    """Give call sites their source lines.

    Parameters
    ----------
    sites : iterable of SiteSummary
    lines : mapping of str to SourceLine
        By module and offset; what is not there is not known.
    """
    nothing = SourceLine("", 0, "")
    return tuple(
        replace(
            one,
            source=tuple(lines.get(at, nothing) for at in one.where.split(CALLED_BY)),
        )
        for one in sites
    )


def _frame(where: str, source: SourceLine) -> str:
    return " ".join(filter(None, (source.place or where, source.function)))


def call_sites(totals: RunTotals) -> tuple[SiteSummary, ...]:
    """Sum up the calls of each place, longest time first."""
    run = totals.run
    shapes = run.calls.shapes
    places = np.stack([shapes["function"], shapes["site"]], axis=1)
    distinct, where = np.unique(places, axis=0, return_inverse=True)
    where = where.reshape(-1)
    calls = np.bincount(where, weights=totals.count, minlength=len(distinct))
    inside = np.bincount(where, weights=totals.time_ns, minlength=len(distinct))
    rows = [
        SiteSummary(
            run.calls.functions[function],
            run.sites[site],
            int(calls[i]),
            seconds(float(inside[i])),
        )
        for i, (function, site) in enumerate(distinct.tolist())
        if calls[i]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.time_s, row.where, row.function)))
