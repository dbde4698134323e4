"""Tell ranks that poll while they work from ranks that poll while they wait.

A rank that asked in vain, and then went on with something that waits for nobody (it
sends, or creates a request), was not waiting. It worked, and looked now and then
whether a message had come. Such polls are computation, for they take their time
whatever others do. Where a message came, or the rank waited for one next, it was
waiting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, shape_kinds
from skelgen.events.types import FAILED_POLL, MOVED
from skelgen.symbols.types import Fate

#: Kinds that wait for what was asked before.
_WAITING_KINDS = (CallKind.COMPLETE, CallKind.RECEIVE, CallKind.AWAIT)


def fates_at_work(
    calls: Calls, fate: NDArray[np.uint8], own: slice
) -> NDArray[np.uint8]:
    """Return the fates of a rank's calls, polls of a rank at work as computation.

    Parameters
    ----------
    calls : Calls
    fate : (n,) uint8 array
        A `Fate` for each call.
    own : slice
        The calls of one rank.
    """
    fates = fate[own]
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
    fates[polls[~waits[following]]] = Fate.COMPUTATION
    return fates
