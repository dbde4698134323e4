"""Put the calls of threads into an order that one thread can execute.

The calls of a rank's threads stand in the order in which they were entered. Where they
overlap, a call that one thread entered early and left late may then stand before calls
of another thread that it depends on: one thread in that order would wait for ever.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Events
from skelgen.matching.replay import replay
from skelgen.matching.thread_order import depend
from skelgen.matching.types import Matching
from skelgen.matching.whole_events import match


def overlapping(events: Events) -> int:
    """Count the ranks whose threads were in calls at the same time."""
    if events.threads is None:
        return 0
    count = 0
    for begin, end in pairwise(events.calls.first.tolist()):
        threads = events.threads[begin:end]
        if len(threads) and (threads != threads[0]).any():
            busy_ns = np.maximum.accumulate(events.leave_ns[begin:end])
            inside = events.enter_ns[begin + 1 : end] < busy_ns[:-1]
            count += bool(inside.any())
    return count


def order_of_threads(
    events: Events, matching: Matching | None = None
) -> NDArray[np.int64]:
    """Return the order in which one thread for each rank can execute its calls.

    Calls of one thread keep their order, and so do calls of a rank that did not
    overlap, messages of one channel, collectives of one communicator, and calls on one
    request, window or file. Times decide the rest.

    Parameters
    ----------
    events : Events
        With threads.
    matching : Matching, optional
        With completions.

    Returns
    -------
    (n,) int64 array
        The call that stands at each place; each rank keeps its own.
    """
    assert events.threads is not None
    matching = matching or match(events.calls)
    times_ns = events.enter_ns, events.leave_ns
    return replay(depend(events.calls, matching, events.threads, *times_ns))
