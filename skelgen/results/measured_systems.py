"""Answers of system: hosts and links as they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.pipeline.system_facts import measured_date
from skelgen.results.base import Result
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.pipeline.known_systems import ComparedValue, SystemRows
    from skelgen.store import Fact, Message
    from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class HostValue:
    """A value of a host or of a link.

    Attributes
    ----------
    name : str
        Such as ``float_multiply_add``.
    value, low, high : float or None
        Median, smallest and largest of the repeats, in `unit`.
    unit : str
        ``1/s``, ``bytes/s``, ``s`` or ``bytes``.
    repeats : int
        How often it was measured.
    host : str
        A link is ``n1-n2``.
    cores : int
        So many worked at the same time; 0 where that means nothing.
    measured : str or None
        When (ISO, UTC).
    system, compiler, kernel : str
        Of the host; empty where they are not known.
    doubt : str
        Why not to trust it; else empty.
    """

    name: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    repeats: int
    host: str
    cores: int
    measured: str | None
    system: str
    compiler: str
    kernel: str
    doubt: str

    @classmethod
    def of(cls, one: Fact) -> Self:
        """Return what is said of a value."""
        return cls(**(asdict(one) | {"measured": measured_date(one.measured)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeStretch:
    """Times of messages from a size on.

    Attributes
    ----------
    from_bytes : int
        The size [bytes].
    latency_s, bandwidth_bytes_per_s : float or None
        Of messages from there on [s], [bytes/s].
    """

    from_bytes: int
    latency_s: float | None
    bandwidth_bytes_per_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTime:
    """Time of an MPI operation over sizes.

    Attributes
    ----------
    operation : str
        ``SR`` (send and receive), ``BC`` (broadcast), ``allreduce``, ...
    ranks : int
        That took part.
    latency_s, bandwidth_bytes_per_s : float or None
        Of the smallest and of the largest messages [s], [bytes/s].
    eager_bytes : int
        Largest message that is sent before its receive is posted; 0: not found.
    hosts : sequence of str
        One where all ranks ran on it.
    stretches : sequence of SizeStretch
        Where there are several.
    points : sequence of (int, float)
        Sizes [bytes] and median times [s].
    repeats : int
        Fewest of a size.
    spread : float or None
        Of the repeats [1].
    measured : str or None
        When (ISO, UTC).
    system, mpi : str
        Of the hosts, and the library.
    doubt : str
        Why not to trust it; else empty.
    """

    operation: str
    ranks: int
    latency_s: float | None
    bandwidth_bytes_per_s: float | None
    eager_bytes: int
    hosts: Sequence[str]
    stretches: Sequence[SizeStretch]
    points: Sequence[tuple[int, float]]
    repeats: int
    spread: float | None
    measured: str | None
    system: str
    mpi: str
    doubt: str

    @classmethod
    def of(cls, one: Message) -> Self:
        """Return what is said of an operation."""
        return cls(
            operation=one.operation,
            ranks=one.ranks,
            latency_s=one.latency_s,
            bandwidth_bytes_per_s=one.bandwidth_bytes_per_s,
            eager_bytes=one.eager_bytes,
            hosts=one.hosts,
            stretches=tuple(
                SizeStretch(
                    from_bytes=begin, latency_s=latency, bandwidth_bytes_per_s=rate
                )
                for begin, latency, rate in one.knees
            ),
            points=one.points,
            repeats=one.repeats,
            spread=one.spread,
            measured=measured_date(one.measured),
            system=one.system,
            mpi=one.mpi,
            doubt=one.doubt,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class MeasuredHost:
    """What was measured of a host.

    Attributes
    ----------
    host : str
        Its name, or that of a system.
    measured : str or None
        When, the newest (ISO, UTC).
    facts : sequence of HostValue
        Of the host.
    messages : sequence of OperationTime
        Of the host and of its links.
    """

    host: str
    measured: str | None
    facts: Sequence[HostValue]
    messages: Sequence[OperationTime]

    @classmethod
    def fields_of(cls, rows: SystemRows, host: str) -> dict[str, Any]:
        """Return what is said of a host, by the names of the fields."""
        found = rows.of(host)
        return {
            "host": host,
            "measured": measured_date(found.measured),
            "facts": tuple(map(HostValue.of, found.facts)),
            "messages": tuple(map(OperationTime.of, found.messages)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMeasureResult(Result):
    """What was measured now.

    Attributes
    ----------
    hosts : sequence of MeasuredHost
        In the order that they were named.
    kept : str
        Store or file.
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    """

    result: ClassVar[str] = "system-measure"

    hosts: Sequence[MeasuredHost]
    kept: str
    verdict: str
    doubts: Sequence[NamedDoubt]

    @classmethod
    def of(cls, rows: SystemRows, kept: str, doubts: Sequence[Doubt]) -> Self:
        """Return the answer to what was measured, and where it is kept."""
        hosts = tuple(
            MeasuredHost(**MeasuredHost.fields_of(rows, host)) for host in rows.hosts
        )
        verdict = verdict_of(doubts)
        return cls(hosts=hosts, kept=kept, verdict=verdict, doubts=named(doubts))


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemShowResult(MeasuredHost, Result):
    """What was measured of a host.

    Attributes
    ----------
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    """

    result: ClassVar[str] = "system-show"

    verdict: str
    doubts: Sequence[NamedDoubt]

    @classmethod
    def of(cls, rows: SystemRows, host: str, doubts: Sequence[Doubt]) -> Self:
        """Return the answer to what is known of a host."""
        verdict = verdict_of(doubts)
        known = cls.fields_of(rows, host)
        return cls(**known, verdict=verdict, doubts=named(doubts))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSummary:
    """How much is known of a host.

    Attributes
    ----------
    host, system : str
        Its name, and what it is part of.
    measured : str or None
        When, the newest (ISO, UTC).
    cores : int or None
        That it has.
    facts, messages, doubted : int
        Numbers of values, of operations, and of those not to trust.
    """

    host: str
    system: str
    measured: str | None
    cores: int | None
    facts: int
    messages: int
    doubted: int

    @classmethod
    def of(cls, rows: SystemRows, host: str) -> Self:
        """Return what is said of a host."""
        found = rows.of(host)
        cores = [one.value for one in found.facts if one.name == "cores"]
        return cls(
            host=host,
            system=found.facts[-1].system,
            measured=measured_date(found.measured),
            cores=int(cores[-1]) if cores else None,
            facts=len(found.facts),
            messages=len(found.messages),
            doubted=sum(map(bool, found.doubts)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemListResult(Result):
    """The hosts that were measured.

    Attributes
    ----------
    hosts : sequence of HostSummary
        By name.
    """

    result: ClassVar[str] = "system-list"

    hosts: Sequence[HostSummary]

    @classmethod
    def of(cls, rows: SystemRows) -> Self:
        """Return the answer to what is known."""
        return cls(hosts=tuple(HostSummary.of(rows, host) for host in rows.hosts))


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOfBoth:
    """A value of two hosts.

    Attributes
    ----------
    name, unit : str
        What it is.
    cores : int
        That worked at the same time.
    values : sequence of float
        Of the first and of the second.
    ratio : float or None
        Second / first [1].
    differs : bool
        Whether that is more than the spread.
    """

    name: str
    unit: str
    cores: int
    values: Sequence[float]
    ratio: float | None
    differs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCompareResult(Result):
    """Two hosts or systems side by side.

    Attributes
    ----------
    hosts : sequence of str
        Both.
    values : sequence of ValueOfBoth
        That both have.
    """

    result: ClassVar[str] = "system-compare"

    hosts: Sequence[str]
    values: Sequence[ValueOfBoth]

    @classmethod
    def of(cls, names: Sequence[str], values: Sequence[ComparedValue]) -> Self:
        """Return the answer to two hosts or systems."""
        those = tuple(
            ValueOfBoth(
                name=one.name,
                unit=one.unit,
                cores=one.cores,
                values=(one.first, one.second),
                ratio=one.ratio,
                differs=one.differs,
            )
            for one in values
        )
        return cls(hosts=tuple(names), values=those)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemHistoryResult(Result):
    """A value each time that it was measured.

    Attributes
    ----------
    host, name : str
        Of what, and which value.
    facts : sequence of HostValue
        The oldest first.
    """

    result: ClassVar[str] = "system-history"

    host: str
    name: str
    facts: Sequence[HostValue]

    @classmethod
    def of(cls, host: str, name: str, found: Sequence[Fact]) -> Self:
        """Return the answer to the values that were found."""
        return cls(host=host, name=name, facts=tuple(map(HostValue.of, found)))
