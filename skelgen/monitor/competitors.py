"""What competes with a new process, on each level of the tree of groups."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from skelgen.monitor import cgroups as trees
from skelgen.monitor.cgroups import Tree
from skelgen.monitor.sharing import Level, Rival, fewest
from skelgen.monitor.threads import Competitor, Found, Threads, joined
from skelgen.monitor.thresholds import LEAST_COMPETITOR, LEAST_UNEXPLAINED


@dataclass(frozen=True, slots=True)
class _Last:
    """What the last sample found."""

    cgroups: dict[str, Competitor | None]
    cores: frozenset[int]
    busy: float
    own: float
    unseen: float  # threads that ran or waited and are not known


class Rivals:
    """Follows what groups and threads use from one sample to the next.

    Parameters
    ----------
    tree : Tree
    proc : str
        Where the kernel shows threads.
    ticks_per_s : float
    affinity : callable
        Returns the cores that a thread may use.
    """

    def __init__(
        self,
        tree: Tree,
        *,
        proc: str = "/proc",
        ticks_per_s: float = 100.0,
        affinity: Callable[[int], set[int]] = os.sched_getaffinity,
    ) -> None:
        self._tree, self._proc = tree, proc
        self._folders = tree.folders or ("",)
        self._used_s: dict[str, tuple[float, float]] = {}
        self._last: _Last | None = None
        self._threads = Threads(
            self._listed,
            proc=proc,
            ticks_per_s=ticks_per_s,
            own=frozenset([os.getpid()]),
            by_session=self._folders[0] if tree.whole and _autogroup(proc) else None,
            affinity=affinity,
        )

    def crowded(self, busy: Mapping[int, float], but: Set[int] = frozenset()) -> float:
        """Return for which part of the last sample each core had a bound thread.

        Parameters
        ----------
        busy : mapping of int to float
            Part of the time in which each core was busy [0 to 1].
        but : set of int
            Threads that do not count.
        """
        return self._threads.crowded(busy, but)

    def levels(
        self,
        span_s: float,
        cores: frozenset[int],
        busy: float,
        own: float,
        now_s: float,
        queue: float = math.nan,
    ) -> tuple[Level, ...]:
        """Return the levels from the root to our group, with what competes there.

        Parameters
        ----------
        span_s : float
            Time since the last call [s].
        cores : frozenset of int
            Those that a new process may run on.
        busy : float
            What all processes used of these [cores].
        own : float
            What this process used [cores].
        now_s : float
            Of a clock that does not jump [s].
        queue : float
            Threads that ran or waited for these cores, on average; nan: not known.
        """
        cgroups = self._cgroups(span_s, cores)
        threads = self._threads.measure(span_s, cores)
        last = _Last(cgroups, cores, busy, own, self._unseen(queue, busy, cgroups))
        found, unexplained = self._found(last, threads)
        if unexplained > LEAST_UNEXPLAINED:
            more = self._threads.search(now_s, span_s, cores)
            for place, seen in more.items():
                threads.setdefault(place, []).extend(seen)
            last = replace(last, unseen=self._unseen(queue, busy, cgroups))
            found, _ = self._found(last, threads)
        self._last = last
        return self._levels(found, busy - own)

    def levels_without(
        self, used: Sequence[tuple[str, float]], threads: Set[int]
    ) -> tuple[Level, ...]:
        """Return what `levels` would have returned had some processes not been there.

        Parameters
        ----------
        used : sequence of (str, float)
            Of each its group, and what it used [cores].
        threads : set of int
            Those of these processes.
        """
        assert self._last is not None
        last, away = self._last, math.fsum(one for _, one in used)
        cgroups = {
            folder: seen and _less(folder, seen, used)
            for folder, seen in last.cgroups.items()
        }
        busy = max(last.busy - away, last.own)
        left = self._threads.without(threads)
        found, _ = self._found(replace(last, cgroups=cgroups, busy=busy), left)
        return self._levels(found, busy - last.own)

    def _levels(
        self, found: Sequence[Sequence[Competitor]], busy: float
    ) -> tuple[Level, ...]:
        limits = [] if self._tree.whole else [Level()]
        limits += [self._limits(folder) for folder in self._folders]
        return tuple(
            replace(limit, rivals=rivals)
            for limit, rivals in zip(limits, _fitted(found, busy), strict=True)
        )

    def _found(
        self, last: _Last, threads: Found
    ) -> tuple[list[list[Competitor]], float]:
        """Return what competes on each level, and how much nobody explains [cores]."""
        found: list[list[Competitor]] = []
        hidden: list[Competitor] = []  # what did the rest on each level
        for at, folder in enumerate(self._folders):
            inside = self._folders[at + 1] if at + 1 < len(self._folders) else ""
            seen = list(threads.get(folder, ()))
            for child in self._competing(folder, but=inside):
                one = last.cgroups.get(child)
                if one is None and child in threads:
                    one = joined(threads[child], self._weight(child))
                seen += (
                    [one] if one is not None and one.used >= LEAST_COMPETITOR else []
                )
            found.append(seen)
            rest, part = 0.0, 1.0
            whole = last.cgroups.get(folder)
            below = last.cgroups.get(inside, Competitor(1.0, last.own))
            if (at or not self._tree.whole) and whole is not None and below is not None:
                rest = whole.used - below.used - math.fsum(one.used for one in seen)
                part = whole.part
            hidden.append(Competitor(1.0, rest, part, part >= 1))
        if not self._tree.whole:
            found.insert(0, [])
            hidden.insert(0, Competitor(1.0, 0.0))
        # What may run elsewhere, too, may have done all of it here.
        known = [*(s for level in found for s in level), *hidden]
        known_here = (
            s.ours if s.sure else s.used for s in known if s.used >= LEAST_COMPETITOR
        )
        rest = last.busy - last.own - math.fsum(known_here)
        hidden[0] = Competitor(1.0, rest)  # nobody counts what the outermost used
        for level, more in zip(found, _split(hidden, last.unseen), strict=True):
            level.extend(more)
        return found, max(one.used for one in hidden)

    def _unseen(
        self, queue: float, busy: float, cgroups: Mapping[str, Competitor | None]
    ) -> float:
        """Return how many threads ran or waited that are not known, on average.

        Those do not count that are in groups whose use is counted: how many of them
        wait is not known, nor is what the neighbours of a container are.
        """
        counted = any(
            one is not None and one.used >= LEAST_COMPETITOR
            for folder, one in cgroups.items()
            if folder not in self._folders
        )
        if counted or not self._tree.whole or not busy > LEAST_COMPETITOR:
            return math.nan
        return queue - self._threads.present(max(1.0, queue / busy))

    def _cgroups(
        self, span_s: float, cores: frozenset[int]
    ) -> dict[str, Competitor | None]:
        """Return what groups used since the last sample; None: nobody counts it."""
        folders = self._folders
        found = {folder: self._cgroup(folder, span_s, cores) for folder in folders}
        for at, folder in enumerate(folders):
            inside = folders[at + 1] if at + 1 < len(folders) else ""
            for child in self._competing(folder, but=inside):
                found[child] = self._cgroup(child, span_s, cores)
        return found

    def _cgroup(
        self, folder: str, span_s: float, cores: frozenset[int]
    ) -> Competitor | None:
        if not self._tree.usage:
            return None
        place = self._tree.usage[0] + folder.removeprefix(self._folders[0])
        try:
            now = trees.used_s(place, self._tree.version, cores)
        except (OSError, ValueError):
            return None
        before = self._used_s.get(place, now)
        self._used_s[place] = now
        used = max(0.0, now[0] - before[0]) / span_s
        if used < LEAST_COMPETITOR:
            return Competitor(1.0, used)  # nobody asks for more
        if not math.isnan(now[1]):
            part = min(max(0.0, now[1] - before[1]) / span_s / used, 1.0)
            return Competitor(self._weight(folder), used, part)
        allowed = trees.cores_of(folder, 2) or cores
        part = len(allowed & cores) / len(allowed)
        return Competitor(self._weight(folder), used, part, part in (0.0, 1.0))

    def _weight(self, folder: str) -> float:
        return trees.weight_of(folder, self._tree.version)

    def _limits(self, folder: str) -> Level:
        quota = trees.quota_of(folder, self._tree.version)
        return Level((), self._weight(folder), quota)

    def _competing(self, folder: str, but: str = "") -> list[str]:
        """Return the groups in a group, but one, that have a share of their own."""
        found = [one for one in trees.children(folder) if one != but] if folder else []
        if self._tree.version == 2:
            found = [f for f in found if os.path.exists(f"{f}/cpu.weight")]  # noqa: PTH110
        return found

    def _listed(self) -> dict[str, list[int]]:
        """Return threads that compete alone, or in groups whose use nobody counts."""
        found: dict[str, list[int]] = {}
        folders = self._tree.folders
        if not folders:
            return {"": trees.processes(self._proc)}
        for at, folder in enumerate(folders):
            competing = set(self._competing(folder))
            found[folder] = trees.threads(folder)
            for child in trees.children(folder):
                if child in competing:
                    continue
                found[folder] += trees.threads_below(child)
            if not self._tree.usage:
                for child in competing - set(folders[at + 1 : at + 2]):
                    found[child] = trees.threads_below(child)
        return found


def _less(
    folder: str, seen: Competitor, used: Sequence[tuple[str, float]]
) -> Competitor:
    """Return a group without what processes in it used."""
    away = math.fsum(
        one for cgroup, one in used if f"{cgroup}/".startswith(f"{folder}/")
    )
    return replace(seen, used=max(0.0, seen.used - away))


def _autogroup(proc: str) -> bool:
    """Say whether the kernel gives each session a share of its own."""
    try:
        return trees.read(f"{proc}/sys/kernel/sched_autogroup_enabled").strip() == "1"
    except OSError:
        return False


def _split(hidden: Sequence[Competitor], unseen: float) -> list[list[Competitor]]:
    """Return the threads that did what nobody explains, on each level.

    They are the fewest that can have done it, or those that ran or waited and are not
    known: many that live for moments take turns.

    Parameters
    ----------
    hidden : sequence of Competitor
        All of a level as one.
    unseen : float
        Threads that are not known on all levels; nan: nobody knows.
    """
    total = math.fsum(one.used for one in hidden if one.used >= LEAST_COMPETITOR)
    found: list[list[Competitor]] = []
    for one in hidden:
        count = fewest(one.used) if one.used >= LEAST_COMPETITOR else 0
        if count and not math.isnan(unseen):
            count = max(count, round(unseen * one.used / total))
        found.append([replace(one, used=one.used / count)] * count if count else [])
    return found


def _fitted(
    found: Sequence[Sequence[Competitor]], busy: float
) -> list[tuple[Rival, ...]]:
    """Return all with what they used of our cores, together as much as was used.

    What may have run elsewhere as well did so as far as there was no room here.
    """
    sure = math.fsum(s.ours for level in found for s in level if s.sure)
    perhaps = math.fsum(s.ours for level in found for s in level if not s.sure)
    scale = max(0.0, busy - sure) / perhaps if perhaps else 1.0

    def part(seen: Competitor) -> float:
        return seen.part if seen.sure else min(1.0, seen.part * scale)

    return [
        tuple(
            Rival(s.weight * part(s), s.used * part(s))
            for s in level
            if s.used * part(s) >= LEAST_COMPETITOR
        )
        for level in found
    ]
