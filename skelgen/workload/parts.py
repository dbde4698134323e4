"""Match the phases of several workloads by their structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.errors import InputError
from skelgen.trust import Doubt
from skelgen.workload.thresholds import LEAST_FITTED_SHARE, LEAST_SWITCHED_SHARE
from skelgen.workload.types import Point, PointPhase, joined, ranks_vary

#: What no time is: functions of times are fitted by relative errors [s].
NO_TIME_S = 1e-9

#: Phases of a workload by their key.
_Column = dict[Any, PointPhase]


@dataclass(frozen=True, slots=True)
class WorkloadPart:
    """A part of the application's time: a phase of all workloads, or all the rest.

    Attributes
    ----------
    key : str
        Of the phase; empty for the rest: small phases, those of some workloads only,
        and the time before and after all phases.
    calls : tuple of str
    weights : tuple of float
        At each point of the study; 1 for the rest, not a number where it was not
        measured.
    times_s : tuple of float
        Of one occurrence [s].
    """

    key: str
    calls: tuple[str, ...]
    weights: tuple[float, ...]
    times_s: tuple[float, ...]

    @property
    def totals_s(self) -> tuple[float, ...]:
        """Return time x weight at each point [s]."""
        return tuple(
            time_s * weight
            for time_s, weight in zip(self.times_s, self.weights, strict=True)
        )


def share_known(
    known: Iterable[PointPhase],
    point: Point,
    *,
    other_events: float = 1.0,
    by: str = "key",
) -> float:
    """Return how much of a run's time is in phases that were seen in another [0 to 1].

    Parameters
    ----------
    known : iterable of PointPhase
        Of the other run.
    point : Point
    other_events : float
        What the time of phases counts that have another number of events [0 to 1].
    by : str
        What tells which phases are the same; see `types.same_by`.
    """
    events: dict[Any, set[int]] = {}
    for one in known:
        events.setdefault(getattr(one, by), set()).add(one.events)
    return math.fsum(
        point.share(one) * (1.0 if one.events in events[key] else other_events)
        for one in point.phases
        if (key := getattr(one, by)) in events
    )


def matched(
    points: Sequence[Point],
) -> tuple[tuple[WorkloadPart, ...], tuple[Doubt, ...]]:
    """Divide the time of all workloads into the same parts.

    Parameters
    ----------
    points : sequence of Point

    Returns
    -------
    tuple of WorkloadPart
        The phases that all recorded workloads have and that take 1 % of the time of at
        least one, by their share of the time, the rest last.
    tuple of Doubt
        Phases that only some of the workloads have.
    """
    columns = _columns(points)
    whole = recorded(points)
    first = columns[whole[0]]
    parts = [
        _part(first[key], [column.get(key) for column in columns])
        for key in first
        if _relevant(key, [columns[i] for i in whole], [points[i] for i in whole])
    ]
    parts.sort(key=lambda part: -sum(part.totals_s[i] for i in whole))
    rest = [math.nan] * len(points)
    for i in whole:
        inside_s = sum(part.totals_s[i] for part in parts)
        rest[i] = max(points[i].application_s - inside_s, NO_TIME_S)
    doubts = tuple(_switches(columns, points))
    return (*parts, WorkloadPart("", (), (1.0,) * len(rest), tuple(rest))), doubts


def recorded(points: Sequence[Point]) -> list[int]:
    """Return the points that were recorded; all when each was only measured."""
    found = [i for i, point in enumerate(points) if not point.measured]
    return found or list(range(len(points)))


def _part(known: PointPhase, phases: Sequence[PointPhase | None]) -> WorkloadPart:
    """Make the part of a phase as it is at each point."""
    return WorkloadPart(
        known.key,
        known.calls,
        tuple(math.nan if one is None else one.weight for one in phases),
        tuple(
            math.nan if one is None else max(one.time_s, NO_TIME_S) for one in phases
        ),
    )


def _columns(points: Sequence[Point]) -> list[_Column]:
    """Return the phases of each workload by what tells which are the same.

    That is the places in the program that call MPI, unless the program was compiled
    again in between and they have moved. Where ranks differ it is what they call.
    """
    if ranks_vary(points):
        columns = [
            {one.calls: one for one in joined(point.phases, by="calls")}
            for point in points
        ]
        if not set.intersection(*(set(columns[i]) for i in recorded(points))):
            raise _nothing_common(points)
        return columns
    found = []
    for by in ("site_key", "key"):
        columns = [
            {getattr(one, by): one for one in joined(point.phases, by=by)}
            for point in points
        ]
        common = set.intersection(*(set(columns[i]) for i in recorded(points)))
        covered = min(
            math.fsum(point.share(column[key]) for key in common if key in column)
            for point, column in zip(points, columns, strict=True)
        )
        found.append((covered, columns))
    (by_site, sites), (by_kind, kinds) = found
    if by_kind == 0.0:
        raise _nothing_common(points)
    return sites if by_site > by_kind - LEAST_FITTED_SHARE else kinds


def _nothing_common(points: Sequence[Point]) -> InputError:
    return InputError(
        f"{', '.join(point.run for point in points)} have no phase in common: they "
        "ran different programs or algorithms; make a study of each"
    )


def _relevant(key: Any, columns: list[_Column], points: Sequence[Point]) -> bool:
    if not all(key in column for column in columns):
        return False
    pairs = zip(points, columns, strict=True)
    return (
        max(point.share(column[key]) for point, column in pairs) >= LEAST_FITTED_SHARE
    )


def _switches(columns: list[_Column], points: Sequence[Point]) -> Iterator[Doubt]:
    """Tell which phases of a large share occur at some of the workloads only."""
    told = set()
    for column in columns:
        for key, phase in column.items():
            pairs = list(zip(points, columns, strict=True))
            have = [p for p, c in pairs if key in c]
            lack = [p for p, c in pairs if key not in c and not p.measured]
            largest = max(p.share(c[key]) for p, c in pairs if key in c)
            if not lack or largest < LEAST_SWITCHED_SHARE or key in told:
                continue
            told.add(key)
            where = ", ".join(point.run for point in have)
            text = (
                f"a phase of {' '.join(phase.calls[:4])} ({largest:.0%} of the time) "
            )
            text += f"occurs in {where} only: an algorithm that depends on the "
            text += "workload"
            yield Doubt("algorithm-switch", text, "begin a study for each side")
