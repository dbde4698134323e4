"""How a trace was taken: with which clocks, and whether its ranks had their cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.events.passed import unit_ns
from skelgen.trace import RankFile
from skelgen.trace.format import trace_format
from skelgen.units import NS_PER_S, format_seconds, seconds

#: Above this share of lost computation the machine was not quiet [1].
LOADED = 0.03


@dataclass(frozen=True, slots=True)
class Conditions:
    """Clocks and load of a recorded run.

    Attributes
    ----------
    clock : str
        ``time stamp counter`` or ``CLOCK_MONOTONIC``.
    clocks : int
        Clocks that differ: one for each host.
    clock_error_s : float or None
        How well the clocks are known to agree [s]; None when one was not compared.
    computed_s : float
        Time between calls, all ranks [s].
    lost_s : float
        Time of that in which the ranks did not have their core [s].
    usage_queries : int
        How often the program asked for its CPU time outside MPI.
    """

    clock: str
    clocks: int
    clock_error_s: float | None
    computed_s: float
    lost_s: float
    usage_queries: int

    @property
    def lost_share(self) -> float:
        """Return the share of the computation that was lost [0 to 1]."""
        return min(self.lost_s / self.computed_s, 1.0) if self.computed_s else 0.0

    @property
    def queries_per_s(self) -> float:
        """Return how often a second of computation asked for its CPU time [1/s]."""
        return self.usage_queries / self.computed_s if self.computed_s else 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what makes times of this trace less certain."""
        if self.lost_share <= LOADED:
            return ()
        had_s = max(self.computed_s - self.lost_s, 0.0)
        return (
            "this trace was taken on a loaded machine: the ranks computed for "
            f"{format_seconds(self.computed_s)} but had their cores for "
            f"{format_seconds(had_s)} of it ({self.lost_share:.0%} lost); record again "
            "when it is quiet",
        )

    def __str__(self) -> str:
        """Describe the clocks for people."""
        if self.clocks == 1:
            return f"{self.clock}, one for all ranks"
        known = "not all compared: wall clocks are trusted"
        if self.clock_error_s is not None:
            known = f"known to within {format_seconds(self.clock_error_s)}"
        return f"{self.clock} of {self.clocks} hosts, {known}"


def conditions(files: Sequence[RankFile]) -> Conditions:
    """Find out how a trace was taken."""
    tsc = trace_format()["CLOCK_TSC"]
    kinds = sorted({file.header.clock_kind == tsc for file in files}, reverse=True)
    names = ("CLOCK_MONOTONIC", "time stamp counter")
    hosts: dict[str, list[int]] = {}
    for file in files:
        errors = hosts.setdefault(file.header.boot_id or file.header.host, [])
        errors += [sample.error_ns for sample in file.definitions.offsets]
    # The first one's clock is the reference.
    others = list(hosts.values())[1:]
    compared = all(others)
    error_ns = max((max(errors) for errors in others if errors), default=0)
    return Conditions(
        clock=" and ".join(names[kind] for kind in kinds),
        clocks=len(hosts),
        clock_error_s=error_ns / NS_PER_S if compared else None,
        computed_s=seconds(sum(f.facts.compute_units * unit_ns(f) for f in files)),
        lost_s=sum(file.facts.lost_us for file in files) / 1e6,
        usage_queries=sum(file.definitions.usage_queries for file in files),
    )
