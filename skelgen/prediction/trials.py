"""Run skeletons on node sets: at most one at a time on each node, whatever fails."""

from __future__ import annotations

import logging
import math
import re
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from skelgen.errors import ApplicationError, UsageError
from skelgen.launch.host_runner import Runner, Running
from skelgen.launch.hosts import Host
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.launch.run_end import failure_of
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.types import Failure, Timed, TrialFacts
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trust import Doubt
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)

NodeSet: TypeAlias = tuple[Host, ...]

#: How often runs are asked whether they have ended [s].
_PAUSE_S = 0.01

#: Longest time in which a host that works starts a program that does nothing [s].
_PROBE_LIMIT_S = 60.0


class TrialRun(Running, Protocol):
    """A run that tells the time it was made for."""

    def timed(self, done: Finished) -> Timed:
        """Return its time, once it has ended and nothing failed.

        Raises
        ------
        ApplicationError
            When it has told none.
        """


class TrialProgram(Protocol):
    """What is run on node sets: a skeleton, or an application for its phases."""

    @property
    def binary(self) -> Path:
        """Return the file that tells it from others."""

    @property
    def facts(self) -> TrialFacts:
        """Return what a prediction needs to know."""

    @property
    def runner(self) -> Runner:
        """Return what starts it."""

    @property
    def mpi(self) -> str:
        """Return name and version of the MPI that runs it."""

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Return why its times may not be those of the recorded application."""

    def start(self, hosts: Sequence[Host], *, limit_s: float | None = None) -> TrialRun:
        """Start it on hosts."""


def _start_nothing(runner: Runner, host: Host, limit_s: float) -> Running:
    """Start a program that does nothing on a host."""
    one = [Host(host.name)]
    return runner.start(["true"], ranks=1, hosts=one, environment={}, limit_s=limit_s)


@dataclass(frozen=True, slots=True)
class _Trial:
    """One run to make: of the skeleton on a set, or of nothing on one host of it."""

    program: TrialProgram
    hosts: NodeSet
    probed: Host | None = None

    @property
    def names(self) -> frozenset[str]:
        """Return the hosts that it needs for itself."""
        hosts = self.hosts if self.probed is None else (self.probed,)
        return frozenset(host.name for host in hosts)

    def start(self, limit_s: float | None) -> _Begun:
        if self.probed is None:
            timed = self.program.start(self.hosts, limit_s=limit_s)
            return _Begun(self, timed, timed.timed)
        limit_s = min(limit_s or math.inf, _PROBE_LIMIT_S)
        return _Begun(self, _start_nothing(self.program.runner, self.probed, limit_s))


@dataclass(slots=True)
class _Begun:
    """A trial that has begun.

    Attributes
    ----------
    trial : _Trial
    running : Running
    timed : callable, optional
        Tells its time; None of a program that does nothing.
    left_s : float
        For how long further runs could begin then [s].
    """

    trial: _Trial
    running: Running
    timed: Callable[[Finished], Timed] | None = None
    left_s: float = 0.0


@dataclass(slots=True)
class Trials:
    """Runs of skeletons on node sets, and what came of them.

    A set that fails is left out and named. Is a host the cause, all sets with it are
    left out: each host that cannot even start a program that does nothing, of those
    that the launcher names in its complaint, or of all when it names none. What a batch
    system never began says nothing of hosts.

    Attributes
    ----------
    parallel : int
        Largest number of runs at the same time, on disjoint sets.
    limit_s : float or None
        Longest time of one run; that of the skeleton when None [s].
    end_s : float
        Time of `clock` from which no further run begins; it moves on by what runs took
        that failed [s].
    made : callable
        Told of each run that was good: the program, the set, its time.
    progress : Progress
    runs : dict
        Those of each program on each set.
    failures : dict of NodeSet to Failure
    dead : dict of str to str
        Hosts that are left out, and why.
    """

    parallel: int = 1
    limit_s: float | None = None
    end_s: float = math.inf
    made: Callable[[TrialProgram, NodeSet, Timed], None] | None = None
    progress: Progress = NO_PROGRESS
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[Interrupts], None] = lambda interrupts: interrupts.pause(_PAUSE_S)
    runs: dict[tuple[Path, NodeSet], list[Timed]] = field(default_factory=dict)
    failures: dict[NodeSet, Failure] = field(default_factory=dict)
    dead: dict[str, str] = field(default_factory=dict)

    @property
    def left_s(self) -> float:
        """Return for how long further runs may begin [s]."""
        return self.end_s - self.clock()

    @property
    def over(self) -> bool:
        """Return whether no further run may begin."""
        return self.left_s <= 0

    def times(self, program: TrialProgram, hosts: NodeSet) -> Sequence[float]:
        """Return the times of a program on a set so far [s]."""
        return self.runs_of(program, hosts).times_s

    def runs_of(self, program: TrialProgram, hosts: NodeSet) -> SetRuns:
        """Return the runs of a program on a set so far."""
        return SetRuns(tuple(self.runs.get((program.binary, hosts), ())))

    def works(self, hosts: NodeSet) -> bool:
        """Return whether nothing failed on a set, nor on one of its hosts elsewhere."""
        for host in hosts:
            if host.name in self.dead and hosts not in self.failures:
                reason = f"host {host.name}: {self.dead[host.name]}"
                self.failures[hosts] = Failure(hosts, reason)
        return hosts not in self.failures

    def make(self, program: TrialProgram, sets: Iterable[NodeSet], count: int) -> None:
        """Run a program once on each set that works and has not `count` times yet."""
        queue = deque(
            _Trial(program, hosts)
            for hosts in sets
            if len(self.times(program, hosts)) < count
        )
        active: list[_Begun] = []
        with Interrupts() as interrupts:
            try:
                while self._begin(queue, active):
                    self.pause(interrupts)
                    for one in list(active):
                        if (done := one.running.poll()) is not None:
                            active.remove(one)
                            queue.extendleft(self._ended(one, done))
            finally:
                for one in active:
                    one.running.stop()

    def _begin(self, queue: deque[_Trial], active: list[_Begun]) -> bool:
        """Start what may start now; return whether anything runs.

        First in the queue stand hosts under suspicion: what needs them waits. So does a
        run when the time is over: one that fails gives back what it took.
        """
        for trial in list(queue):
            if trial.probed is None and not self.works(trial.hosts):
                queue.remove(trial)
            elif (
                len(active) < self.parallel
                and (trial.probed is not None or not self.over)
                and not any(trial.names & other.trial.names for other in active)
            ):
                queue.remove(trial)
                try:
                    begun = trial.start(self.limit_s)
                    begun.left_s = self.left_s
                    active.append(begun)
                except UsageError as error:  # not on these hosts
                    self._leave_out(trial.hosts, str(error))
        return bool(active)

    def _ended(self, begun: _Begun, done: Finished) -> list[_Trial]:
        """Take down what came of a run; return what must be run because of it."""
        trial, reason, run = begun.trial, failure_of(done), Timed(math.nan)
        if reason is None and begun.timed is not None:
            try:
                run = replace(begun.timed(done), took_s=done.time_s)
            except ApplicationError as error:
                reason = str(error)
        if reason is not None and done.begun:
            self.end_s = max(self.end_s, self.clock() + begun.left_s)
        if trial.probed is not None:
            if reason is not None and done.begun:
                self._blame([trial.probed.name], reason, trial.hosts)
            return []
        self.progress.advance(1)
        if reason is not None:
            return self._failed(trial, done, reason)
        self.runs.setdefault((trial.program.binary, trial.hosts), []).append(run)
        self._say(trial, run.time_s)
        if self.made is not None:
            self.made(trial.program, trial.hosts, run)
        return []

    def _say(self, trial: _Trial, time_s: float) -> None:
        """Show the newest run, and the set that is fastest so far by its median."""
        name = name_of(trial.hosts)
        logger.info("%s on %s: %s", trial.program.binary, name, format_seconds(time_s))
        medians = {
            hosts: statistics.median(run.time_s for run in runs)
            for (binary, hosts), runs in self.runs.items()
            if binary == trial.program.binary
        }
        said = f"{name}: {format_seconds(time_s)}"
        if len(medians) > 1:
            best = min(medians, key=medians.__getitem__)
            said += f"; best {name_of(best)}: {format_seconds(medians[best])}"
        self.progress.say(said)

    def _failed(self, trial: _Trial, done: Finished, reason: str) -> list[_Trial]:
        """Leave a set out; return runs that tell which of its hosts are the cause.

        A launcher names a host for every crash, so those that it names are tried as
        well. What a batch system says of its hosts is believed.
        """
        named = [] if done.timed_out else blamed_hosts(done, trial.hosts)
        if done.exit_code == NO_RESULT:
            bad = [name for name in named if f"host {name} is " in done.errors]
            if 0 < len(bad) < len(trial.hosts):
                self._blame(bad, reason, trial.hosts)
                return []
        self._leave_out(trial.hosts, reason)
        if not done.begun:
            return []
        return [
            _Trial(trial.program, trial.hosts, host)
            for host in trial.hosts
            if host.name in named or not named
        ]

    def _leave_out(self, hosts: NodeSet, reason: str) -> None:
        self.failures[hosts] = Failure(hosts, reason)
        logger.warning("node set %s is left out: %s", name_of(hosts), reason)

    def _blame(self, names: Sequence[str], reason: str, hosts: NodeSet) -> None:
        """Leave hosts out, and with them every set that has one of them."""
        self.dead |= dict.fromkeys(names, reason)
        text = f"host {', '.join(names)}: {reason}"
        self.failures[hosts] = Failure(hosts, text)
        logger.warning("%s; node sets with it are left out", text)


def blamed_hosts(done: Finished, hosts: Sequence[Host]) -> list[str]:
    """Return the hosts of a set that a failed launcher names in what it wrote."""
    return _named(f"{done.errors}\n{done.output}", hosts)


def _named(text: str, hosts: Sequence[Host]) -> list[str]:
    return [
        host.name
        for host in hosts
        if re.search(rf"(?<![\w.-]){re.escape(host.name)}(?![\w.-])", text)
    ]


def explained(reason: str, runner: Runner, hosts: Sequence[Host]) -> str:
    """Say why a run on hosts failed, with those that are the cause.

    When the reason names none of them: those that cannot even start a program that
    does nothing.
    """
    dead: list[str] = []
    if not _named(reason, hosts):
        with Interrupts() as interrupts:
            for host in hosts:
                running = _start_nothing(runner, host, _PROBE_LIMIT_S)
                try:
                    while (done := running.poll()) is None:
                        interrupts.pause(_PAUSE_S)
                finally:
                    running.stop()
                dead += [host.name] if failure_of(done) is not None else []
    return f"host {', '.join(dead)} cannot be used: {reason}" if dead else reason


def name_of(hosts: Sequence[Host]) -> str:
    """Write a node set as the user could give it to ``--hosts``."""
    if not hosts:
        return "this machine"
    return ",".join(
        host.name if host.slots == 1 else f"{host.name}:{host.slots}" for host in hosts
    )
