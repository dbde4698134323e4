"""A run of a watched application on this node, while it goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from skelgen.monitor.launches import WatchedLaunch
from skelgen.monitor.process import Figures, Process, status_of
from skelgen.monitor.sightings import UNSEEN, Sighting

#: Processes that are so many steps below another are not added to it.
_DEPTH = 50


@dataclass(slots=True)
class Member:
    """A process of a run.

    Attributes
    ----------
    pid, parent : int
    start : int
        [ticks since the machine was started]
    figures : Figures
    end_s : float
        When it ended [s since the machine was started]; nan as long as it runs.
    code : int or None
        As ``wait`` says it; None where nobody knows it.
    looked : bool
        Whether it was looked at when it had ended.
    inner_cpu_s : float
        CPU time of processes below it that have ended [s].
    process : Process or None
        As long as it runs.
    """

    pid: int
    parent: int
    start: int
    figures: Figures = field(default_factory=Figures)
    end_s: float = math.nan
    code: int | None = None
    looked: bool = False
    inner_cpu_s: float = 0.0
    process: Process | None = None


class Keeper:
    """The process of a launcher that started ranks and collects them.

    What it has waited for is added up in it: that tells what ranks used that were
    collected before anybody could look at them.

    Parameters
    ----------
    process : Process
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        process.look()
        self._before, self._after = process.figures, process.figures
        self.covers = False

    def look(self) -> None:
        """Look at it after a rank was collected."""
        self.covers = self._process.look()
        self._after = self._process.figures

    def costs(self) -> dict[str, float]:
        """Return what it has waited for."""
        before, after = self._before, self._after
        if not self.covers:
            return {}
        return {
            "cpu_s": (after.all_cpu_s - after.cpu_s)
            - (before.all_cpu_s - before.cpu_s),
            "read_bytes": after.read_bytes - before.read_bytes,
            "written_bytes": after.written_bytes - before.written_bytes,
        }

    def close(self) -> None:
        """Close its files."""
        self._process.close()


