"""Answer of monitor show: series, their averages, gaps and damage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.results.base import Result

if TYPE_CHECKING:
    from skelgen.monitor.series import HostHistory
    from skelgen.pipeline.monitor_series import Averages
    from skelgen.store import Series


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSeries:
    """A quantity of a host over time.

    Attributes
    ----------
    host, quantity : str
        Of what.
    times : sequence of float
        Seconds since 1970 in UTC [s].
    values : sequence of float
        At these times.
    """

    host: str
    quantity: str
    times: Sequence[float]
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAverages:
    """A quantity over several nodes.

    Attributes
    ----------
    quantity : str
        Which.
    avg_min, min_avg : float or None
        Average of the minimum over nodes, and minimum of the nodes' averages.
    covered : float
        Part of the time for which there are samples [0 to 1].
    """

    quantity: str
    avg_min: float | None
    min_avg: float | None
    covered: float | None

    @classmethod
    def of(cls, one: Averages) -> Self:
        """Return what is said of a quantity."""
        return cls(
            quantity=one.quantity,
            avg_min=one.avg_min.value,
            min_avg=one.min_avg.value,
            covered=one.avg_min.covered,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMark:
    """What happened between samples.

    Attributes
    ----------
    kind : str
        ``begin``, ``end``, ``gap``, ``back`` (of the clock) or ``refused``.
    time, length_s : float or None
        When, seconds since 1970 in UTC, and for how long [s].
    reason : str
        Why something was refused.
    """

    kind: str
    time: float | None
    length_s: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMarks:
    """Gaps and damage of the series of a host.

    Attributes
    ----------
    host : str
        Which.
    damaged_lines : int
        That cannot be used.
    marks : sequence of ShownMark
        In the order of time.
    """

    host: str
    damaged_lines: int
    marks: Sequence[ShownMark]

    @classmethod
    def of(cls, one: HostHistory) -> Self:
        """Return what is said of a host."""
        marks = tuple(
            ShownMark(
                kind=mark.kind,
                time=mark.time,
                length_s=mark.length_s,
                reason=mark.reason,
            )
            for mark in one.marks
        )
        return cls(host=one.host, damaged_lines=len(one.damaged), marks=marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorShowResult(Result):
    """Series that monitors kept.

    Attributes
    ----------
    series : sequence of KeptSeries
        Of each host and quantity.
    averages : sequence of NodeAverages
        Of each quantity.
    marks : sequence of HostMarks
        Of each host.
    """

    result: ClassVar[str] = "monitor-show"

    series: Sequence[KeptSeries]
    averages: Sequence[NodeAverages]
    marks: Sequence[HostMarks]

    @classmethod
    def of(
        cls,
        series: Sequence[Series],
        joined: Sequence[Averages],
        found: Sequence[HostHistory],
    ) -> Self:
        """Return the answer to the series that were found."""
        return cls(
            series=tuple(KeptSeries(**asdict(one)) for one in series),
            averages=tuple(map(NodeAverages.of, joined)),
            marks=tuple(map(HostMarks.of, found)),
        )
