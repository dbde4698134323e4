"""What competes with a new process, on each level of the tree of groups."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace

from skelgen.monitor import tree as trees
from skelgen.monitor.sharing import Level, Rival
from skelgen.monitor.threads import Threads
from skelgen.monitor.tree import Tree

#: Less is not worth to be looked at [cores].
_LEAST = 0.002
#: More than this must be explained by threads [cores].
UNEXPLAINED = 0.03


class Rivals:
    """Follows what groups and threads use from one sample to the next.

    Parameters
    ----------
    tree : Tree
    proc : str
        Where the kernel shows threads.
    ticks_per_s : float
    """

    def __init__(
        self, tree: Tree, *, proc: str = "/proc", ticks_per_s: float = 100.0
    ) -> None:
        self._tree = tree
        self._proc = proc
        self._used_s: dict[str, float] = {}
        self._autogroup = _autogroup(proc)
        self._threads = Threads(
            self._listed,
            proc=proc,
            ticks_per_s=ticks_per_s,
            own=frozenset([os.getpid()]),
        )

    def levels(
        self,
        span_s: float,
        cores: frozenset[int],
        busy: float,
        own: float,
        now_s: float,
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
        """
        folders, rooted = self._tree.folders or ("",), self._tree.whole
        sessions = folders[0] if rooted and self._autogroup else None
        threads = self._threads.measure(span_s, cores, by_session=sessions)
        used = [self._used(f, span_s, cores) for f in self._mirrored(folders)]
        found: list[list[Rival]] = []
        unexplained = 0.0
        for at, folder in enumerate(folders):
            rivals = list(threads.get(folder, ()))
            inside = folders[at + 1] if at + 1 < len(folders) else ""
            for child, had in self._groups(folder, inside, span_s, cores, threads):
                if had >= _LEAST:
                    weight = trees.weight_of(child, self._tree.version)
                    rivals.append(Rival(weight, had))
            whole, below = used[at], used[at + 1] if inside else own
            if (at or not rooted) and whole is not None and below is not None:
                more = whole - below - math.fsum(one.used for one in rivals)
                rivals += _unknown(more)
                unexplained = max(unexplained, more)
            found.append(rivals)
        known = own + math.fsum(one.used for level in found for one in level)
        if max(unexplained, busy - known) > UNEXPLAINED:
            self._threads.search(now_s)
        if not rooted:
            found.insert(0, [])
        found[0] += _unknown(busy - known)
        around = [] if rooted else [Level()]
        limits = around + [self._limits(folder) for folder in folders]
        return tuple(
            replace(limit, rivals=tuple(rivals))
            for limit, rivals in zip(limits, _fitted(found, busy), strict=True)
        )

    def _limits(self, folder: str) -> Level:
        version = self._tree.version
        return Level(
            (), trees.weight_of(folder, version), trees.quota_of(folder, version)
        )

    def _mirrored(self, folders: tuple[str, ...]) -> list[str | None]:
        """Return where the use of each of our groups is counted."""
        usage = self._tree.usage
        return [usage[at] if at < len(usage) else None for at in range(len(folders))]

    def _groups(
        self,
        folder: str,
        inside: str,
        span_s: float,
        cores: frozenset[int],
        threads: dict[str, list[Rival]],
    ) -> Iterator[tuple[str, float]]:
        """Yield the groups that compete in a group, and what they used [cores]."""
        for child in self._competing(folder):
            if child == inside:
                continue
            place = self._usage_of(child)
            had = self._used(place, span_s, cores)
            if had is None:
                had = math.fsum(one.used for one in threads.get(child, ()))
            elif self._tree.version == 2 and had >= _LEAST:
                allowed = trees.cores_of(child, 2)
                if allowed:
                    had *= len(allowed & cores) / len(allowed)
            yield child, had

    def _competing(self, folder: str) -> list[str]:
        """Return the groups in a group that have a share of their own."""
        found = trees.children(folder) if folder else []
        if self._tree.version == 2:
            found = [f for f in found if os.path.exists(f"{f}/cpu.weight")]  # noqa: PTH110
        return found

    def _usage_of(self, folder: str) -> str | None:
        """Return where the use of a group is counted, None where nobody does."""
        folders, usage = self._tree.folders, self._tree.usage
        if not usage:
            return None
        return usage[0] + folder.removeprefix(folders[0])

    def _used(
        self, place: str | None, span_s: float, cores: frozenset[int]
    ) -> float | None:
        """Return what a group used since the last sample [cores]."""
        if place is None:
            return None
        try:
            now = trees.used_s(place, self._tree.version, cores)
        except (OSError, ValueError):
            return None
        before = self._used_s.get(place, now)
        self._used_s[place] = now
        return max(0.0, now - before) / span_s

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


def _autogroup(proc: str) -> bool:
    """Say whether the kernel gives each session a share of its own."""
    try:
        return trees.read(f"{proc}/sys/kernel/sched_autogroup_enabled").strip() == "1"
    except OSError:
        return False


def _unknown(used: float) -> list[Rival]:
    """Return the fewest threads that can have used so many cores."""
    if used < _LEAST:
        return []
    count = math.ceil(used - UNEXPLAINED) or 1
    return [Rival(1.0, used / count)] * count


def _fitted(found: list[list[Rival]], busy: float) -> list[list[Rival]]:
    """Make all together use no more than the cores were busy.

    What groups used counts on all cores, not only on ours.
    """
    known = math.fsum(one.used for level in found for one in level)
    if known <= busy * 1.02 + _LEAST:
        return found
    part = busy / known
    return [[Rival(one.weight, one.used * part) for one in level] for level in found]
