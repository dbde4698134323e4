"""Watch applications: what their processes used is written down when they end.

The kernel wakes the monitor at the moment when a process ends, so times are exact.
What it had used is read then; where its parent was faster to collect it, what it had
used at the last look counts.

References
----------
WRF on multicore systems, 2010, III: the daemons *amon*, which watches applications on
each node, and *aprof*, which keeps what they took.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.monitor.cgroups import read
from skelgen.monitor.launches import INPUTS, launch_of
from skelgen.monitor.process import Process, stat_of
from skelgen.monitor.process_search import (
    USUAL_S,
    Finder,
    Watched,
    variables_of,
    words_of,
)
from skelgen.monitor.sightings import (
    KEPT_S,
    Sighting,
    add_sighting,
    are_waiting,
    ended_sightings,
    forget_sightings,
    read_open,
    write_open,
)
from skelgen.monitor.thresholds import LOOKING_COST
from skelgen.monitor.watched_run import Followed, Keeper, Member, followed_of

#: How often what goes on is kept [s].
_KEEP_S = 60.0


def since_boot_s() -> float:
    """Return the time since the machine was started, sleep included [s]."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Watcher:
    """Watches applications on this node.

    Parameters
    ----------
    host : str
    folder : Path
        Of the host.
    watched : Watched
    interval_s : float
        Between samples [s].
    proc : str
        Where the kernel shows processes.
    wall, boot_s : callable
        Return seconds since 1970 in UTC, and since the machine was started [s].
    cost : callable
        Returns the CPU time that this process has had [s].

    Attributes
    ----------
    ended : int
        So many sightings of runs have been written.
    """

    def __init__(
        self,
        host: str,
        folder: Path,
        watched: Watched,
        interval_s: float = USUAL_S,
        *,
        proc: str = "/proc",
        wall: Callable[[], float] = time.time,
        boot_s: Callable[[], float] = since_boot_s,
        cost: Callable[[], float] = time.process_time,
    ) -> None:
        self._host, self._folder, self._proc = host, folder, proc
        self._wall, self._boot_s, self._cost = wall, boot_s, cost
        self._ticks = float(os.sysconf("SC_CLK_TCK"))
        self._interval_s = interval_s
        self._watches = bool(watched.names or watched.cgroups)
        self._finder = Finder(watched, interval_s, proc=proc, clock=boot_s, cost=cost)
        self._boot = _boot(proc)
        self._poll = select.poll()
        self._handles: dict[int, tuple[Followed, Member]] = {}
        self._runs: list[Followed] = []
        self._waiting: list[Sighting] = []
        self._next_s = self._kept_s = boot_s()
        self._changed = False
        self._used_s: dict[int, float] = {}
        self._had: list[tuple[int, float]] = []
        self._sampled_s = boot_s()
        self.ended = int(are_waiting(folder))
        with contextlib.suppress(MachineError):
            forget_sightings(folder, wall() - KEPT_S)
        self._go_on()
        self.look()

    @property
    def busy(self) -> bool:
        """Return whether there is something to look for or at."""
        return self._watches or bool(self._runs or self._waiting)

    def waits(self, reading: int) -> Callable[[float], bool]:
        """Return what waits for so long [s], or until a file can be read.

        It says whether the file can be read. Ends of processes are dealt with
        meanwhile.
        """
        self._poll.register(reading, select.POLLIN)

        def wait(time_s: float) -> bool:
            end_s = time.monotonic() + time_s
            while True:
                left_s = max(0.0, end_s - time.monotonic())
                found = [handle for handle, _ in self._poll.poll(1000 * left_s)]
                for handle in found:
                    self._ended(handle)
                if reading in found or not (found or left_s):
                    return reading in found

        return wait

    def look(self) -> None:
        """Find what has begun, and look at what goes on."""
        if not self.busy:
            return
        for pid, name, cgroup in self._finder.find():
            self._follow(pid, name, cgroup)
        now_s = self._boot_s()
        if now_s >= self._next_s:
            before = self._cost()
            self._look_at_all(now_s)
            pause_s = (
                (self._cost() - before) / LOOKING_COST * self._interval_s / USUAL_S
            )
            self._next_s = now_s + pause_s
        self._write_waiting()
        if self._changed or (self._runs and now_s - self._kept_s >= _KEEP_S):
            self.keep()

    def used(self) -> list[tuple[int, float]]:
        """Return watched processes, and the CPU time of each since the last call [s].

        Those that have ended meanwhile are among them.
        """
        found, self._had = self._had, []
        before, self._used_s = self._used_s, {}
        for member in [one for run in self._runs for one in run.members.values()]:
            if member.process is not None:
                now_s = member.process.cpu_s()
                self._used_s[member.pid] = now_s
                used_s = now_s - before.get(member.pid, 0.0)
                found.append((member.pid, max(0.0, used_s)))
        self._sampled_s = self._boot_s()
        return found

    def keep(self) -> None:
        """Keep what goes on, for the next monitor should this one be killed."""
        self._kept_s, self._changed = self._boot_s(), False
        with contextlib.suppress(MachineError):
            write_open(self._folder, [run.entry(self._boot) for run in self._runs])

    def close(self) -> None:
        """Keep what goes on, and let go of it."""
        self._look_at_all(self._boot_s())
        self._write_waiting()
        self.keep()
        for _, member in list(self._handles.values()):
            if member.process is not None:
                member.process.close()

    def _follow(self, pid: int, name: str, cgroup: str) -> None:
        """Follow a process that is new."""
        if any(pid in run.members and run.members[pid].process for run in self._runs):
            return
        try:
            process = Process(pid, self._proc, self._ticks)
        except (OSError, ValueError, IndexError):
            return
        member = Member(pid, process.parent, process.start, process=process)
        run = self._run_of(member, name, cgroup)
        run.add(member)
        self._begin(run, member)
        self._changed = True

    def _begin(self, run: Followed, member: Member) -> None:
        """Wait for the end of a process, and take a first look at it."""
        process = member.process
        assert process is not None
        if process.handle >= 0:
            self._handles[process.handle] = run, member
            self._poll.register(process.handle, select.POLLIN)
        self._look_at(run, member)
        if member.start / self._ticks < self._sampled_s:
            self._used_s[member.pid] = member.figures.cpu_s
        run.weigh()
        run.seen_s = self._boot_s()

    def _run_of(self, member: Member, name: str, cgroup: str) -> Followed:
        """Return the run that a process belongs to; a new one where it is the first."""
        same = [r for r in self._runs if (r.application, r.cgroup) == (name, cgroup)]
        for run in same:
            above = run.members.get(member.parent)
            if cgroup or (above is not None and above.process is not None):
                return run
        launch = launch_of(
            variables_of(self._proc, member.pid),
            lambda generation: self._started_by(member.parent, generation),
            os.environ.get(INPUTS, ""),
        )
        for run in same:
            key = launch.size and (run.launch.key, run.launch.size)
            near = launch.key or any(
                one.parent == member.parent for one in run.members.values()
            )
            same_launch = key == (launch.key, launch.size) and near
            if same_launch and launch.rank not in run.ranks:
                run.ranks.add(launch.rank)
                return run
        since_s = self._boot_s() - member.start / self._ticks
        run = Followed(
            f"{self._host}-{self._boot[:13]}-{member.start}-{member.pid}",
            name,
            launch,
            self._wall() - since_s,
            member.start / self._ticks,
            self._program(member.pid),
            {launch.rank} if launch.rank >= 0 else set(),
            cgroup=cgroup,
            keeper=self._keeper(member.parent) if launch.size else None,
        )
        self._runs.append(run)
        return run

    def _keeper(self, pid: int) -> Keeper | None:
        try:
            return Keeper(Process(pid, self._proc, self._ticks))
        except (OSError, ValueError, IndexError):
            return None

    def _started_by(self, parent: int, generation: int) -> Sequence[str]:
        """Return the command of a parent, or of one further up."""
        try:
            for _ in range(generation - 1):
                parent = stat_of(read(f"{self._proc}/{parent}/stat"), 1.0).parent
        except (OSError, ValueError, IndexError):
            return []
        return words_of(self._proc, parent)

    def _program(self, pid: int) -> str:
        try:
            return os.readlink(f"{self._proc}/{pid}/exe")  # noqa: PTH115
        except OSError:
            return ""

    def _look_at_all(self, now_s: float) -> None:
        for run in list(self._runs):
            for member in list(run.members.values()):
                self._look_at(run, member)
            run.seen_s = now_s
            run.weigh()

    def _look_at(self, run: Followed, member: Member) -> None:
        """Look at a process; one without a handle of the kernel may have ended."""
        process = member.process
        if process is None:
            return
        runs = process.look()
        member.figures = process.figures
        if not runs and process.handle < 0:
            self._end(run, member)

    def _ended(self, handle: int) -> None:
        """Deal with the end of a process, of which the kernel told."""
        if handle in self._handles:
            self._end(*self._handles[handle])

    def _end(self, run: Followed, member: Member) -> None:
        process = member.process
        assert process is not None
        now_s = self._boot_s()
        process.look()
        process.collected()
        if not process.looked and run.keeper is not None:
            run.keeper.look()
        if process.handle >= 0:
            self._poll.unregister(process.handle)
            del self._handles[process.handle]
        process.close()
        member.figures, member.code = process.figures, process.code
        member.end_s, member.looked = now_s, process.looked
        member.process, run.seen_s = None, now_s
        self._had.append((member.pid, self._since_sample_s(member)))
        run.ended(member)
        if not run.running:
            self._finish(run)

    def _since_sample_s(self, member: Member) -> float:
        """Return the CPU time of a process that has ended since the last sample [s].

        Where nobody looked at it then, it is taken to have gone on as before.
        """
        before_s = self._used_s.pop(member.pid, 0.0)
        used_s = member.figures.cpu_s - before_s
        if not member.looked:
            lived_s = member.end_s - member.start / self._ticks
            since_s = min(member.end_s - self._sampled_s, lived_s)
            rate = before_s / max(lived_s - since_s, 1e-3) if before_s else 1.0
            used_s = max(used_s, rate * since_s)
        return max(0.0, used_s)

    def _finish(self, run: Followed) -> None:
        """Write down what was seen of a run that has ended here."""
        self._runs.remove(run)
        self._waiting.append(run.sighting(self._host))
        if run.keeper is not None:
            run.keeper.close()
        self._write_waiting()
        self.keep()

    def _write_waiting(self) -> None:
        """Write sightings; where that cannot be, as on a full disk, keep them."""
        while self._waiting:
            try:
                add_sighting(self._folder, self._waiting[0])
            except MachineError:
                return
            del self._waiting[0]
            self.ended += 1

    def _go_on(self) -> None:
        """Go on with what the monitor before this one followed."""
        entries = read_open(self._folder)
        if not entries:
            return
        ended: set[str] = set()
        with contextlib.suppress(MachineError):
            ended = {sighting.identity for sighting in ended_sightings(self._folder)[0]}
        for entry in entries:
            with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
                run = followed_of(entry)
                if run.identity not in ended:
                    self._take_up(run, same_boot=entry["boot"] == self._boot)
        self.keep()

    def _take_up(self, run: Followed, *, same_boot: bool) -> None:
        """Follow the processes of a run that still run; else say that it has ended."""
        self._runs.append(run)
        for member in list(run.members.values()):
            if member.end_s == member.end_s:
                continue
            process = None
            if same_boot:
                with contextlib.suppress(OSError, ValueError, IndexError):
                    process = Process(member.pid, self._proc, self._ticks)
            if process is not None and process.start == member.start:
                member.process = process
            else:
                if process is not None:
                    process.close()
                member.end_s = run.seen_s
        if not run.running:
            run.unseen = True
            self._finish(run)
            return
        for member in list(run.members.values()):
            if member.process is not None:
                self._begin(run, member)


def _boot(proc: str) -> str:
    """Return what is the same until the machine is started anew."""
    try:
        return read(f"{proc}/sys/kernel/random/boot_id").strip()
    except OSError:
        return "unknown"
