"""Give every piece of a rank's time to a symbol, or say why not.

Between two symbols of a rank lie calls without a symbol. Their inner time is
computation when they communicate with nobody (`Fate.COMPUTATION`) or poll amid work,
waiting when they poll or probe, and dropped otherwise. A gap between two polls that is
short, or in which the program slept, is waiting too: it did nothing but ask again.
Waiting belongs to the time inside the next symbol's call, for the skeleton waits there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, Events, function_info
from skelgen.events.away import asleep_before
from skelgen.events.narrow import PIECE, Amounts
from skelgen.events.parts import ranks_together
from skelgen.events.poll_pools import longest_gaps
from skelgen.events.types import FAILED_POLL, MOVED
from skelgen.symbols.types import Fate, Lost
from skelgen.symbols.working_polls import fates_at_work

_INSIDE, _COMPUTATION, _WAITING = (
    np.uint8(one) for one in (Fate.INSIDE, Fate.COMPUTATION, Fate.WAITING)
)


@dataclass(frozen=True, slots=True)
class SymbolTimes:
    """Where the time goes; the columns of `Symbols` with the same names."""

    compute_ns: Amounts
    tail_ns: NDArray[np.int64]
    waiting_call: NDArray[np.int64]
    waiting_ns: NDArray[np.int64]
    polls: NDArray[np.int64]
    nap_ns: NDArray[np.int64]
    idle_call: NDArray[np.int64]
    idle_ns: NDArray[np.int64]
    tail_idle_ns: NDArray[np.int64]
    lost: tuple[Lost, ...]


def share_out(
    events: Events, fate: NDArray[np.uint8], size_bytes: Amounts
) -> SymbolTimes:
    """Share the time of calls without a symbol out to those that have one.

    Parameters
    ----------
    events : Events
    fate : (n,) uint8 array
        A `Fate` for each call.
    size_bytes : (n,) int64 column
        Of each call; of polls that found nothing how many they are.

    Returns
    -------
    SymbolTimes
        Computation, waiting, sleep and dropped time together are the ranks' times.
    """
    lost = _lost(events, fate)
    compute_ns = events.compute_ns.copy()
    tail_ns = events.tail_ns.copy()
    tail_idle_ns = events.tail_asleep_ns.copy()
    waits, idle, late = _Sparse(3), _Sparse(1), list[int]()
    first = events.calls.first
    for own, ranks in _stretches(first, fate):
        rows = slice(ranks.start, ranks.stop)
        edges = first[ranks.start : ranks.stop + 1].clip(own.start, own.stop)
        edges -= own.start
        fates = fates_at_work(events, fate, size_bytes, own)
        outside = np.flatnonzero(fates != _INSIDE)
        asleep = asleep_before(events.away, own)
        spent = compute_ns[own]
        waiting = _spend(spent, asleep, events, fates, size_bytes, own)
        tail_ns[rows] += _move_on(spent, outside, edges)
        compute_ns[own] = spent
        if asleep is not None:
            tail_idle_ns[rows] += _move_on(asleep, outside, edges)
            idle.add([asleep], own.start)
        if waiting is not None:
            last, _, _ = (_move_on(one, outside, edges) for one in waiting)
            waits.add(list(waiting), own.start)
            late += last[last != 0].tolist()
    if late:
        lost += (Lost(Fate.WAITING, -1, len(late), sum(late)),)
    waiting_call, waiting_ns, polls, nap_ns = waits.columns
    idle_call, idle_ns = idle.columns
    return SymbolTimes(
        compute_ns,
        tail_ns,
        waiting_call,
        waiting_ns,
        polls,
        nap_ns,
        idle_call,
        idle_ns,
        tail_idle_ns,
        lost,
    )


def _stretches(
    first: NDArray[np.int64], fate: NDArray[np.uint8]
) -> Iterator[tuple[slice, range]]:
    """Give calls whose time is shared out together, and their ranks.

    Ranks with few calls together, pieces of those with many, and alone where they wait.
    """
    for ranks in ranks_together(first):
        own = slice(int(first[ranks.start]), int(first[ranks.stop]))
        if (fate[own] == _WAITING).any():
            for rank in ranks:
                alone = slice(int(first[rank]), int(first[rank + 1]))
                yield alone, range(rank, rank + 1)
        elif len(ranks) == 1:
            yield from ((piece, ranks) for piece in _pieces(fate, own))
        else:
            yield own, ranks


def _pieces(fate: NDArray[np.uint8], own: slice) -> Iterator[slice]:
    """Cut the calls of a rank behind calls that have a symbol."""
    begin, size = own.start, PIECE
    while own.stop - begin > size:
        inside = np.flatnonzero(fate[begin : begin + size] == _INSIDE)
        if not len(inside):
            size *= 2
            continue
        end = begin + int(inside[-1]) + 1
        yield slice(begin, end)
        begin, size = end, PIECE
    yield slice(begin, own.stop)


class _Sparse:
    """Amounts that few calls have."""

    def __init__(self, amounts: int) -> None:
        self._calls: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._amounts = [np.empty((amounts, 0), np.int64)]

    def add(self, amounts: Sequence[NDArray[np.int64]], first: int) -> None:
        """Take those of the calls from `first` on that have any of the amounts."""
        some = np.flatnonzero(np.any(amounts, axis=0))
        self._calls.append(some + first)
        self._amounts.append(np.stack([one[some] for one in amounts]))

    @property
    def columns(self) -> list[NDArray[np.int64]]:
        """Return the calls and their amounts."""
        return [np.concatenate(self._calls), *np.concatenate(self._amounts, axis=1)]


def _spend(
    spent: NDArray[np.int64],
    asleep: NDArray[np.int64] | None,
    events: Events,
    fates: NDArray[np.uint8],
    size_bytes: Amounts,
    own: slice,
) -> NDArray[np.int64] | None:
    """Turn the gaps before calls into computation; return waiting if any.

    The calls, whose fates these are, are of one rank, or of several that do not wait.

    Returns
    -------
    (3, calls) int64 array or None
        Waiting [ns], polls and probes, and how much of the waiting was sleep between
        them [ns].
    """
    folded = fates == _COMPUTATION
    waiting = None
    polls = np.flatnonzero(fates == _WAITING)
    asked = _asked(events.calls, fates, size_bytes, own)
    if len(polls) or asked is not None:
        waiting = np.zeros((3, len(spent)), np.int64)
        waiting[1] = 0 if asked is None else asked
        gaps, amid = _polling(events, asleep, fates, size_bytes[own], own)
        folded[amid] = False
        waiting[0, gaps] = spent[gaps]
        spent[gaps] = 0
        if asleep is not None:
            waiting[2, gaps] = asleep[gaps]
            waiting[0] += waiting[2]
            asleep[gaps] = 0
        rows = np.concatenate([polls, amid])
        waiting[0, rows] += events.spent_ns(rows + own.start)
    rows = np.flatnonzero(folded)
    spent[rows] += events.spent_ns(rows + own.start)
    return waiting


def _move_on(
    amount_ns: NDArray[np.int64],
    outside: NDArray[np.int64],
    first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Move what calls outside have to the next symbol of their rank.

    Return what none follows, of each rank.
    """
    left_ns = np.zeros(len(first) - 1, np.int64)
    if not len(outside):
        return left_ns
    rank = np.searchsorted(first, outside, side="right") - 1
    breaks = (np.diff(outside) != 1) | (np.diff(rank) != 0)
    begins = np.flatnonzero(np.concatenate([[True], breaks]))
    sums = np.add.reduceat(amount_ns[outside], begins)
    last = np.append(begins[1:], len(outside)) - 1
    following, rank = outside[last] + 1, rank[last]
    amount_ns[outside] = 0
    at_end = following == first[rank + 1]
    amount_ns[following[~at_end]] += sums[~at_end]
    left_ns[rank[at_end]] = sums[at_end]
    return left_ns


