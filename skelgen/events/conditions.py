"""How a trace was taken: with which clocks, and whether its ranks had their cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.events.shared_cores import SharedCores, shared_cores
from skelgen.events.thresholds import LOADED_SHARE
from skelgen.events.touched_memory import Touched, looking_s, touched_of
from skelgen.events.unrecorded_work import unseen_of
from skelgen.trace import RankFile
from skelgen.trace.format import trace_format
from skelgen.units import NS_PER_S, format_seconds, seconds


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
        Time between calls and at work between polls, all ranks [s].
    lost_s : float
        Time of that in which the ranks did not have a core [s]: the sum of the
        following four.
    queued_s : float
        They waited in the run queue: other processes had their cores [s]. It is no part
        of the computation of a signature.
    devices_s : float
        They waited while they read or wrote files [s].
    slept_s : float
        They slept, or waited for anything else: threads, children, a GPU [s].
    unknown_s : float
        The kernel did not say, or the trace is an older or a killed one [s].
    pressure : float or None
        Time in which something on a machine waited for a core / time of the run, of
        the machine where it is largest [1]; None where no kernel says.
    usage_queries : int
        How often the program asked for its CPU time outside MPI.
    touched : Touched or None
        What memory computation touches; None where the recorder saw nothing of it.
    looking_s : float
        What the recorder took to see it, all ranks [s].
    apart : bool
        Whether each gap says how long a rank slept in it, and how long others had its
        core: then skeletons sleep, too.
    own_threads : bool
        Other threads of the ranks computed as well: they may have had the cores.
    shared_cores : SharedCores or None
        Ranks that had to share cores: they waited for each other.
    """

    clock: str
    clocks: int
    clock_error_s: float | None
    computed_s: float
    lost_s: float
    queued_s: float
    devices_s: float
    slept_s: float
    unknown_s: float
    pressure: float | None
    usage_queries: int
    touched: Touched | None
    looking_s: float
    apart: bool
    own_threads: bool = False
    shared_cores: SharedCores | None = None

    @property
    def lost_share(self) -> float:
        """Return the share of the computation without a core [0 to 1]."""
        return self.share(self.lost_s)

    @property
    def queued_share(self) -> float:
        """Return the share of the computation that other processes took [0 to 1]."""
        return self.share(self.queued_s)

    def share(self, part_s: float) -> float:
        """Return a part of the computation as a share of it [0 to 1]."""
        return min(part_s / self.computed_s, 1.0) if self.computed_s else 0.0

    @property
    def queries_per_s(self) -> float:
        """Return how often a second of computation asked for its CPU time [1/s]."""
        return self.usage_queries / self.computed_s if self.computed_s else 0.0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what makes times of this trace less certain."""
        said = (self._loaded(), self._idle(), self._unknown())
        return tuple(text for text in said if text)

    def _loaded(self) -> str:
        if self.queued_share <= LOADED_SHARE:
            return ""
        wanted_s = max(self.computed_s - self.slept_s - self.devices_s, self.queued_s)
        where = self.shared_cores or "this trace was taken on a loaded machine"
        return (
            f"{where}: the ranks waited for a core for "
            f"{format_seconds(self.queued_s)} of the {format_seconds(wanted_s)} in "
            f"which they could compute ({self.queued_s / wanted_s:.0%} lost)"
            f"{self._taken_out()}; {self._again()}"
        )

    def _again(self) -> str:
        if self.shared_cores:
            return (
                "that is so wherever they share cores; for other nodes record with a "
                "core for each rank"
            )
        if not self.own_threads:
            return "record again when it is quiet"
        return (
            "other threads of the ranks computed, too, and may have had the cores: "
            "record again with one thread in each rank (OMP_NUM_THREADS=1), or when it "
            "is quiet"
        )

    def _taken_out(self) -> str:
        if not self.apart:
            return ""
        return "; it is no part of the computation, but MPI calls waited longer for it"

    def _idle(self) -> str:
        parts = [
            f"{what} for {format_seconds(part_s)} ({self.share(part_s):.0%})"
            for what, part_s in (
                ("slept", self.slept_s),
                ("waited for files", self.devices_s),
            )
            if self.share(part_s) > LOADED_SHARE
        ]
        if not parts:
            return ""
        return (
            f"of the {format_seconds(self.computed_s)} between calls the ranks "
            f"{' and '.join(parts)}: a skeleton {self._instead()}"
        )

    def _instead(self) -> str:
        if self.apart:
            return "sleeps there, too"
        return (
            "computes instead, so it feels other processes more than the application "
            "does"
        )

    def _unknown(self) -> str:
        if self.share(self.unknown_s) <= LOADED_SHARE:
            return ""
        had_s = max(self.computed_s - self.lost_s, 0.0)
        hint = ""
        if self.pressure is not None:
            hint = f" (CPU pressure of the machine: {self.pressure:.0%})"
        return (
            f"the ranks computed for {format_seconds(self.computed_s)} but had their "
            f"cores for {format_seconds(had_s)} of it: other processes had them, or "
            f"the ranks slept; the trace does not say which{hint}. If the machine was "
            "loaded, record again when it is quiet"
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
    lost_s, queued_s, devices_s, slept_s, unknown_s = (
        sum(part) / 1e6 for part in zip(*map(_without_core_us, files), strict=True)
    )
    error_ns = max((max(errors) for errors in others if errors), default=0)
    return Conditions(
        clock=" and ".join(names[kind] for kind in kinds),
        clocks=len(hosts),
        clock_error_s=error_ns / NS_PER_S if compared else None,
        computed_s=seconds(
            sum(f.facts.compute_units * f.header.unit_ns for f in files)
        ),
        lost_s=lost_s,
        queued_s=queued_s,
        devices_s=devices_s,
        slept_s=slept_s,
        unknown_s=unknown_s,
        pressure=_pressure(files),
        usage_queries=sum(file.definitions.usage_queries for file in files),
        touched=touched_of(files),
        looking_s=looking_s(files),
        apart=all(told_apart(files)),
        own_threads=_own_threads(files, queued_s),
        shared_cores=shared_cores(files),
    )


def _own_threads(files: Sequence[RankFile], queued_s: float) -> bool:
    """Say whether other threads of the ranks explain that these waited for a core."""
    if len({file.header.world_rank for file in files}) < len(files):
        return True
    unseen = unseen_of(files)
    return unseen is not None and unseen.threads.time_s > queued_s


def told_apart(files: Sequence[RankFile]) -> list[bool]:
    """Say of which files each gap tells sleep and waits for a core apart.

    Older recorders knew sums only. Of ranks with several threads one may compute while
    another sleeps.
    """
    threads = Counter(file.header.world_rank for file in files)
    return [
        threads[file.header.world_rank] == 1
        and (file.facts.told_us > 0 or not file.facts.lost_us)
        for file in files
    ]


def _without_core_us(file: RankFile) -> tuple[int, int, int, int, int]:
    """Return for how long a thread had no core between calls, and why [us].

    In all, in the run queue, for files, asleep, and for reasons that are not known.
    """
    facts, load = file.facts, file.definitions.load
    lost_us, told_us, queued_us = facts.lost_us, facts.told_us, facts.queued_us
    devices_us = 0
    if load is not None and load.queued_us is not None:
        told_us, queued_us = lost_us, min(load.queued_us, lost_us)
        devices_us = min(load.devices_us, lost_us - queued_us)
    slept_us = told_us - queued_us - devices_us
    return lost_us, queued_us, devices_us, slept_us, lost_us - told_us


def _pressure(files: Sequence[RankFile]) -> float | None:
    """Return the largest CPU pressure of a machine during the run [0 to 1]."""
    shares = [
        load.pressure_us * 1e3 / elapsed_ns
        for file in files
        if (load := file.definitions.load) is not None
        and load.pressure_us is not None
        and (clocks := file.definitions.clocks)
        and (elapsed_ns := clocks[-1].monotonic_ns - clocks[0].monotonic_ns) > 0
    ]
    return min(max(shares), 1.0) if shares else None
