"""Match the phases of several workloads by their structure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.models.types import Flag, FlagKind
from skelgen.workload.types import Point, PointPhase, joined

#: A phase that takes less of the time than this everywhere has no function of its own.
RELEVANT = 0.01
#: Phases of some workloads only are told from this share of the time on.
_SWITCH = 0.05
#: What no time is: functions of times are fitted by relative errors [s].
_LEAST_S = 1e-9

#: Phases of a workload by their key.
_Column = dict[str, PointPhase]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the application's time: a phase of all workloads, or all the rest.

    Attributes
    ----------
    key : str
        Of the phase; empty for the rest: small phases, those of some workloads only,
        and the time before and after all phases.
    calls : tuple of str
    weights : tuple of int
        At each point of the study; 1 for the rest.
    times_s : tuple of float
        Of one occurrence [s].
    """

    key: str
    calls: tuple[str, ...]
    weights: tuple[int, ...]
    times_s: tuple[float, ...]

    @property
    def totals_s(self) -> tuple[float, ...]:
        """Return time x weight at each point [s]."""
        return tuple(
            time_s * weight
            for time_s, weight in zip(self.times_s, self.weights, strict=True)
        )


def share_known(
    known: Iterable[PointPhase], point: Point, *, other_events: float = 1.0
) -> float:
    """Return how much of a run's time is in phases that were seen in another [0 to 1].

    Parameters
    ----------
    known : iterable of PointPhase
        Of the other run.
    point : Point
    other_events : float
        What the time of phases counts that have another number of events [0 to 1].
    """
    events: dict[str, set[int]] = {}
    for one in known:
        events.setdefault(one.key, set()).add(one.events)
    return math.fsum(
        point.share(one) * (1.0 if one.events in events[one.key] else other_events)
        for one in point.phases
        if one.key in events
    )


def matched(points: Sequence[Point]) -> tuple[tuple[Part, ...], tuple[Flag, ...]]:
    """Divide the time of all workloads into the same parts.

    Parameters
    ----------
    points : sequence of Point

    Returns
    -------
    tuple of Part
        The phases that all workloads have and that take 1 % of the time of at least
        one, by their share of the time, the rest last.
    tuple of Flag
        Phases that only some of the workloads have.
    """
    columns = _columns(points)
    parts = [
        Part(
            columns[0][key].key,
            columns[0][key].calls,
            tuple(column[key].weight for column in columns),
            tuple(max(column[key].time_s, _LEAST_S) for column in columns),
        )
        for key in columns[0]
        if _relevant(key, columns, points)
    ]
    parts.sort(key=lambda part: -sum(part.totals_s))
    rest = tuple(
        max(point.application_s - sum(part.totals_s[i] for part in parts), _LEAST_S)
        for i, point in enumerate(points)
    )
    flags = tuple(_switches(columns, points))
    return (*parts, Part("", (), (1,) * len(rest), rest)), flags


def _columns(points: Sequence[Point]) -> list[_Column]:
    """Return the phases of each workload by what tells which are the same.

    That is the places in the program that call MPI, unless the program was compiled
    again in between and they have moved.
    """
    found = []
    for by in ("site_key", "key"):
        columns = [
            {getattr(one, by): one for one in joined(point.phases, by=by)}
            for point in points
        ]
        common = set(columns[0]).intersection(*columns)
        covered = min(
            math.fsum(point.share(column[key]) for key in common)
            for point, column in zip(points, columns, strict=True)
        )
        found.append((covered, columns))
    (by_site, sites), (by_kind, kinds) = found
    if by_kind == 0.0:
        raise InputError(
            f"{', '.join(point.run for point in points)} have no phase in common: they "
            "ran different programs or algorithms; make a study of each"
        )
    return sites if by_site > by_kind - RELEVANT else kinds


def _relevant(key: str, columns: list[_Column], points: Sequence[Point]) -> bool:
    if not all(key in column for column in columns):
        return False
    pairs = zip(points, columns, strict=True)
    return max(point.share(column[key]) for point, column in pairs) >= RELEVANT


def _switches(columns: list[_Column], points: Sequence[Point]) -> Iterator[Flag]:
    """Tell which phases of a large share occur at some of the workloads only."""
    told = set()
    for column in columns:
        for key, phase in column.items():
            have = [p for p, c in zip(points, columns, strict=True) if key in c]
            largest = max(
                p.share(c[key])
                for p, c in zip(points, columns, strict=True)
                if key in c
            )
            if len(have) == len(points) or largest < _SWITCH or key in told:
                continue
            told.add(key)
            where = ", ".join(point.run for point in have)
            text = (
                f"a phase of {' '.join(phase.calls[:4])} ({largest:.0%} of the time) "
            )
            text += f"occurs in {where} only: an algorithm that depends on the "
            text += "workload; begin a study for each side"
            yield Flag(FlagKind.SWITCH, text)
