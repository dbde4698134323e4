"""Take a sample of this node: what happened since the one before it."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from skelgen.monitor import cgroups as trees
from skelgen.monitor import counters
from skelgen.monitor.competitors import Rivals
from skelgen.monitor.correction import Correction
from skelgen.monitor.counters import CoreTimes
from skelgen.monitor.sharing import SharingFacts, available, fullest
from skelgen.monitor.spin import Spin, spin
from skelgen.monitor.threads import nice_weight


@dataclass(frozen=True, slots=True)
class Sample:
    """What a node was like over one interval; nan where nothing says it.

    Attributes
    ----------
    cpu : float
        Share of a core that a new process of this one's priority would get [0 to 1].
    passive : float
        The same before spins corrected it [0 to 1].
    cpu_left : float
        The same had the watched applications not been there [0 to 1].
    run_queue : float
        Threads that ran or waited for a core, on average.
    pressure : float
        Part of the time in which some thread waited for a core [0 to 1].
    steal : float
        Part of the time that the hypervisor took from our cores [0 to 1].
    memory_bytes : float
        Memory that new programs can have [bytes].
    traffic_bytes_per_s : float
        Between cores and memory [bytes/s].
    received, sent : tuple of (str, float)
        By interface [bytes/s].
    """

    cpu: float
    passive: float
    run_queue: float = math.nan
    pressure: float = math.nan
    steal: float = math.nan
    memory_bytes: float = math.nan
    traffic_bytes_per_s: float = math.nan
    received: tuple[tuple[str, float], ...] = ()
    sent: tuple[tuple[str, float], ...] = ()
    cpu_left: float = math.nan


@dataclass(slots=True)
class _Reading:
    """Counters at one time."""

    at_s: float
    own_s: float
    cores: dict[int, CoreTimes] = field(default_factory=dict)
    queued_s: dict[int, float] = field(default_factory=dict)
    waited_s: float = math.nan
    traffic: float = math.nan
    interfaces: dict[str, tuple[int, int]] = field(default_factory=dict)


class Sensing(Protocol):
    """What takes samples; see `Sensor`."""

    @property
    def must_look(self) -> bool:
        """Return whether the kernel does not add up who runs."""

    def look(self) -> None:
        """Count who runs now."""

    def sample(self) -> Sample:
        """Return what was the case since the last sample."""


def _stolen(times: Iterable[CoreTimes]) -> float:
    """Return the share of time that the hypervisor gave to others [0 to 1]."""
    every = [*times]
    whole = math.fsum(t.busy_s + t.idle_s + t.steal_s for t in every)
    stolen = math.fsum(t.steal_s for t in every)
    return stolen / whole if whole > 0 else math.nan


class Sensor:
    """What is known of this node, from one sample to the next.

    Parameters
    ----------
    root : str
        What stands before all paths; for samples of other machines.
    clock, own : callable
        Return a time that does not jump, and the CPU time of this process [s].
    spins : callable, optional
        Asks for a core; None: no spins.
    affinity : callable
        Returns the cores that a thread may use.
    watched : callable, optional
        Returns watched processes, and the CPU time of each since the last call [s].
    """

    def __init__(
        self,
        root: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        own: Callable[[], float] = time.process_time,
        spins: Callable[[], Spin] | None = spin,
        affinity: Callable[[int], set[int]] = os.sched_getaffinity,
        watched: Callable[[], Sequence[tuple[int, float]]] = tuple,
    ) -> None:
        self._watched = watched
        self._root, self._clock, self._own, self._spin = root, clock, own, spins
        self._proc = f"{root}/proc"
        self._ticks = float(os.sysconf("SC_CLK_TCK"))
        cgroups, mounts = (
            trees.read(f"{self._proc}/self/{name}") for name in ("cgroup", "mountinfo")
        )
        self._mounts = mounts
        self._tree = trees.find_tree(cgroups, mounts, root=root)
        self._rivals = Rivals(
            self._tree, proc=self._proc, ticks_per_s=self._ticks, affinity=affinity
        )
        self._correction = Correction(clock())
        self._looks: list[int] = []
        self._named = _counted_interfaces(root)
        self._before = self._read()
        cores = self._allowed(self._before)
        # As if all were busy: then threads are looked at.
        self._rivals.levels(1.0, cores, float(len(cores)), 0.0, clock())

    @property
    def must_look(self) -> bool:
        """Return whether the kernel does not add up who runs."""
        return not self._before.queued_s

    def look(self) -> None:
        """Count who runs now."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = trees.read(f"{self._proc}/loadavg")
            self._looks.append(max(0, counters.runnable(text) - 1))

    def sample(self) -> Sample:
        """Return what was the case since the last sample."""
        if self.must_look:
            self.look()
        before, now = self._before, self._read()
        self._before = now
        span_s = max(now.at_s - before.at_s, 1e-3)
        cores = self._allowed(now)
        times = {
            core: now.cores[core].since(before.cores[core])
            for core in cores
            if core in now.cores and core in before.cores
        }
        watched = self._watched()
        queue = self._queue(before, now, cores, span_s)
        whole_node = cores >= now.cores.keys() or bool(now.queued_s)
        passive, left = self._passive(
            times,
            span_s,
            now.own_s - before.own_s,
            watched,
            queue if whole_node else math.nan,
        )
        self._learn(passive, now.at_s)
        received, sent = self._network(before, now, span_s)
        return Sample(
            self._correction.corrected(passive),
            passive,
            queue,
            min((now.waited_s - before.waited_s) / span_s, 1.0),
            _stolen(times.values()),
            self._memory(),
            (now.traffic - before.traffic) / span_s,
            received,
            sent,
            left,
        )

    def _learn(self, passive: float, at_s: float) -> None:
        """Ask for a core where that tells more than what was counted."""
        if (
            self._spin is not None
            and math.isfinite(passive)
            and self._correction.wants(passive, at_s)
        ):
            self._correction.learn(passive, self._spin())

    def _passive(
        self,
        times: dict[int, CoreTimes],
        span_s: float,
        own_s: float,
        watched: Sequence[tuple[int, float]],
        queue: float,
    ) -> tuple[float, float]:
        """Return what groups, weights, limits and use say, and without the watched."""
        if not times:
            return math.nan, math.nan
        busy = math.fsum(t.busy_s - t.interrupts_s for t in times.values()) / span_s
        lost = math.fsum(t.interrupts_s for t in times.values()) / span_s
        stolen = math.fsum(t.steal_s for t in times.values()) / span_s
        most = fullest(len(times), busy + lost, lost, stolen)
        levels = self._rivals.levels(
            span_s, frozenset(times), busy, own_s / span_s, self._clock(), queue
        )
        weight = nice_weight(os.getpriority(os.PRIO_PROCESS, 0))
        shares = {core: (t.busy_s + t.steal_s) / span_s for core, t in times.items()}
        crowded = self._rivals.crowded(shares)
        facts = SharingFacts(len(times), levels, weight, most, crowded)
        if not watched:
            return available(facts), math.nan
        used = [(self._group_of(pid), one_s / span_s) for pid, one_s in watched]
        threads = trees.threads_of(self._proc, [pid for pid, _ in watched])
        levels = self._rivals.levels_without(used, threads)
        crowded = self._rivals.crowded(shares, threads)
        left = SharingFacts(len(times), levels, weight, most, crowded)
        return available(facts), available(left)

    def _queue(
        self, before: _Reading, now: _Reading, cores: frozenset[int], span_s: float
    ) -> float:
        """Return the threads that ran or waited: for our cores, or all where seen."""
        looks, self._looks = self._looks, []
        if now.queued_s:
            queued = (
                now.queued_s[core] - before.queued_s.get(core, math.nan)
                for core in cores
                if core in now.queued_s
            )
            return math.fsum(queued) / span_s
        return math.fsum(looks) / len(looks) if looks else math.nan

    def _group_of(self, pid: int) -> str:
        """Return the group of a process; ours where it has ended meanwhile."""
        try:
            cgroups = trees.read(f"{self._proc}/{pid}/cgroup")
            return trees.find_tree(cgroups, self._mounts, root=self._root).leaf
        except (OSError, ValueError):
            return self._tree.leaf

    def _allowed(self, now: _Reading) -> frozenset[int]:
        """Return the cores that a new process may run on."""
        for folder in reversed(self._tree.cpuset):
            if found := trees.cores_of(folder, self._tree.version):
                return found
        return (
            frozenset(os.sched_getaffinity(0))
            if not self._root
            else frozenset(now.cores)
        )

    def _read(self) -> _Reading:
        """Read all counters; what is not there stays out."""
        reading = _Reading(self._clock(), self._own())
        wrong = (OSError, ValueError, IndexError)
        with contextlib.suppress(*wrong):
            text = trees.read(f"{self._proc}/stat")
            reading.cores = counters.core_times(text, self._ticks)
        with contextlib.suppress(*wrong):
            reading.queued_s = counters.queued_s(trees.read(f"{self._proc}/schedstat"))
        with contextlib.suppress(*wrong):
            text = trees.read(f"{self._proc}/pressure/cpu")
            reading.waited_s = counters.waited_s(text)
        with contextlib.suppress(*wrong):
            text = trees.read(f"{self._proc}/net/dev")
            reading.interfaces = counters.interface_bytes(text)
        with contextlib.suppress(*wrong):
            reading.traffic = _traffic_bytes(f"{self._root}/sys/fs/resctrl/mon_data")
        return reading

    def _memory(self) -> float:
        with contextlib.suppress(OSError, ValueError, IndexError):
            free = counters.memory_bytes(trees.read(f"{self._proc}/meminfo"))
            return min(free, trees.memory_left(self._tree.memory, self._tree.version))
        return math.nan

    def _network(
        self, before: _Reading, now: _Reading, span_s: float
    ) -> tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]:
        """Return bytes per second of each interface, received and sent."""
        names = [n for n in now.interfaces if n in before.interfaces]
        names = [n for n in names if n in self._named] if self._named else names
        chosen = sorted(name for name in names if name != "lo")
        received, sent = (
            tuple(
                (n, max(0, now.interfaces[n][at] - before.interfaces[n][at]) / span_s)
                for n in chosen
            )
            for at in (0, 1)
        )
        return received, sent


def _counted_interfaces(root: str) -> frozenset[str]:
    """Return the interfaces with a device; bridges count the same bytes once more."""
    folder = f"{root}/sys/class/net"
    with contextlib.suppress(OSError):
        names = os.listdir(folder)  # noqa: PTH208
        return frozenset(
            n
            for n in names
            if os.path.exists(f"{folder}/{n}/device")  # noqa: PTH110
        )
    return frozenset()


def _traffic_bytes(folder: str) -> float:
    """Return the bytes that went to and from memory, where the processor counts them.

    Raises
    ------
    OSError
        When it does not, or its counters are not mounted.
    """
    total = 0
    for name in os.listdir(folder):  # noqa: PTH208
        if name.startswith("mon_L3_"):
            total += int(trees.read(f"{folder}/{name}/mbm_total_bytes"))
    return float(total)
