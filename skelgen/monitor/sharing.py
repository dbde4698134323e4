"""How much of a core a new process would get, from what competes with it.

The scheduler shares a group's time among its processes and the groups in it by their
weights; who wants less than its share leaves the rest to the others. One more process
takes from others and gives to nobody. So what each of them used until now is all that
it can get beside the new one, and what it would like to have need not be known.

References
----------
Demers, Keshav and Shenker 1989 (weighted max-min fairness); the *available CPU* is that
of the 2006 paper on rational polynomials, section 2.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.monitor.thresholds import LEAST_UNEXPLAINED, LEAST_WORK


@dataclass(frozen=True, slots=True)
class Rival:
    """A thread or a group that competes in a group.

    Attributes
    ----------
    weight : float
        1 for a thread of ordinary priority.
    used : float
        What it had of our cores [cores].
    """

    weight: float
    used: float


@dataclass(frozen=True, slots=True)
class Level:
    """A control group on the way from the root to ours.

    Attributes
    ----------
    rivals : tuple of Rival
        In this group: beside the group on the way to us, or in the last level beside
        the new process.
    weight : float
        Of this group in the one around it; 1 as a thread of ordinary priority.
    quota : float
        What all in it may have at most [cores].
    """

    rivals: tuple[Rival, ...] = ()
    weight: float = 1.0
    quota: float = math.inf


@dataclass(frozen=True, slots=True)
class SharingFacts:
    """What decides how much of a core a new process gets.

    Attributes
    ----------
    cores : int
        Those that it may run on.
    levels : tuple of Level
        From the root to the group of the new process; one at least.
    weight : float
        Of the new process; 1 for ordinary priority.
    fullest : float
        What one thread can have of a core at most; less than 1 where a hypervisor or
        interrupts take from each [cores].
    crowded : float
        Part of the time in which each of the cores has a thread that is bound to it
        [0 to 1].
    """

    cores: int
    levels: tuple[Level, ...]
    weight: float = 1.0
    fullest: float = 1.0
    crowded: float = 0.0


def available(facts: SharingFacts) -> float:
    """Return the share of a core that a new busy process would get.

    Threads that may move do so until all cores are used as one. Where each core has a
    thread that is bound to it, the new process shares one with that.

    Parameters
    ----------
    facts : SharingFacts

    Returns
    -------
    float
        Available CPU [0 to 1].

    Examples
    --------
    Two busy processes on one core, then the same in a group that may use half of it:

    >>> busy = (Rival(1.0, 0.5), Rival(1.0, 0.5))
    >>> round(available(Facts(1, (Level(busy),))), 3)
    0.333
    >>> half = tuple(Rival(1.0, 0.25) for _ in busy)
    >>> round(available(Facts(1, (Level(), Level(half, quota=0.5)))), 3)
    0.167
    """
    pool = _given(facts, facts.levels, facts.fullest * facts.cores)
    if facts.cores > 1 and facts.crowded > 0:
        one = min(pool, _given(facts, _on_one(facts), facts.fullest))
        pool += facts.crowded * (one - pool)
    return max(0.0, min(pool, facts.fullest, 1.0))


def fewest(used: float) -> int:
    """Return how many threads there must have been to use so many cores.

    Examples
    --------
    >>> fewest(0.0), fewest(0.4), fewest(1.9), fewest(2.01)
    (0, 1, 2, 2)
    """
    return max(1, math.ceil(used - LEAST_UNEXPLAINED)) if used > 0 else 0


def fullest(cores: int, busy: float, interrupts: float, stolen: float) -> float:
    """Return what one thread can have of a core at most [0 to 1].

    Parameters
    ----------
    cores : int
    busy, interrupts, stolen : float
        At work, of that in interrupts, taken by the hypervisor [cores].
    """
    work = busy + stolen
    # What was stolen was wanted: of a busy machine, that part of all.
    part = stolen / (work if work > LEAST_WORK else cores)
    return max(0.0, (1.0 - interrupts / cores) * (1.0 - part))


def _given(facts: SharingFacts, levels: Sequence[Level], capacity: float) -> float:
    """Return what the new process is given of a capacity [cores]."""
    left = capacity
    for at, level in enumerate(levels):
        inner = levels[at + 1 :]
        weight = inner[0].weight if inner else facts.weight
        wanted = _wanted(inner, facts.fullest)
        left = _share(min(left, level.quota), level.rivals, weight, wanted)
    return left


def _on_one(facts: SharingFacts) -> tuple[Level, ...]:
    """Return the levels as they are on one core of several, each with bound threads.

    The new process goes where its own group has nothing else to do, if there is such
    a core. The scheduler divides the weight of a group among cores by what runs there.
    What the quota leaves is not a matter of one core.
    """
    found: list[Level] = []
    inside = here = (
        0.0  # what runs further in, without the new process, and where it is
    )
    slots = 0.0
    for at, level in reversed(list(enumerate(facts.levels))):
        slots += _slots(level.rivals)
        met = min(max(slots - (facts.cores - 1), 0.0), 1.0) if at else 1.0
        part = met / facts.cores
        load = math.fsum(min(rival.weight, rival.used) for rival in level.rivals)
        inside, here = inside + load, here + load * part
        rivals = tuple(
            Rival(rival.weight * part, rival.used * part)
            for rival in level.rivals
            if part
        )
        weight = level.weight * (facts.weight + here) / (facts.weight + inside)
        found.append(Level(rivals, weight))
    return tuple(reversed(found))


def _slots(rivals: Sequence[Rival]) -> float:
    """Return how many cores rivals are on at a time.

    Who used as much as others of its weight was there all the time; who used less
    came and went.
    """
    used = math.fsum(rival.used for rival in rivals)
    weights = math.fsum(rival.weight for rival in rivals)
    return math.fsum(
        min(1.0, rival.used * weights / (used * rival.weight))
        * max(1, math.ceil(rival.used - 0.05))
        for rival in rivals
        if used
    )


def _wanted(levels: Sequence[Level], fullest: float) -> float:
    """Return what the groups would use with the new process in the last [cores]."""
    wanted = fullest
    for level in reversed(levels):
        used = math.fsum(rival.used for rival in level.rivals)
        wanted = min(wanted + used, level.quota)
    return wanted


def _share(
    capacity: float, rivals: Sequence[Rival], weight: float, wanted: float
) -> float:
    """Return what one of those who share a capacity gets.

    Who used least for its weight is served first: whatever it leaves is shared by
    those who come after it.
    """
    left = capacity
    weights = weight + math.fsum(rival.weight for rival in rivals)
    for rival in sorted(rivals, key=lambda one: one.used / one.weight):
        if wanted / weight <= rival.used / rival.weight:
            break
        if rival.used / rival.weight >= left / weights:
            break
        left -= rival.used
        weights -= rival.weight
    return max(0.0, min(wanted, left * weight / weights))
