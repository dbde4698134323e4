"""Types of a workload study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skelgen.errors import InputError
from skelgen.models.planning import Range
from skelgen.models.runs import LARGEST, SMALLEST
from skelgen.phases.types import Phase

#: Value of each dimension of a workload, by name: n=2500, iterations=200.
Workload = dict[str, float]

#: The dimension that every run has, whatever it is run with.
RANKS = "ranks"


def written(workload: Mapping[str, float]) -> str:
    """Write a workload as it is given: ``n=2500, iterations=200``."""
    return ", ".join(f"{name}={value:g}" for name, value in workload.items())


@dataclass(frozen=True, slots=True)
class PointPhase:
    """A phase at one workload.

    Attributes
    ----------
    key, site_key : str
        The same for the same structure in other runs, as in `skelgen.phases.Phase`.
    calls : tuple of str
        MPI functions of an occurrence.
    events : int
        Whole matched events of an occurrence.
    weight : int
        Occurrences.
    time_s : float
        Mean time of an occurrence [s].
    recorded_s : float
        Where occurrences were executed alone: what they took in the recording [s].
    """

    key: str
    site_key: str
    calls: tuple[str, ...]
    events: int
    weight: int
    time_s: float
    recorded_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Return time x weight [s]."""
        return self.time_s * self.weight


@dataclass(frozen=True, slots=True)
class Point:
    """A recorded workload.

    Attributes
    ----------
    at : tuple of (str, float)
        Value of each dimension.
    run : str
        Name of the folder of the recorded run.
    ranks : int
    application_s : float
        Time from ``MPI_Init`` to ``MPI_Finalize`` (AET) [s].
    phases : tuple of PointPhase
        Each structure once, in the order of the first occurrences.
    measured : bool
        Phases were executed, not the whole application: some may be missing, and what
        lies outside of them is not known.
    others : tuple of tuple of PointPhase
        The run cut into phases in other ways.
    half_width : float
        Where it was measured half the 90 % interval of its time, as a share of it [1].
    """

    at: tuple[tuple[str, float], ...]
    run: str
    ranks: int
    application_s: float
    phases: tuple[PointPhase, ...]
    measured: bool = False
    others: tuple[tuple[PointPhase, ...], ...] = ()
    half_width: float = 0.0

    @property
    def cuts(self) -> tuple[tuple[PointPhase, ...], ...]:
        """The phases, cut in all ways."""
        return self.phases, *self.others

    def share(self, phase: PointPhase) -> float:
        """Return the part of the application's time in a phase [0 to 1]."""
        return phase.total_s / self.application_s if self.application_s else 0.0


@dataclass(frozen=True, slots=True)
class Study:
    """The recorded workloads of one program on one machine.

    Attributes
    ----------
    command : tuple of str
        Launch of the program, ``{n}`` where the value of dimension n belongs.
    ranges : tuple of Range
        Values for which predictions are wanted.
    points : tuple of Point
        In the order in which they were added.
    """

    command: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    points: tuple[Point, ...] = ()

    def with_point(self, point: Point) -> Study:
        """Add a recorded workload.

        Raises
        ------
        InputError
            When it has other dimensions than those before, or no phase in common with
            them, or is one of them, or its ranks are not as it is said.
        """
        point = _checked(without_ranks(point))
        names = sorted(name for name, _ in point.at)
        known = sorted(one.name for one in self.ranges if one.name != RANKS)
        if not self.points:
            if self.ranges and not set(known) <= set(names):
                raise InputError(
                    f"{point.run}: the workload has {', '.join(names)}, the study "
                    f"ranges of {', '.join(known)}; give all of these with --at"
                )
            return replace(self, points=(point,))
        first = self.points[0]
        if names != sorted(name for name, _ in first.at):
            raise InputError(
                f"{point.run}: the workload has {', '.join(names)}, that of "
                f"{first.run} has {', '.join(sorted(dict(first.at)))}; give the same "
                "dimensions with --at"
            )
        for one in self.points:
            if (one.run, one.application_s) == (point.run, point.application_s):
                at = ",".join(f"{name}={value:g}" for name, value in one.at)
                raise InputError(f"{point.run} is in the study already, as {at}")
        by = same_by(first, point)
        keys = [
            {getattr(one, by) for cut in each.cuts for one in cut}
            for each in (first, point)
        ]
        if not keys[0] & keys[1]:
            raise InputError(
                f"{point.run} and {first.run} have no phase in common: that is another "
                "program or algorithm; begin another study for it"
            )
        return replace(self, points=(*self.points, point))

    @property
    def workloads(self) -> list[Workload]:
        """The recorded workloads, with their ranks where these vary or shall vary."""
        counted = any(one.name == RANKS for one in self.ranges)
        return workloads_of(self.points, ranks=counted or ranks_vary(self.points))


