"""Why measured facts should not be trusted: busy machines, repeats that differ."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from skelgen.events.thresholds import LOADED_SHARE
from skelgen.trust import Doubt

#: Repeats that differ by more of their median make a fact doubtful [1].
UNSTEADY = 0.2
_BUSY, _UNSTEADY = "busy", "unsteady"


def spread_of(values: Sequence[float]) -> float:
    """Return (largest - smallest) / median of repeats [1]."""
    return (max(values) - min(values)) / statistics.median(values)


def doubt_of(spread: float, queued: float | None) -> str:
    """Say why a fact should not be trusted; empty for no reason.

    Parameters
    ----------
    spread : float
        Of its repeats [1].
    queued : float or None
        Share of the time in which a process waited for a core [0 to 1].

    Examples
    --------
    >>> doubt_of(0.01, 0.5)
    'busy: other processes had the core for 50% of the time'
    """
    said = []
    if queued is not None and queued > LOADED_SHARE:
        said.append(
            f"{_BUSY}: other processes had the core for {queued:.0%} of the time"
        )
    if spread > UNSTEADY:
        said.append(f"{_UNSTEADY}: repeats differ by {spread:.0%}")
    return "; ".join(said)


def doubts_of(told: Sequence[str]) -> tuple[Doubt, ...]:
    """Sum up the doubts of some facts, one for each kind.

    Parameters
    ----------
    told : sequence of str
        Of each fact, as `doubt_of` says it.
    """
    found = []
    if busy := _count(told, _BUSY):
        found.append(
            Doubt(
                "busy",
                f"{busy} of {len(told)} values were measured on a busy machine: other "
                f"processes had a core for more than {LOADED_SHARE:.0%} of the time",
                "measure again when the hosts are quiet",
            )
        )
    if unsteady := _count(told, _UNSTEADY):
        found.append(
            Doubt(
                "unsteady",
                f"the repeats of {unsteady} of {len(told)} values differ by more than "
                f"{UNSTEADY:.0%}",
                "measure again with a larger --budget",
            )
        )
    return tuple(found)


def _count(told: Sequence[str], code: str) -> int:
    begin = f"{code}:"
    return sum(any(part.startswith(begin) for part in one.split("; ")) for one in told)
