"""Which ranks wait for which, how uneven their work is, and one sentence about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.matching.waits import WAIT_WORDS, WaitState
from skelgen.signature import Signature
from skelgen.units import format_seconds

#: Rows of the table, and the least share of the time of one.
_MOST_ROWS, _LEAST_SHARE = 12, 5e-4

#: Share of the time from which a wait state is worth a sentence, and of a wait state
#: from which it is for one rank.
_WORTH, _MOSTLY = 0.05, 0.5

#: Work of a rank that differs less from the mean is even [1].
_EVEN = 0.05


@dataclass(frozen=True, slots=True)
class WaitRow:
    """The wait states of one kind in one function, ready to show."""

    function: str
    kind: str
    calls: int
    time: str
    share: str
    width: str
    behind: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a page says of waiting.

    Attributes
    ----------
    advice : str
        One sentence or two; empty where waiting takes little.
    balance : str
        How uneven the ranks compute; empty of one rank.
    rows : tuple of WaitRow
    """

    advice: str
    balance: str
    rows: tuple[WaitRow, ...]


def waiting_of(signature: Signature, waits: Sequence[WaitState] = ()) -> Waiting:
    """Say how ranks wait for each other in a recorded run.

    Parameters
    ----------
    signature : Signature
    waits : sequence of WaitState
        Longest time first; none where they are not known.
    """
    whole_s = signature.application_s * signature.ranks
    return waiting(whole_s, computation_of_ranks(signature), waits)


def waiting(
    whole_s: float, computed_s: NDArray[np.float64], waits: Sequence[WaitState] = ()
) -> Waiting:
    """Say how ranks wait for each other.

    Parameters
    ----------
    whole_s : float
        Time of the run times its ranks [s].
    computed_s : (ranks,) array
        Computation of each [s].
    waits : sequence of WaitState
    """
    whole_s = whole_s or 1.0
    shown = [one for one in waits if one.time_s >= _LEAST_SHARE * whole_s]
    rows = tuple(_row(one, whole_s) for one in shown[:_MOST_ROWS])
    return Waiting(_advice(waits, whole_s, computed_s), _balance(computed_s), rows)


def computation_of_ranks(signature: Signature) -> NDArray[np.float64]:
    """Return the time between calls of each rank [s]."""
    found = np.zeros(signature.ranks)
    for group in signature.groups:
        found[list(group.ranks)] = group.compute_ns.total.sum(axis=0) + group.tail_ns
    return found / 1e9


def _row(one: WaitState, whole_s: float) -> WaitRow:
    share = one.time_s / whole_s
    part = one.behind_s / one.time_s
    return WaitRow(
        one.function,
        WAIT_WORDS[one.kind],
        one.calls,
        format_seconds(one.time_s),
        f"{100 * share:.2f} %",
        f"{100 * min(share, 1.0):.2f}%",
        f"rank {one.behind} ({part:.0%})",
    )


def _advice(
    waits: Sequence[WaitState], whole_s: float, computed_s: NDArray[np.float64]
) -> str:
    """Say what takes most, for whom ranks wait there, and what that rank does."""
    if not waits or waits[0].time_s < _WORTH * whole_s:
        return ""
    first = waits[0]
    said = (
        f"{first.time_s / whole_s:.0%} of the time of all ranks is waiting in "
        f"{first.function} ({WAIT_WORDS[first.kind]})"
    )
    part = first.behind_s / first.time_s
    if part < _MOSTLY or first.behind >= len(computed_s):
        return f"{said}, for different ranks in turn."
    mean_s = float(computed_s.mean())
    more = float(computed_s[first.behind]) / mean_s - 1 if mean_s else 0.0
    does = "computes about as long as the others do on average"
    if more > _EVEN:
        does = f"computes {more:.0%} longer than the average"
    elif more < -_EVEN:
        does = f"computes {-more:.0%} less than the average"
    return f"{said}, {part:.0%} of it behind rank {first.behind}, which {does}."


def _balance(computed_s: NDArray[np.float64]) -> str:
    if len(computed_s) < 2 or not computed_s.any():
        return ""
    mean_s = float(computed_s.mean())
    rank = int(np.argmax(computed_s))
    most_s = float(computed_s[rank])
    return (
        f"A rank computes {format_seconds(mean_s)} on average and "
        f"{format_seconds(most_s)} at most (rank {rank}): load imbalance "
        f"{most_s / mean_s - 1:.1%}."
    )
