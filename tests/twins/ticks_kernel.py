"""Twin of `skelgen.ticks.kernel`, in plain Python."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.matching import Matching
from skelgen.ticks.rules import ClockRole, shape_roles, stall


def place(calls: Calls, matching: Matching) -> NDArray[np.int64]:
    """Place every call on the logical clock; see `skelgen.ticks.place`."""
    after = _dependencies(calls, matching)
    ticks = np.full(len(calls) + 1, -1, np.int64)
    ticks[-1] = 0  # the start of all ranks
    cursor = calls.first[:-1].copy()
    moved = True
    while moved:
        moved = False
        for rank in range(calls.ranks):
            while cursor[rank] < calls.first[rank + 1]:
                call = int(cursor[rank])
                if any(ticks[other] < 0 for other, _ in after[call]):
                    break
                ticks[call] = max(ticks[other] + step for other, step in after[call])
                cursor[rank] += 1
                moved = True
    stuck = np.where(cursor < calls.first[1:], cursor, -1)
    if (stuck >= 0).any():
        raise stall(calls, stuck)
    return ticks[:-1]


def _dependencies(calls: Calls, matching: Matching) -> list[list[tuple[int, int]]]:
    """List for each call which calls come before it, and by how many ticks.

    The beginning of a call is one tick after the previous call of its rank, unless it
    begins nothing; call -1 stands before the first of each rank.
    """
    firsts = set(calls.first.tolist())
    previous = [-1 if call in firsts else call - 1 for call in range(len(calls))]
    roles = shape_roles(calls)[calls.shape]
    after = [
        [(before, int(own != ClockRole.ENDS))]
        for before, own in zip(previous, roles.tolist(), strict=True)
    ]
    for send, completion in zip(matching.send_call, matching.receive_done, strict=True):
        if completion >= 0:
            after[completion].append((previous[send], 2))
    meetings: defaultdict[int, list[int]] = defaultdict(list)
    meets = (roles == ClockRole.MEETS) | (roles == ClockRole.BEGINS)
    for row in np.flatnonzero((matching.whole_event >= 0) & meets).tolist():
        meetings[int(matching.whole_event[row])].append(row)
    for participants in meetings.values():
        for call in participants:
            if roles[call] == ClockRole.MEETS:
                after[call] += [(previous[other], 1) for other in participants]
            elif matching.collective_done[call] >= 0:
                done = int(matching.collective_done[call])
                after[done] += [(previous[other], 2) for other in participants]
    return after
