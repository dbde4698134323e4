"""One order of the whole matched events of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.parts import members_in, parts_of
from skelgen.matching import Matching


def linear_extension(
    calls: Calls, matching: Matching, ticks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Order the whole matched events of a run.

    An event stands at the tick of its last call (the latest of those that begin it;
    completions belong to no event). Events of one tick are ordered by the function
    of their first call, then by their smallest rank, then by that rank's calls: the
    order is the same for equal iterations and knows nothing of times.

    If all calls of one event come before all calls of another, it comes first.
    Nonblocking events may overlap, so that two ranks begin them in opposite orders;
    the program order of the single ranks is therefore that of the calls, and a
    skeleton takes from this order which events it keeps, not in which order each
    rank calls them.

    Parameters
    ----------
    calls : Calls
    matching : Matching
    ticks : (n,) int64 array
        From `place`.

    Returns
    -------
    (whole_events,) int64 array
        Numbers of the events in order.
    """
    last = np.zeros(matching.whole_events, np.int64)
    first = np.empty(matching.whole_events, np.int64)
    # Events are numbered by first call, and calls stand rank after rank: sorting
    # by number is sorting by smallest rank and then by its program order.
    for part in reversed(parts_of(calls.first)):
        members, event = members_in(matching.whole_event, part)
        np.maximum.at(last, event, ticks[members])
        first[event[::-1]] = members[::-1]
    function = calls.shapes["function"][calls.shape[first]]
    return np.lexsort((function, last))
