"""Join what nodes saw of a launch: sightings in, runs out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from skelgen.monitor.sightings import Sighting

#: Clocks of nodes, and ranks of one launch, may begin so far apart [s].
_APART_S = 300.0


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """A run of a watched application, from all nodes that told of it.

    Attributes
    ----------
    sightings : tuple of Sighting
        In the order of their smallest ranks.
    """

    sightings: tuple[Sighting, ...]

    @property
    def ranks(self) -> frozenset[int]:
        """Return the ranks that were seen."""
        return frozenset(rank for sighting in self.sightings for rank in sighting.ranks)

    @property
    def complete(self) -> bool:
        """Return whether all ranks of the launch were seen."""
        first = self.sightings[0]
        return not first.key or len(self.ranks) >= first.size

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the hosts, each once."""
        return tuple(dict.fromkeys(sighting.host for sighting in self.sightings))

    @property
    def began(self) -> float:
        """Return when its first process began, seconds since 1970 in UTC [s]."""
        return min(sighting.began for sighting in self.sightings)

    @property
    def time_s(self) -> float:
        """Return the time until its last process ended [s]."""
        if len(self.sightings) == 1:
            return self.sightings[0].time_s
        return max(sighting.end for sighting in self.sightings) - self.began

    @property
    def identity(self) -> str:
        """Return the same for the same run, whoever joins its sightings."""
        text = "\n".join(sorted(sighting.identity for sighting in self.sightings))
        return hashlib.sha256(f"watched\n{text}".encode()).hexdigest()[:32]

    @property
    def status(self) -> str:
        """Return how it ended: what failed first is the cause."""
        order = sorted(self.sightings, key=lambda sighting: sighting.end)
        bad = [sighting.status for sighting in order if sighting.status != "ok"]
        told = [one for one in bad if one not in ("unknown", "unseen")]
        return (told or ["unseen"] * ("unseen" in bad) or bad or ["ok"])[0]


def joined(sightings: Iterable[Sighting]) -> list[WatchedRun]:
    """Join the sightings of runs by their launches.

    Several runs of one launch, as of a script that runs a program twice in each task of
    a job step, are told apart by their ranks: no rank is in a run twice.

    Parameters
    ----------
    sightings : iterable of Sighting
        Of any hosts, in any order.
    """
    found: list[list[Sighting]] = []
    open_: dict[tuple[str, str, int], list[list[Sighting]]] = {}
    for sighting in sorted(sightings, key=lambda one: (one.began, one.identity)):
        if not sighting.key:
            found.append([sighting])
            continue
        same = open_.setdefault((sighting.application, sighting.key, sighting.size), [])
        for run in same:
            taken = {rank for one in run for rank in one.ranks}
            near = sighting.began <= max(one.end for one in run) + _APART_S
            if near and not taken & set(sighting.ranks):
                run.append(sighting)
                break
        else:
            same.append([sighting])
            found.append(same[-1])
    return [
        WatchedRun(tuple(sorted(run, key=lambda p: (p.ranks or (0,), p.host))))
        for run in found
    ]
