"""Tell ranks that poll while they work from ranks that poll while they wait.

A rank that asked in vain, and then went on with something that waits for nobody (it
sends, or creates a request), was not waiting. It worked, and looked now and then
whether a message had come. So did one that worked between its polls. Such polls are
computation, for they take their time whatever others do. Where a message came, or the
rank waited for one next, and did nothing but ask, it was waiting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Events, shape_kinds
from skelgen.events.narrow import Amounts
from skelgen.events.poll_pools import longest_gaps
from skelgen.events.types import AMID_WORK, FAILED_POLL, MOVED
from skelgen.symbols.types import Fate

#: Kinds that wait for what was asked before.
_WAITING_KINDS = (CallKind.COMPLETE, CallKind.RECEIVE, CallKind.AWAIT)


def fates_at_work(
    events: Events, fate: NDArray[np.uint8], size_bytes: Amounts, own: slice
) -> NDArray[np.uint8]:
    """Return the fates of a rank's calls, polls of a rank at work as computation.

    Parameters
    ----------
    events : Events
    fate : (n,) uint8 array
        A `Fate` for each call.
    size_bytes : (n,) int64 column
        Of polls that found nothing how many they are.
    own : slice
        The calls of one rank.
    """
    calls, fates = events.calls, fate[own]
    polls = np.flatnonzero(fates == Fate.WAITING)
    if not len(polls):
        return fates
    fates = fates.copy()
    shape = calls.shape[own]
    kind = shape_kinds(calls)
    inside = np.flatnonzero(fates == Fate.INSIDE)
    # Behind the last one nothing is known of what they were for.
    waits = np.append(np.isin(kind[shape[inside]], _WAITING_KINDS), True)
    following = np.searchsorted(inside, polls)
    flags = calls.shapes["flags"]
    came = (kind == CallKind.PROBE) & ((flags & FAILED_POLL) == 0)
    came |= (flags & MOVED) != 0
    waits[following[came[shape[polls]]]] = True
    at_work = ~waits[following] | _work_amid(events, polls, size_bytes[own], own)
    fates[polls[at_work]] = Fate.COMPUTATION
    return fates


def _work_amid(
    events: Events, polls: NDArray[np.int64], count: NDArray[np.int64], own: slice
) -> NDArray[np.bool_]:
    """Say which polls the rank worked between, or behind where there is only one."""
    calls = events.calls
    flags = calls.shapes["flags"][calls.shape[own][polls]]
    gap_ns = np.append(events.compute_ns[own], 0)[polls + 1]
    worked: NDArray[np.bool_] = gap_ns >= longest_gaps(events, own, count)[polls]
    worked &= (count[polls] == 1) & ((flags & FAILED_POLL) != 0)
    worked |= (flags & AMID_WORK) != 0
    return worked
