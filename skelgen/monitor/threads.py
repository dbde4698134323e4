"""Which threads of some groups use their cores, without a look at all of them.

What a group used says nothing of how many threads wanted it: one, or three that took
turns. So threads that work are followed, few as they are. All are looked at only when
more was used than these explain, and seldom enough to cost next to nothing.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from skelgen.monitor.cgroups import read
from skelgen.monitor.thresholds import (
    LEAST_BOUND_SHARE,
    LEAST_THREAD,
    SAMPLES_IDLE,
    THREADS_COST,
)

#: Weights of threads that only get what is left, and of those that come first.
_LEFT, _FIRST = 3.0 / 1024, 1e6


@dataclass(frozen=True, slots=True)
class ThreadTimes:
    """What the kernel says of a thread.

    Attributes
    ----------
    used_s : float
        CPU time that it has had [s].
    weight : float
        1 for ordinary priority.
    session : int
    """

    used_s: float
    weight: float
    session: int


def thread_times(text: str, ticks_per_s: float) -> ThreadTimes:
    """Read a thread from its ``stat``.

    Examples
    --------
    >>> fields = ["R", *"0" * 10, "150", "50", *"0" * 3, "5", *"0" * 19, "1", "0", "0"]
    >>> thread_times(f"7 (a b) {' '.join(fields)}", 100.0)
    ThreadTimes(used_s=2.0, weight=0.32768, session=0)
    """
    fields = text.rpartition(")")[2].split()
    used_s = (int(fields[11]) + int(fields[12])) / ticks_per_s
    policy = int(fields[38])
    weight = nice_weight(int(fields[16]))
    if policy == 5:
        weight = _LEFT
    elif policy in (1, 2, 6):
        weight = _FIRST
    return ThreadTimes(used_s, weight, int(fields[3]))


def nice_weight(nice: int) -> float:
    """Return the weight of a thread with a priority; each step is a quarter more.

    Examples
    --------
    >>> nice_weight(0), nice_weight(-2), round(nice_weight(19), 3)
    (1.0, 1.5625, 0.014)
    """
    return float(1.25**-nice)


@dataclass(frozen=True, slots=True)
class Competitor:
    """Something that competes, and how sure it is that it does so on our cores.

    Attributes
    ----------
    weight : float
        1 for a thread of ordinary priority.
    used : float
        What it had of all cores [cores].
    part : float
        What of that was on ours, as far as is known [0 to 1].
    sure : bool
        Whether that was counted; else it follows from the cores that it may use.
    """

    weight: float
    used: float
    part: float = 1.0
    sure: bool = True

    @property
    def ours(self) -> float:
        """Return what it had of our cores, as far as is known [cores]."""
        return self.used * self.part


Found = dict[str, list[Competitor]]


@dataclass(slots=True)
class _Followed:
    place: str
    used_s: float
    idle: int = 0


class Threads:
    """The threads that work in some groups.

    Parameters
    ----------
    listed : callable
        Returns the threads of each group.
    proc : str
        Where the kernel shows threads.
    ticks_per_s : float
    own : collection of int
        Threads that do not count.
    by_session : str, optional
        The group in which the kernel gives each session a share.
    cost : callable
        Returns the CPU time that this process has had [s].
    affinity : callable
        Returns the cores that a thread may use.
    """

    def __init__(
        self,
        listed: Callable[[], Mapping[str, Sequence[int]]],
        *,
        proc: str = "/proc",
        ticks_per_s: float = 100.0,
        own: frozenset[int] = frozenset(),
        by_session: str | None = None,
        cost: Callable[[], float] = time.process_time,
        affinity: Callable[[int], set[int]] = os.sched_getaffinity,
    ) -> None:
        self._listed, self._proc, self._ticks = listed, proc, ticks_per_s
        self._own, self._cost, self._affinity = own, cost, affinity
        self._by_session = by_session
        self._known: dict[int, tuple[float, float]] = {}  # CPU time, and when
        self._followed: dict[int, _Followed] = {}
        self._next_s = {True: -math.inf, False: -math.inf}
        self._bound: dict[int, dict[int, float]] = {}  # by core and thread
        self._found: list[tuple[int, str, int, Competitor]] = []

    def measure(self, span_s: float, cores: frozenset[int]) -> Found:
        """Return what the threads that work used since the last call, by group.

        Parameters
        ----------
        span_s : float
            Time since then [s].
        cores : frozenset of int
            Ours: threads that may use none of them are left out.
        """
        found: list[tuple[int, str, int, Competitor]] = []
        self._bound = {}
        for thread, one in list(self._followed.items()):
            times = self._times(thread)
            if times is None:
                del self._followed[thread]
                continue
            used = (times.used_s - one.used_s) / span_s
            one.used_s = times.used_s
            one.idle = one.idle + 1 if used < LEAST_THREAD else 0
            if one.idle >= SAMPLES_IDLE:
                del self._followed[thread]
            elif used >= LEAST_THREAD and (part := self._part(thread, cores, used)):
                seen = Competitor(times.weight, used, part, part >= 1)
                found.append((thread, one.place, times.session, seen))
        self._found = found
        return self._by_group(found)

    def without(self, threads: Set[int]) -> Found:
        """Return what all but some threads used, of those found since `measure`."""
        return self._by_group([one for one in self._found if one[0] not in threads])

    def present(self, waiting: float) -> float:
        """Return how many of those found since `measure` ran or waited, on average.

        Parameters
        ----------
        waiting : float
            Threads that ran or waited for each core that was busy, on average.
        """
        return math.fsum(min(1.0, seen.used * waiting) for *_, seen in self._found)

    def search(self, now_s: float, span_s: float, cores: frozenset[int]) -> Found:
        """Find more threads that work: among all, or else among those that are new.

        Each of the two is done as often as its cost allows. Returned is what those used
        that were found, on average since they were looked at before.
        """
        before, whole = self._cost(), now_s >= self._next_s[True]
        if now_s < self._next_s[whole]:
            return {}
        first, known = not self._known, {}
        found: list[tuple[int, str, int, Competitor]] = []
        for place, threads in self._listed().items():
            for thread in threads:
                if thread in self._own or not (whole or thread not in self._known):
                    continue
                if (times := self._times(thread)) is None:
                    continue
                known[thread] = (times.used_s, now_s)
                had_s, then_s = self._known.get(thread, (0.0, now_s - span_s))
                used_s = times.used_s - had_s
                if used_s <= 0 or thread in self._followed:
                    continue
                self._followed[thread] = _Followed(place, times.used_s)
                used = min(used_s / max(now_s - then_s, 1e-3), 1.0)
                if first or used < LEAST_THREAD:
                    continue
                if part := self._part(thread, cores, used):
                    seen = Competitor(times.weight, used, part, part >= 1)
                    found.append((thread, place, times.session, seen))
        self._found += found
        if whole:
            self._known = known
        else:
            self._known |= known
        self._next_s[whole] = now_s + (self._cost() - before) / THREADS_COST
        return self._by_group(found)

    def crowded(self, busy: Mapping[int, float], but: Set[int] = frozenset()) -> float:
        """Return for which part of the time each core has a thread that is bound to it.

        One that used a fair part of a core waited while others had that.

        Parameters
        ----------
        busy : mapping of int to float
            Part of the time in which each core was busy [0 to 1].
        but : set of int
            Threads that do not count.
        """

        def bound(core: int) -> float:
            there = self._bound.get(core, {})
            return math.fsum(used for one, used in there.items() if one not in but)

        return math.prod(
            min(1.0, share) * min(1.0, bound(core) / LEAST_BOUND_SHARE)
            for core, share in busy.items()
        )

    def _by_group(self, found: Sequence[tuple[int, str, int, Competitor]]) -> Found:
        """Put threads together by group, and by session where these have shares."""
        cgroups: Found = {}
        sessions: dict[int, list[Competitor]] = {}
        for _, place, session, seen in found:
            if place == self._by_session:
                sessions.setdefault(session, []).append(seen)
            else:
                cgroups.setdefault(place, []).append(seen)
        if self._by_session is not None and sessions:
            cgroups[self._by_session] = [joined(one, 1.0) for one in sessions.values()]
        return cgroups

    def _part(self, thread: int, cores: frozenset[int], used: float) -> float:
        """Return how much of what a thread may use is ours [0 to 1].

        A thread that may not use all of ours is bound to some of them.
        """
        try:
            allowed = self._affinity(thread)
        except OSError:
            return 1.0
        ours = cores & allowed
        if len(ours) < len(cores):
            for core in ours:
                there = self._bound.setdefault(core, {})
                there[thread] = there.get(thread, 0.0) + used / len(allowed)
        return len(ours) / len(allowed) if allowed else 1.0

    def _times(self, thread: int) -> ThreadTimes | None:
        try:
            text = read(f"{self._proc}/{thread}/task/{thread}/stat")
            return thread_times(text, self._ticks)
        except (OSError, ValueError, IndexError):
            return None  # it has ended


def joined(found: Sequence[Competitor], weight: float) -> Competitor:
    """Return several as one, with a weight of its own."""
    used = math.fsum(one.used for one in found)
    ours = math.fsum(one.ours for one in found)
    sure = all(one.sure for one in found)
    return Competitor(weight, used, ours / used if used else 1.0, sure)
