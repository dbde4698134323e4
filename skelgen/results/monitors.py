"""Answers of monitor: what monitors do, keep and saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.pipeline.store_facts import RunRow
from skelgen.results.base import Result, known_only

if TYPE_CHECKING:
    from skelgen.monitor.status import Status
    from skelgen.pipeline.monitor_asking import HostAnswer
    from skelgen.pipeline.monitor_run_joins import WatchedRun
    from skelgen.pipeline.monitor_runs import HandedOver


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedHost:
    """A host that refused.

    Attributes
    ----------
    host, reason : str
        Which, and why.
    """

    host: str
    reason: str


def refusals(answers: Sequence[HostAnswer]) -> tuple[RefusedHost, ...]:
    """Return the hosts that refused."""
    return tuple(
        RefusedHost(host=one.host, reason=one.error) for one in answers if one.error
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorProcess:
    """The monitor of a host.

    Attributes
    ----------
    host : str
        Of the monitor.
    pid : int
        Its process there.
    step : int
        The process here that keeps a job step with it.
    """

    host: str
    pid: int | None = known_only()
    step: int | None = known_only()


def processes(answers: Sequence[HostAnswer]) -> tuple[MonitorProcess, ...]:
    """Return the monitors of hosts that did not refuse."""
    return tuple(
        MonitorProcess(
            host=str(one.facts.get("host", one.host)),
            pid=one.facts.get("pid"),
            step=one.facts.get("step"),
        )
        for one in answers
        if not one.error
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStartResult(Result):
    """Monitors that were started.

    Attributes
    ----------
    started : sequence of MonitorProcess
        One for each host.
    refused : sequence of RefusedHost
        The other hosts.
    """

    result: ClassVar[str] = "monitor-start"

    started: Sequence[MonitorProcess]
    refused: Sequence[RefusedHost]

    @classmethod
    def of(cls, answers: Sequence[HostAnswer]) -> Self:
        """Return the answer to what hosts said."""
        return cls(started=processes(answers), refused=refusals(answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRun:
    """A watched run that some nodes have not told of yet.

    Attributes
    ----------
    app : str
        Name of the application.
    ranks : int
        Of the run.
    seen : sequence of int
        Those of them that nodes told of.
    hosts : sequence of str
        Nodes that told.
    started : float or None
        Seconds since 1970 in UTC [s].
    """

    app: str
    ranks: int
    seen: Sequence[int]
    hosts: Sequence[str]
    started: float | None

    @classmethod
    def of(cls, one: WatchedRun) -> Self:
        """Return what is said of a run."""
        first = one.sightings[0]
        return cls(
            app=first.application,
            ranks=first.size,
            seen=sorted(one.ranks),
            hosts=one.hosts,
            started=one.began,
        )


def handed_fields(done: HandedOver) -> dict[str, Any]:
    """Return what became of watched runs, by the names of the fields."""
    return {
        "runs": tuple(map(RunRow.of, done.added)),
        "already": done.already,
        "waiting": tuple(map(WaitingRun.of, done.waiting)),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStopResult(Result):
    """Monitors that were stopped.

    Attributes
    ----------
    stopped : sequence of MonitorProcess
        One for each host.
    refused : sequence of RefusedHost
        The other hosts.
    runs : sequence of RunRow
        Watched runs that the store has now.
    already : int
        Watched runs that it had before.
    waiting : sequence of WaitingRun
        Watched runs that miss some nodes.
    """

    result: ClassVar[str] = "monitor-stop"

    stopped: Sequence[MonitorProcess]
    refused: Sequence[RefusedHost]
    runs: Sequence[RunRow] | None = known_only()
    already: int | None = known_only()
    waiting: Sequence[WaitingRun] | None = known_only()

    @classmethod
    def of(cls, answers: Sequence[HostAnswer], handed: HandedOver | None) -> Self:
        """Return the answer to what hosts said; None: no store was asked."""
        known = {} if handed is None else handed_fields(handed)
        return cls(stopped=processes(answers), refused=refusals(answers), **known)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorRunsResult(Result):
    """Watched runs that were given to the store.

    Attributes
    ----------
    runs : sequence of RunRow
        That the store has now.
    already : int
        That it had before.
    waiting : sequence of WaitingRun
        That miss some nodes.
    """

    result: ClassVar[str] = "monitor-runs"

    runs: Sequence[RunRow]
    already: int
    waiting: Sequence[WaitingRun]

    @classmethod
    def of(cls, done: HandedOver) -> Self:
        """Return the answer to what became of watched runs."""
        return cls(**handed_fields(done))


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorState:
    """How a monitor does.

    Attributes
    ----------
    host : str
        Of the monitor.
    running : bool
        Whether it writes.
    pid : int
        On its host.
    since, last : float or None
        Start and latest sample, seconds since 1970 in UTC [s].
    samples : int
        That it took.
    interval_s : float or None
        Between samples [s].
    cpu_share : float or None
        Part of a core that it has used [0 to 1].
    rss_bytes : int
        Its memory [bytes].
    gap_s : float or None
        Time without samples since it started [s].
    link_bytes, link_limit_bytes : int
        What probes of links cost in the last hour, and may cost [bytes].
    """

    host: str
    running: bool
    pid: int
    since: float | None
    last: float | None
    samples: int
    interval_s: float | None
    cpu_share: float | None
    rss_bytes: int
    gap_s: float | None
    link_bytes: int
    link_limit_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStatusResult(Result):
    """How monitors do.

    Attributes
    ----------
    nodes : sequence of MonitorState
        One for each host.
    refused : sequence of RefusedHost
        Hosts that do not answer.
    """

    result: ClassVar[str] = "monitor-status"

    nodes: Sequence[MonitorState]
    refused: Sequence[RefusedHost]

    @classmethod
    def of(cls, found: Sequence[Status], refused: Sequence[HostAnswer]) -> Self:
        """Return the answer to what monitors say."""
        nodes = tuple(MonitorState(**asdict(one)) for one in found)
        return cls(nodes=nodes, refused=refusals(refused))


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorOnceResult(Result):
    """One sample of each host.

    Attributes
    ----------
    nodes : sequence of mapping of str to (float, str or None)
        Host, time (seconds since 1970 in UTC), and each quantity by its name.
    refused : sequence of RefusedHost
        The other hosts.
    """

    result: ClassVar[str] = "monitor-once"

    nodes: Sequence[Mapping[str, float | str | None]]
    refused: Sequence[RefusedHost]

    @classmethod
    def of(cls, answers: Sequence[HostAnswer]) -> Self:
        """Return the answer to what hosts said."""
        nodes = tuple(one.facts for one in answers if not one.error)
        return cls(nodes=nodes, refused=refusals(answers))