def _polling(
    events: Events,
    asleep: NDArray[np.int64] | None,
    fates: NDArray[np.uint8],
    count: NDArray[np.int64],
    own: slice,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the gaps that are part of polling, and the local calls amid it.

    A gap counts when it is short or most of it is sleep, the last call that was not
    local found nothing and the next one asks again, for a polling loop often looks at
    the clock as well.
    """
    names, calls = events.calls.functions, events.calls
    function = calls.shapes["function"][calls.shape[own]]
    local = np.array([function_info(n).kind is CallKind.LOCAL for n in names])[function]
    other = np.flatnonzero(~local)
    asks = np.array([_asks(name) for name in names])[function[other]]
    found = (calls.shapes["flags"] & MOVED) != 0
    failed = (fates[other] == Fate.WAITING) & asks & ~found[calls.shape[own][other]]
    polling = np.zeros(len(other) + 1, bool)
    polling[1:-1] = failed[:-1] & asks[1:]
    other_yet = (~local).astype(np.int64)
    after = np.cumsum(other_yet) - other_yet
    awake_ns = events.compute_ns[own]
    nap_ns = np.zeros(1, np.int64) if asleep is None else asleep
    longest_ns = np.append(0, longest_gaps(events, own, count)[other])[after]
    idle = (awake_ns + nap_ns < longest_ns) | (nap_ns > awake_ns)
    gaps = polling[after] & idle
    amid = local & polling[after]
    return np.flatnonzero(gaps), np.flatnonzero(amid)


def _asked(
    calls: Calls, fates: NDArray[np.uint8], size_bytes: Amounts, own: slice
) -> NDArray[np.int64] | None:
    """Return how often each call asked, None where none ever did.

    Polls in a row that found nothing are one call. Those amid work are left out.
    """
    asks = np.array([_asks(name) for name in calls.functions], bool)
    asks = asks[calls.shapes["function"]]
    failed = (calls.shapes["flags"] & FAILED_POLL) != 0
    if not (asks | failed).any():
        return None
    shape = calls.shape[own]
    times = np.where(failed[shape], size_bytes[own], asks[shape])
    return np.where(fates != _COMPUTATION, times, 0)


def _asks(function: str) -> bool:
    return function.startswith("MPI_Test") or "probe" in function.lower()


def _lost(events: Events, fate: NDArray[np.uint8]) -> tuple[Lost, ...]:
    calls = events.calls
    rows = np.flatnonzero(fate >= Fate.UNSUPPORTED)
    function = calls.shapes["function"][calls.shape[rows]]
    spent = events.spent_ns(rows)
    key = fate[rows].astype(np.int64) * len(calls.functions) + function
    lost = []
    for one in np.unique(key).tolist():
        chosen = key == one
        reason, number = divmod(one, len(calls.functions))
        time_ns = int(spent[chosen].sum())
        lost.append(Lost(reason, number, int(chosen.sum()), time_ns))
    return tuple(lost)