def workloads_of(points: Sequence[Point], *, ranks: bool) -> list[Workload]:
    """Return the workloads of points, with the number of ranks among the dimensions."""
    return [
        dict(one.at) | ({RANKS: float(one.ranks)} if ranks else {}) for one in points
    ]


def ranks_vary(points: Sequence[Point]) -> bool:
    """Say whether runs of different numbers of ranks are among points."""
    return len({one.ranks for one in points}) > 1


def without_ranks(point: Point) -> Point:
    """Return a point whose number of ranks is no dimension: every run has one.

    Raises
    ------
    InputError
        When it is said to be another than the run has.
    """
    at = dict(point.at)
    said = at.pop(RANKS, float(point.ranks))
    if said != point.ranks:
        raise InputError(
            f"{point.run} has {point.ranks} ranks, --at says {said:g}; leave ranks out"
        )
    return replace(point, at=tuple(at.items()))


def _checked(point: Point) -> Point:
    """Refuse a size that models could not compute with."""
    for name, value in point.at:
        if value and not SMALLEST <= value <= LARGEST:
            raise InputError(
                f"{point.run}: {name} is {value:g}; a model takes 0, and numbers from "
                f"{SMALLEST:g} to {LARGEST:g}; give it in another unit"
            )
    return point


def same_by(one: Point, other: Point) -> str:
    """Return what tells which phases of two runs are the same.

    With other ranks there are other partners, so only the MPI functions that the first
    rank calls are the same.
    """
    return "key" if one.ranks == other.ranks else "calls"


def point_phases(
    phases: Iterable[Phase], times_s: Iterable[float] | None = None
) -> tuple[PointPhase, ...]:
    """Take what a study needs of the phases of a run.

    Parameters
    ----------
    phases : iterable of Phase
        As recorded.
    times_s : iterable of float, optional
        What an occurrence of each took when they were executed alone [s].
    """
    found = [
        PointPhase(
            *(one.key, one.site_key, one.calls, one.events, one.weight, one.time_s)
        )
        for one in phases
    ]
    if times_s is not None:
        found = [
            replace(one, time_s=time_s, recorded_s=one.time_s)
            for one, time_s in zip(found, times_s, strict=True)
        ]
    return joined(found, by="site_key")


def joined(phases: Iterable[PointPhase], *, by: str) -> tuple[PointPhase, ...]:
    """Join phases that have a key in common: ``key``, ``site_key`` or ``calls``.

    Phases of one structure that differ in their times do so by chance in some runs.
    """
    together: dict[str | tuple[str, ...], list[PointPhase]] = {}
    for phase in phases:
        together.setdefault(getattr(phase, by), []).append(phase)
    found = []
    for alike in together.values():
        weight = sum(phase.weight for phase in alike)
        here_s, there_s = (
            math.fsum(getattr(phase, name) * phase.weight for phase in alike) / weight
            for name in ("time_s", "recorded_s")
        )
        usual = max(alike, key=lambda phase: phase.weight)
        found.append(replace(usual, weight=weight, time_s=here_s, recorded_s=there_s))
    return tuple(found)
