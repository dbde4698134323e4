"""Which threads of some groups use their cores, without a look at all of them.

What a group used says nothing of how many threads wanted it: one, or three that took
turns. So threads that work are followed, few as they are. All are looked at only when
more was used than these explain, and seldom enough to cost next to nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skelgen.monitor.sharing import Rival
from skelgen.monitor.tree import read

#: Part of a core that looks at all threads may take.
SEARCH_COST = 0.0002
#: A thread that uses less is idle; it is followed for so many samples more.
_IDLE, _PATIENCE = 0.002, 3
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
    core : int
        Where it ran last.
    session : int
    """

    used_s: float
    weight: float
    core: int
    session: int


def thread_times(text: str, ticks_per_s: float) -> ThreadTimes:
    """Read a thread from its ``stat``.

    Examples
    --------
    >>> fields = ["R", *"0" * 10, "150", "50", *"0" * 3, "5", *"0" * 19, "1", "0", "0"]
    >>> thread_times(f"7 (a b) {' '.join(fields)}", 100.0)
    ThreadTimes(used_s=2.0, weight=0.32768, core=1, session=0)
    """
    fields = text.rpartition(")")[2].split()
    used_s = (int(fields[11]) + int(fields[12])) / ticks_per_s
    policy = int(fields[38])
    weight = 1.25 ** -int(fields[16])
    if policy == 5:
        weight = _LEFT
    elif policy in (1, 2, 6):
        weight = _FIRST
    return ThreadTimes(used_s, weight, int(fields[36]), int(fields[3]))


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
    cost : callable
        Returns the CPU time that this process has had [s].
    """

    def __init__(
        self,
        listed: Callable[[], Mapping[str, Sequence[int]]],
        *,
        proc: str = "/proc",
        ticks_per_s: float = 100.0,
        own: frozenset[int] = frozenset(),
        cost: Callable[[], float] = time.process_time,
    ) -> None:
        self._listed, self._proc, self._ticks = listed, proc, ticks_per_s
        self._own, self._cost = own, cost
        self._known: dict[int, float] = {}
        self._followed: dict[int, _Followed] = {}
        self._next_s = -math.inf

    def measure(
        self,
        span_s: float,
        cores: frozenset[int] | None = None,
        *,
        by_session: str | None = None,
    ) -> dict[str, list[Rival]]:
        """Return what the threads that work used since the last call, by group.

        Parameters
        ----------
        span_s : float
            Time since then [s].
        cores : frozenset of int, optional
            Threads that ran on others last are left out.
        by_session : str, optional
            The group in which the kernel gives each session a share.
        """
        found: dict[str, list[Rival]] = {}
        sessions: dict[int, float] = {}
        for thread, one in list(self._followed.items()):
            times = self._times(thread)
            if times is None:
                del self._followed[thread]
                continue
            used = (times.used_s - one.used_s) / span_s
            one.used_s = times.used_s
            one.idle = one.idle + 1 if used < _IDLE else 0
            if one.idle >= _PATIENCE:
                del self._followed[thread]
            elif used < _IDLE or (cores is not None and times.core not in cores):
                continue
            elif one.place == by_session:
                sessions[times.session] = sessions.get(times.session, 0.0) + used
            else:
                found.setdefault(one.place, []).append(Rival(times.weight, used))
        if by_session is not None and sessions:
            found[by_session] = [Rival(1.0, used) for used in sessions.values()]
        return found

    def search(self, now_s: float) -> None:
        """Find threads that work; all are looked at where the cost allows it.

        New threads are always looked at. What is found counts from the next sample on.
        """
        before, whole = self._cost(), now_s >= self._next_s
        listed = self._listed()
        known: dict[int, float] = {}
        for place, threads in listed.items():
            for thread in threads:
                if thread in self._own or not (whole or thread not in self._known):
                    continue
                times = self._times(thread)
                if times is None:
                    continue
                known[thread] = times.used_s
                if times.used_s > self._known.get(thread, 0.0):
                    one = _Followed(place, times.used_s)
                    self._followed.setdefault(thread, one)
        if whole:
            self._known = known
            self._next_s = now_s + (self._cost() - before) / SEARCH_COST
        else:
            self._known |= known

    def _times(self, thread: int) -> ThreadTimes | None:
        try:
            text = read(f"{self._proc}/{thread}/task/{thread}/stat")
            return thread_times(text, self._ticks)
        except (OSError, ValueError, IndexError):
            return None  # it has ended