@dataclass(slots=True)
class Followed:
    """A run of a watched application on this node.

    Attributes
    ----------
    identity : str
        Of this part of the run; no two share it.
    application : str
    launch : WatchedLaunch
        Of its first process.
    began : float
        Seconds since 1970 in UTC [s].
    began_s : float
        The same since the machine was started [s].
    program : str
    ranks : set of int
    members : dict of int to Member
        Those that run, and those that have ended and were nobody's children here.
    count : int
        So many processes were here.
    memory_bytes : int
        Most that those that ran at the same time had in memory, of each its peak.
    cgroup : str
        The control group that is watched; empty for a name.
    seen_s : float
        When it was looked at last [s since the machine was started].
    keeper : Keeper or None
        Collects its processes.
    unseen : bool
        Whether it ended while no monitor ran.
    """

    identity: str
    application: str
    launch: WatchedLaunch
    began: float
    began_s: float
    program: str = ""
    ranks: set[int] = field(default_factory=set)
    members: dict[int, Member] = field(default_factory=dict)
    count: int = 0
    memory_bytes: int = 0
    cgroup: str = ""
    seen_s: float = 0.0
    keeper: Keeper | None = None
    unseen: bool = False

    @property
    def running(self) -> bool:
        """Return whether a process of it runs."""
        return any(one.process is not None for one in self.members.values())

    def add(self, one: Member) -> None:
        """Add a process."""
        if (before := self.members.pop(one.pid, None)) is not None:
            self.members[-before.start - 1] = before  # its number is used again
        self.members[one.pid] = one
        self.count += 1

    def ended(self, one: Member) -> None:
        """Let go of a process that has ended, if one above it answers for it."""
        if (above := self._above(one)) is not None:
            above.inner_cpu_s += self._cpu_s(one)
            del self.members[one.pid]

    def weigh(self) -> None:
        """Note how much memory its processes have."""
        running = [one for one in self.members.values() if one.process is not None]
        now = sum(one.figures.memory_bytes for one in running)
        self.memory_bytes = max(self.memory_bytes, now)

    def sighting(self, host: str) -> Sighting:
        """Return what the node ``host`` saw of it until now, or until its end."""
        ends = [m.end_s for m in self.members.values() if not math.isnan(m.end_s)]
        end_s = self.seen_s if self.running or self.unseen or not ends else max(ends)
        tops = self._tops()
        return Sighting(
            identity=self.identity,
            application=self.application,
            host=host,
            began=round(self.began, 3),
            time_s=round(max(end_s - self.began_s, 1e-3), 4),
            status=UNSEEN if self.unseen else self._status(tops),
            key=self.launch.key,
            size=self.launch.size,
            ranks=tuple(sorted(self.ranks)),
            processes=self.count,
            costs=self._costs(tops),
            complete=not self.unseen
            and (all(one.looked for one in tops) or self._covered),
            inputs=self.launch.inputs,
            jobs=dict(self.launch.jobs),
            program=self.program,
        )

    @property
    def _covered(self) -> bool:
        return self.keeper is not None and self.keeper.covers

    def _tops(self) -> list[Member]:
        """Return the processes whose parents are not followed, the first ends first."""
        found = [one for one in self.members.values() if self._above(one) is None]
        return sorted(found, key=lambda one: (math.isnan(one.end_s), one.end_s))

    def _above(self, one: Member) -> Member | None:
        above = self.members.get(one.parent)
        if above is None or above is one or above.start > one.start:
            return None
        return above if above.process is not None else None

    def _status(self, tops: list[Member]) -> str:
        """Return how it ended: what failed first is the cause."""
        failed = [one.code for one in tops if one.code]
        unknown = any(one.code is None for one in tops)
        return status_of(failed[0] if failed else None if unknown else 0)

    def _cpu_s(self, one: Member, depth: int = 0) -> float:
        """Return what a process and those below it used [s].

        A process that waits for a child takes over what that used. Either account may
        lack the last moments: the larger one counts.
        """
        inner = [m for m in self.members.values() if self._above(m) is one]
        known = one.inner_cpu_s + math.fsum(
            self._cpu_s(each, depth + 1) for each in inner if depth < _DEPTH
        )
        return max(one.figures.all_cpu_s, one.figures.cpu_s + known)

    def _costs(self, tops: list[Member]) -> dict[str, float]:
        kept = {} if self.keeper is None else self.keeper.costs()
        known = {
            "cpu_s": math.fsum(map(self._cpu_s, tops)),
            "memory_bytes": float(self.memory_bytes),
            "read_bytes": float(sum(one.figures.read_bytes for one in tops)),
            "written_bytes": float(sum(one.figures.written_bytes for one in tops)),
        }
        return {n: round(max(v, kept.get(n, 0.0)), 2) for n, v in known.items()}

    def entry(self, boot: str) -> dict[str, Any]:
        """Return all that a monitor needs to go on with it, as JSON."""
        return {
            "boot": boot,
            "identity": self.identity,
            "application": self.application,
            "launch": asdict(self.launch),
            "began": self.began,
            "began_s": self.began_s,
            "program": self.program,
            "ranks": sorted(self.ranks),
            "group": self.cgroup,
            "count": self.count,
            "memory_bytes": self.memory_bytes,
            "seen_s": self.seen_s,
            "members": [
                {
                    "pid": one.pid,
                    "parent": one.parent,
                    "start": one.start,
                    "figures": asdict(one.figures),
                    "end_s": one.end_s,
                    "code": one.code,
                    "looked": one.looked,
                    "inner_cpu_s": one.inner_cpu_s,
                }
                for one in self.members.values()
            ],
        }


def followed_of(entry: Mapping[str, Any]) -> Followed:
    """Read what `Followed.entry` returned.

    Raises
    ------
    KeyError, TypeError, ValueError
        When it is something else.
    """
    launch = dict(entry["launch"])
    launch["jobs"] = tuple((str(n), str(v)) for n, v in launch["jobs"])
    members = [
        Member(
            int(one["pid"]),
            int(one["parent"]),
            int(one["start"]),
            Figures(**one["figures"]),
            math.nan if one["end_s"] is None else float(one["end_s"]),
            None if one["code"] is None else int(one["code"]),
            bool(one["looked"]),
            float(one["inner_cpu_s"]),
        )
        for one in entry["members"]
    ]
    if not members:
        raise ValueError("a run without processes")
    return Followed(
        str(entry["identity"]),
        str(entry["application"]),
        WatchedLaunch(**launch),
        float(entry["began"]),
        float(entry["began_s"]),
        str(entry["program"]),
        set(map(int, entry["ranks"])),
        {one.pid: one for one in members},
        int(entry["count"]),
        int(entry["memory_bytes"]),
        str(entry["group"]),
        float(entry["seen_s"]),
    )
