"""How much of a core this process gets when it wants all of one: a short spin.

The passive estimate knows groups, weights and limits, but not what it cannot see: the
neighbours of a container, threads that come and go. So now and then the monitor asks
for a core, and looks how much it gets.

References
----------
Wolski, Spring and Hayes 1999: the CPU sensor of NWS corrects passive readings by a
probe of 1.5 s; this one is as long as it must be to see the others take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skelgen.monitor.thresholds import (
    LONGEST_SPIN_CPU_S,
    LONGEST_SPIN_S,
    LONGEST_TURN_S,
    SHORTEST_TURN_S,
    SPIN_TURNS,
)


@dataclass(frozen=True, slots=True)
class Spin:
    """What a spin saw.

    Attributes
    ----------
    share : float
        Of a core [0 to 1].
    within : float
        How far that can be from what a longer spin would have got.
    cost_s : float
        CPU time that it took [s].
    """

    share: float
    within: float
    cost_s: float


def spin(
    wall: Callable[[], int] = time.perf_counter_ns,
    had: Callable[[], int] = time.thread_time_ns,
) -> Spin:
    """Ask for a core until others have had a few turns, or none wants one.

    Parameters
    ----------
    wall, had : callable
        Return the time and the CPU time of this thread [ns].
    """
    begin, had_begin = wall(), had()
    turns: list[tuple[int, int]] = []  # when we were on again, and what we had by then
    last = begin
    gap, most, most_had = (
        int(t * 1e9) for t in (SHORTEST_TURN_S, LONGEST_SPIN_S, LONGEST_SPIN_CPU_S)
    )
    while len(turns) <= SPIN_TURNS:
        now = wall()
        if now - last > gap:
            turns.append((now, had()))
        last = now
        if now - begin > most or (
            now - begin > most_had and had() - had_begin > most_had
        ):
            break
    return judged((begin, had_begin), turns, (wall(), had()))


def judged(
    begin: tuple[int, int], turns: Sequence[tuple[int, int]], end: tuple[int, int]
) -> Spin:
    """Tell the share from when others had turns.

    From the end of one turn of the others to the end of a later one are whole rounds;
    what is before and after them is not.

    Parameters
    ----------
    begin, end : tuple of int
        Time and CPU time [ns].
    turns : sequence of tuple of int
        The same when we were on again.

    Examples
    --------
    Three rounds, in each of which we had 4 ms of 8 ms:

    >>> ms = 10**6
    >>> rounds = [(at * 8 * ms, at * 4 * ms) for at in (1, 2, 3, 4)]
    >>> judged((0, 0), rounds, (33 * ms, 17 * ms)).share
    0.5
    """
    cost_s = (end[1] - begin[1]) / 1e9
    if len(turns) >= 3:
        whole, had = turns[-1][0] - turns[0][0], turns[-1][1] - turns[0][1]
        within = 0.5 / (len(turns) - 1)
    else:
        whole, had = end[0] - begin[0], end[1] - begin[1]
        within = LONGEST_TURN_S * 1e9 / max(whole, 1)
    share = min(max(had / max(whole, 1), 0.0), 1.0)
    return Spin(share, within * (1.0 - share) if turns else within, cost_s)
