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
class Facts:
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
        Part of the time in which none of the cores is idle [0 to 1].
    """

    cores: int
    levels: tuple[Level, ...]
    weight: float = 1.0
    fullest: float = 1.0
    crowded: float = 0.0


def available(facts: Facts) -> float:
    """Return the share of a core that a new busy process would get.

    While a core is idle, threads move until all cores are used as one; when none is,
    the new process shares a core with those that are on it.

    Parameters
    ----------
    facts : Facts

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


def _given(facts: Facts, levels: Sequence[Level], capacity: float) -> float:
    """Return what the new process is given of a capacity [cores]."""
    left = capacity
    for at, level in enumerate(levels):
        inner = levels[at + 1 :]
        weight = inner[0].weight if inner else facts.weight
        wanted = _wanted(inner, facts.fullest)
        left = _share(min(left, level.quota), level.rivals, weight, wanted)
    return left


def _on_one(facts: Facts) -> tuple[Level, ...]:
    """Return the levels as they are on one core of several.

    The scheduler divides the weight of a group among cores by what runs there. What
    the quota leaves is not a matter of one core.
    """
    found: list[Level] = []
    inside = 0.0  # what runs in the groups further in, without the new process
    for level in reversed(facts.levels):
        inside += math.fsum(min(rival.weight, rival.used) for rival in level.rivals)
        here = (facts.weight + inside / facts.cores) / (facts.weight + inside)
        rivals = tuple(
            Rival(rival.weight / facts.cores, rival.used / facts.cores)
            for rival in level.rivals
        )
        found.append(Level(rivals, level.weight * here))
    return tuple(reversed(found))


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
