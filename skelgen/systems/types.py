"""Types of the systems stage: what the program printed, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the kernel of a host knows of it.

    Attributes
    ----------
    host : str
        As it calls itself.
    cpu, kernel, compiler, mpi : str
        As they name themselves; empty where nothing is known.
    cores : int
        Cores that a process may use.
    clock_hz, memory_bytes : float or None
        Highest clock rate [1/s], memory [bytes].
    networks : tuple of (str, float)
        Network cards with their nominal rate [bytes/s].
    """

    host: str
    cpu: str
    kernel: str
    compiler: str
    mpi: str
    cores: int
    clock_hz: float | None = None
    memory_bytes: float | None = None
    networks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """Rate of an operation on each of some cores.

    Attributes
    ----------
    host, name : str
    cores : int
        So many worked at the same time.
    size_bytes : int
        Working set; 0 where there is none [bytes].
    values : tuple of float
        Mean over the cores, for each repeat [1/s or bytes/s].
    queued : float or None
        Longest wait of a core's process for the core, of its time [0 to 1]; None where
        the kernel does not say.
    """

    host: str
    name: str
    cores: int
    size_bytes: int
    values: tuple[float, ...]
    queued: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredMessage:
    """Time of an MPI operation with one size of messages.

    Attributes
    ----------
    operation : str
    hosts : tuple of str
        Sorted.
    ranks, size_bytes : int
    times_s : tuple of float
        For each repeat [s].
    eager_bytes : int
        Largest message that was sent before its receive was posted; 0: not found.
    queued : float or None
        As that of a rate.
    """

    operation: str
    hosts: tuple[str, ...]
    ranks: int
    size_bytes: int
    times_s: tuple[float, ...]
    eager_bytes: int = 0
    queued: float | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """All that a run of the program printed."""

    hosts: tuple[HostFacts, ...] = ()
    rates: tuple[MeasuredRate, ...] = ()
    memory: tuple[MeasuredRate, ...] = ()
    messages: tuple[MeasuredMessage, ...] = ()
    times: tuple[MeasuredRate, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sizes for which the time is latency + size / bandwidth.

    Attributes
    ----------
    begin_bytes : int
        It holds from this size on [bytes].
    latency_s : float
        Where the line meets size 0; negative where larger sizes take longer for each
        byte than those before [s].
    bandwidth_bytes_per_s : float
        [bytes/s]; nan where only one size was measured.
    """

    begin_bytes: int
    latency_s: float
    bandwidth_bytes_per_s: float

    def time_s(self, size_bytes: float) -> float:
        """Return the time of a size [s]."""
        if math.isnan(self.bandwidth_bytes_per_s):
            return self.latency_s
        return self.latency_s + size_bytes / self.bandwidth_bytes_per_s


@dataclass(frozen=True, slots=True)
class SizeLaw:
    """Time over sizes, in stretches.

    Attributes
    ----------
    stretches : tuple of Stretch
        In the order of sizes; the first one begins at 0.
    eager_bytes : int
        Largest size below a jump of the time; 0: there is none [bytes].
    error : float
        Median relative difference of what was measured [1].
    """

    stretches: tuple[Stretch, ...]
    eager_bytes: int = 0
    error: float = 0.0

    @property
    def latency_s(self) -> float:
        """Return the latency of the smallest messages [s]."""
        return self.stretches[0].latency_s

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Return the bandwidth of the largest messages [bytes/s]."""
        return self.stretches[-1].bandwidth_bytes_per_s

    def time_s(self, size_bytes: float) -> float:
        """Return the time of a message [s]."""
        return time_in(self.stretches, size_bytes)


def time_in(stretches: Sequence[Stretch], size_bytes: float) -> float:
    """Return the time of a message by the last stretch that begins before it [s]."""
    holds = [one for one in stretches if one.begin_bytes <= size_bytes]
    return (holds or list(stretches[:1]))[-1].time_s(size_bytes)


@dataclass(frozen=True, slots=True)
class SystemFact:
    """A measured property of a host; see docs/systems.md for the names.

    Attributes
    ----------
    host, name : str
    value, low, high : float
        Median, smallest and largest of the repeats, in `unit`.
    unit : str
        ``1/s``, ``bytes/s``, ``s``, ``bytes`` or ``1``.
    cores : int
        So many worked at the same time; 0 where that means nothing.
    repeats : int
    compiler, kernel : str
    doubt : str
        Why it should not be trusted; empty for no reason.
    """

    host: str
    name: str
    value: float
    unit: str
    low: float
    high: float
    cores: int = 0
    repeats: int = 1
    compiler: str = ""
    kernel: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class OperationTimes:
    """Time of an MPI operation over sizes.

    Attributes
    ----------
    hosts : tuple of str
        Sorted.
    operation : str
        ``SR``, ``BC``, ``reduce``, ``allreduce``, ``allgather``, ``alltoall`` or
        ``barrier``.
    ranks : int
    law : SizeLaw
    points : tuple of (int, float)
        Size [bytes] and median time [s].
    repeats : int
    spread : float
        Median over the sizes of (largest - smallest) / median of the repeats [1].
    mpi : str
    doubt : str
        As that of a fact.
    """

    hosts: tuple[str, ...]
    operation: str
    ranks: int
    law: SizeLaw
    points: tuple[tuple[int, float], ...]
    repeats: int = 1
    spread: float = 0.0
    mpi: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class SystemMeasurement:
    """What was measured of some hosts."""

    facts: tuple[SystemFact, ...]
    operations: tuple[OperationTimes, ...]
