"""Give every piece of a rank's time to a symbol, or say why not.

Between two symbols of a rank lie calls without a symbol. Their inner time is
computation when they communicate with nobody (`Fate.COMPUTATION`), waiting when they
poll or probe, and dropped otherwise. A short gap between two polls is waiting too:
the program did nothing but ask again. Waiting belongs to the time inside the next
symbol's call, for the skeleton waits there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events, Kind
from skelgen.symbols.outside import REASONS, Fate
from skelgen.symbols.pairs import Pairs, rank_slices
from skelgen.units import seconds

#: Gaps between two polls that are longer than this are computation [ns].
LONGEST_POLLING_GAP_NS = 50_000


@dataclass(frozen=True, slots=True)
class Times:
    """Where the time goes; the columns of `Symbols` with the same names."""

    compute_ns: NDArray[np.int64]
    tail_ns: NDArray[np.int64]
    waiting_call: NDArray[np.int64]
    waiting_ns: NDArray[np.int64]
    dropped: tuple[tuple[str, int, float], ...]


def share_out(events: Events, pairs: Pairs, fate: NDArray[np.uint8]) -> Times:
    """Share the time of calls without a symbol out to those that have one.

    Parameters
    ----------
    events : Events
    pairs : Pairs
    fate : (n,) uint8 array
        A `Fate` for each call.

    Returns
    -------
    Times
        Computation, waiting and dropped time together are the ranks' times.
    """
    dropped = _dropped(events, pairs, fate)
    compute_ns = np.zeros(len(fate), np.int64)
    tail_ns = events.tail_ns.copy()
    calls: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    waits: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    late: list[int] = []
    for rank, own in enumerate(rank_slices(events.calls.first)):
        spent, waiting = _spent(events, pairs, fate, own)
        inside = np.flatnonzero(fate[own] == Fate.INSIDE)
        compute_ns[own][inside], last = _between(spent, inside)
        tail_ns[rank] += last
        if waiting is not None:
            waited, last = _between(waiting, inside)
            some = np.flatnonzero(waited)
            calls.append(inside[some] + own.start)
            waits.append(waited[some])
            late += [last] if last else []
    if late:
        reason = "polling after the last communication"
        dropped += ((reason, len(late), seconds(sum(late))),)
    return Times(
        compute_ns, tail_ns, np.concatenate(calls), np.concatenate(waits), dropped
    )


def _spent(
    events: Events, pairs: Pairs, fate: NDArray[np.uint8], own: slice
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return computation at each call of a rank, and waiting if there is any."""
    spent = events.compute_ns[own].copy()
    folded = fate[own] == Fate.COMPUTATION
    waiting = None
    polls = np.flatnonzero(fate[own] == Fate.WAITING)
    if len(polls):
        gaps, amid = _polling(events, pairs, fate, own)
        folded[amid] = False
        waiting = np.zeros(len(spent), np.int64)
        waiting[gaps] = spent[gaps]
        spent[gaps] = 0
        calls = np.concatenate([polls, amid]) + own.start
        waiting[calls - own.start] += events.leave_ns[calls] - events.enter_ns[calls]
    rows = np.flatnonzero(folded)
    calls = rows + own.start
    spent[rows] += events.leave_ns[calls] - events.enter_ns[calls]
    return spent, waiting


def _between(
    amount_ns: NDArray[np.int64], inside: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Sum up to each symbol from the one before, and what is left at the end."""
    if not len(inside):
        return inside, int(amount_ns.sum())
    np.cumsum(amount_ns, out=amount_ns)
    until = amount_ns[inside]
    left = int(amount_ns[-1] - until[-1])
    until[1:] -= until[:-1].copy()
    return until, left


def _polling(
    events: Events, pairs: Pairs, fate: NDArray[np.uint8], own: slice
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the gaps that are part of polling, and the local calls amid it.

    A gap counts when it is short, the last call that was not local found nothing and
    the next one asks again, for a polling loop often looks at the clock as well.
    """
    of_call = pairs.of_call[own]
    local = pairs.is_kind(Kind.LOCAL)[of_call]
    other = np.flatnonzero(~local)
    asks = _asks(events, pairs)[of_call[other]]
    failed = (fate[own][other] == Fate.WAITING) & asks
    polling = np.zeros(len(other) + 1, bool)
    polling[1:-1] = failed[:-1] & asks[1:]
    other_yet = (~local).astype(np.int64)
    after = np.cumsum(other_yet) - other_yet
    short = events.compute_ns[own] < LONGEST_POLLING_GAP_NS
    gaps = polling[after] & short
    amid = local & polling[after]
    return np.flatnonzero(gaps), np.flatnonzero(amid)


def _asks(events: Events, pairs: Pairs) -> NDArray[np.bool_]:
    names = events.calls.functions
    asks = np.array([n.startswith("MPI_Test") or "probe" in n.lower() for n in names])
    chosen: NDArray[np.bool_] = asks.astype(bool)[pairs.shape["function"]]
    return chosen


def _dropped(
    events: Events, pairs: Pairs, fate: NDArray[np.uint8]
) -> tuple[tuple[str, int, float], ...]:
    rows = np.flatnonzero(fate >= Fate.UNSUPPORTED)
    function = pairs.shape["function"][pairs.of_call[rows]]
    spent = events.leave_ns[rows] - events.enter_ns[rows]
    lines = []
    for reason, text in REASONS.items():
        for number, name in enumerate(events.calls.functions):
            chosen = (fate[rows] == reason) & (function == number)
            if chosen.any():
                time_s = seconds(int(spent[chosen].sum()))
                lines.append((f"{name}: {text}", int(chosen.sum()), time_s))
    return tuple(lines)
