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
from skelgen.symbols.pairs import Pairs
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
    inside = np.flatnonzero(fate == Fate.INSIDE)
    if len(inside) == len(fate):
        empty = np.empty(0, np.int64)
        return Times(events.compute_ns, events.tail_ns, empty, empty, ())
    spent = events.compute_ns.copy()
    polls = np.flatnonzero(fate == Fate.WAITING)
    waiting = np.zeros(len(fate) if len(polls) else 0, np.int64)
    if len(polls):
        gaps, locals_ = _polling(events, pairs, fate)
        waiting[polls] = events.leave_ns[polls] - events.enter_ns[polls]
        waiting[gaps] += spent[gaps]
        spent[gaps] = 0
        waiting[locals_] += events.leave_ns[locals_] - events.enter_ns[locals_]
    folded = fate == Fate.COMPUTATION
    if len(polls):
        folded[locals_] = False
    rows = np.flatnonzero(folded)
    spent[rows] += events.leave_ns[rows] - events.enter_ns[rows]
    compute_ns = np.zeros(len(fate), np.int64)
    compute_ns[inside], tail_ns = _between(spent, inside, events.calls.first)
    dropped = _dropped(events, pairs, fate)
    if not len(polls):
        none = np.empty(0, np.int64)
        return Times(compute_ns, events.tail_ns + tail_ns, none, none, dropped)
    waited, last = _between(waiting, inside, events.calls.first)
    some = np.flatnonzero(waited)
    if last.any():
        reason = "polling after the last communication"
        dropped += ((reason, int((last > 0).sum()), seconds(int(last.sum()))),)
    return Times(
        compute_ns, events.tail_ns + tail_ns, inside[some], waited[some], dropped
    )


def _between(
    amount_ns: NDArray[np.int64], inside: NDArray[np.int64], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sum up to each symbol from the one before, and what is left in each rank."""
    total = np.concatenate([[0], np.cumsum(amount_ns)])
    until = total[inside + 1]
    begin = np.searchsorted(inside, first)
    since = np.concatenate([[0], until[:-1]])[: len(until)]
    nonempty = begin[:-1] < begin[1:]
    since[begin[:-1][nonempty]] = total[first[:-1][nonempty]]
    last = total[first[:-1]].copy()
    last[nonempty] = until[begin[1:][nonempty] - 1]
    return until - since, total[first[1:]] - last


def _polling(
    events: Events, pairs: Pairs, fate: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the gaps that are part of polling, and the local calls amid it.

    A gap counts when it is short, the last call that was not local found nothing and
    the next one asks again, for a polling loop often looks at the clock as well.
    """
    local = pairs.is_kind(Kind.LOCAL)[pairs.of_call]
    other = np.flatnonzero(~local)
    asks = _asks(events, pairs)[pairs.of_call[other]]
    ranks = pairs.rank[pairs.of_call[other]]
    failed = (fate[other] == Fate.WAITING) & asks
    polling = np.zeros(len(other) + 1, bool)
    polling[1:-1] = failed[:-1] & asks[1:] & (ranks[:-1] == ranks[1:])
    other_yet = (~local).astype(np.int64)
    after = np.cumsum(other_yet) - other_yet
    short = events.compute_ns < LONGEST_POLLING_GAP_NS
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
