"""Where a program calls MPI from: lines and functions where they are known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.events.shapes import UNKNOWN_SITE
from skelgen.events.sites import SiteSummary
from skelgen.signature import Signature
from skelgen.units import format_seconds

#: Rows of the table, and notes below it.
MOST_SITES, _MOST_NOTES = 30, 6


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A call site, ready to show.

    Attributes
    ----------
    function : str
    where : str
        Line and function, or module and offset.
    whole : str
        The path of the source file, and module and offset.
    calls : int
    time, share, width : str
        Inside the calls, all ranks.
    """

    function: str
    where: str
    whole: str
    calls: int
    time: str
    share: str
    width: str


@dataclass(frozen=True, slots=True)
class CallSites:
    """What a page says of call sites.

    Attributes
    ----------
    rows : tuple of SiteRow
        Longest time first.
    hidden : int
        Call sites that have no row.
    notes : tuple of str
        Why lines are not known.
    """

    rows: tuple[SiteRow, ...] = ()
    hidden: int = 0
    notes: tuple[str, ...] = ()


def call_sites_of(
    sites: Sequence[SiteSummary], whole_s: float, notes: Sequence[str] = ()
) -> CallSites:
    """Return the table of call sites.

    Parameters
    ----------
    sites : sequence of SiteSummary
        Longest time first.
    whole_s : float
        Time of the run times its ranks [s].
    notes : sequence of str
        Why lines are not known.
    """
    known = [one for one in sites if one.where != UNKNOWN_SITE]
    rows = tuple(_row(one, whole_s or 1.0) for one in known[:MOST_SITES])
    hidden = max(len(known) - MOST_SITES, 0)
    return CallSites(rows, hidden, tuple(notes[:_MOST_NOTES]) if rows else ())


def _row(one: SiteSummary, whole_s: float) -> SiteRow:
    share = one.time_s / whole_s
    files = [f"{line.file}:{line.line}" for line in one.source if line.file]
    return SiteRow(
        one.function,
        one.called_from,
        ", ".join([*files, one.where]),
        one.calls,
        format_seconds(one.time_s),
        f"{100 * share:.2f} %",
        f"{100 * min(share, 1.0):.2f}%",
    )


def signature_sites(signature: Signature) -> tuple[SiteSummary, ...]:
    """Return the call sites of a signature: those of calls that have a symbol."""
    calls: Counter[tuple[int, int]] = Counter()
    times_s: defaultdict[tuple[int, int], float] = defaultdict(float)
    for group in signature.groups:
        symbols = group.nest.symbol[group.nest.body_items == 0]
        for leaf, row in enumerate(symbols):
            symbol = signature.symbols[row]
            key = int(symbol["function"]), int(symbol["site"])
            calls[key] += int(group.count[leaf]) * len(group.ranks)
            times_s[key] += float(group.mpi_ns[leaf].sum()) / 1e9
    found = [
        SiteSummary(
            signature.functions[function],
            signature.sites[site],
            calls[key],
            times_s[key],
        )
        for key in calls
        for function, site in [key]
        if 0 <= site < len(signature.sites)
    ]
    return tuple(sorted(found, key=lambda one: (-one.time_s, one.where, one.function)))
