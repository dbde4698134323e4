"""Turn what was measured into facts: medians with their spread, caches, laws."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from skelgen.systems.caches import cache_sizes
from skelgen.systems.doubts import doubt_of, spread_of
from skelgen.systems.fitting import fit_times
from skelgen.systems.types import (
    HostFacts,
    MeasuredMessage,
    MeasuredRate,
    OperationTimes,
    Printed,
    SystemFact,
    SystemMeasurement,
)

#: The operation of two ranks, as the 2005 paper has it.
SEND_RECEIVE = "SR"
#: Sizes of which a bandwidth is a fact: powers of two.
_UNITS = ((1 << 30, "gib"), (1 << 20, "mib"), (1 << 10, "kib"), (1, "b"))
#: Name and unit of what is measured for each size.
_OF_SIZES = {"read": "bytes/s", "write": "bytes/s", "chase": "s"}


def measurement_of(printed: Iterable[Printed]) -> SystemMeasurement:
    """Return the facts of what some runs of the program printed."""
    runs = tuple(printed)
    hosts = {one.host: one for run in runs for one in run.hosts}
    facts: list[SystemFact] = []
    for known in hosts.values():
        facts += _of_kernel(known)
    for run in runs:
        facts += [_fact(one, one.name, "1/s", hosts) for one in run.rates]
        facts += _of_memory(run.memory, hosts)
    messages = [one for run in runs for one in run.messages]
    return SystemMeasurement(tuple(facts), tuple(_operations(messages, hosts)))


def benchmark_fact(
    name: str, times: Sequence[MeasuredRate], known: HostFacts | None
) -> SystemFact:
    """Return the rate of the user's own benchmark on a host.

    Parameters
    ----------
    name : str
        Of its program.
    times : sequence of MeasuredRate
        Of each run, 1 / time [1/s].
    known : HostFacts or None
        What is known of the host.
    """
    values = tuple(value for one in times for value in one.values)
    queued = [one.queued for one in times if one.queued is not None]
    joined = MeasuredRate(
        times[0].host, "time", 1, 0, values, max(queued, default=None)
    )
    hosts = {} if known is None else {known.host: known}
    return _fact(joined, f"platform_contribution:{name}", "1/s", hosts)


def size_name(size_bytes: int) -> str:
    """Return a size as names of facts have it.

    Examples
    --------
    >>> size_name(16 << 20), size_name(512)
    ('16mib', '512b')
    """
    factor, unit = next(one for one in _UNITS if size_bytes % one[0] == 0)
    return f"{size_bytes // factor}{unit}"


def _fact(
    measured: MeasuredRate,
    name: str,
    unit: str,
    hosts: Mapping[str, HostFacts],
    *,
    inverse: bool = False,
) -> SystemFact:
    values = [1 / one for one in measured.values] if inverse else measured.values
    known = hosts.get(measured.host)
    return SystemFact(
        host=measured.host,
        name=name,
        value=statistics.median(values),
        unit=unit,
        low=min(values),
        high=max(values),
        cores=measured.cores,
        repeats=len(values),
        compiler="" if known is None else known.compiler,
        kernel="" if known is None else known.kernel,
        doubt=doubt_of(spread_of(values), measured.queued),
    )


def _of_kernel(known: HostFacts) -> Iterator[SystemFact]:
    """Yield what the kernel says, which is measured by nobody."""
    fastest = max((rate for _, rate in known.networks), default=None)
    for name, value, unit in (
        ("cores", float(known.cores), "1"),
        ("clock", known.clock_hz, "1/s"),
        ("memory", known.memory_bytes, "bytes"),
        ("network_nominal", fastest, "bytes/s"),
    ):
        if value is not None:
            yield SystemFact(
                known.host,
                name,
                value,
                unit,
                low=value,
                high=value,
                compiler=known.compiler,
                kernel=known.kernel,
            )


def _of_memory(
    memory: Sequence[MeasuredRate], hosts: Mapping[str, HostFacts]
) -> Iterator[SystemFact]:
    """Yield bandwidths and latencies of whole powers of two, and cache sizes."""
    sweeps: dict[tuple[str, int], list[MeasuredRate]] = defaultdict(list)
    for one in memory:
        unit = _OF_SIZES.get(one.name)
        if unit is None:
            continue
        is_time = unit == "s"
        if is_time:
            sweeps[one.host, one.cores].append(one)
        if one.size_bytes & (one.size_bytes - 1) == 0:
            name = "latency" if is_time else one.name
            name = f"{name}_{size_name(one.size_bytes)}"
            yield _fact(one, name, unit, hosts, inverse=is_time)
    for sweep in sweeps.values():
        yield from _caches(sweep, hosts)


def _caches(
    sweep: Sequence[MeasuredRate], hosts: Mapping[str, HostFacts]
) -> Iterator[SystemFact]:
    sweep = sorted(sweep, key=lambda one: one.size_bytes)
    found = cache_sizes(
        [one.size_bytes for one in sweep], [1 / max(one.values) for one in sweep]
    )
    known = hosts.get(sweep[0].host)
    queued = [one.queued for one in sweep if one.queued is not None]
    for level, cache in enumerate(found, start=1):
        yield SystemFact(
            sweep[0].host,
            f"cache_{level}",
            float(cache.size_bytes),
            "bytes",
            low=float(cache.size_bytes),
            high=float(cache.next_bytes),
            cores=sweep[0].cores,
            repeats=len(sweep[0].values),
            compiler="" if known is None else known.compiler,
            kernel="" if known is None else known.kernel,
            doubt=doubt_of(0.0, statistics.median(queued) if queued else None),
        )


def _operations(
    messages: Sequence[MeasuredMessage], hosts: Mapping[str, HostFacts]
) -> Iterator[OperationTimes]:
    """Yield the law of each operation on each set of hosts and number of ranks."""
    by_operation: dict[tuple[tuple[str, ...], str, int], list[MeasuredMessage]]
    by_operation = defaultdict(list)
    for one in messages:
        by_operation[one.hosts, one.operation, one.ranks].append(one)
    for (names, operation, ranks), alike in by_operation.items():
        by_size = {one.size_bytes: one for one in alike}
        points = tuple(
            (size, statistics.median(by_size[size].times_s)) for size in sorted(by_size)
        )
        known = next((hosts[name] for name in names if name in hosts), None)
        spread = statistics.median(spread_of(one.times_s) for one in alike)
        queued = max(
            (one.queued for one in alike if one.queued is not None), default=None
        )
        law = fit_times(
            [size for size, _ in points],
            [time_s for _, time_s in points],
            eager_bytes=alike[0].eager_bytes,
        )
        # Between collectives a jump is another algorithm: it is a stretch, no limit.
        law = law if operation == SEND_RECEIVE else replace(law, eager_bytes=0)
        yield OperationTimes(
            hosts=names,
            operation=operation,
            ranks=ranks,
            law=law,
            points=points,
            repeats=min(len(one.times_s) for one in alike),
            spread=spread,
            mpi="" if known is None else known.mpi,
            doubt=doubt_of(spread, queued),
        )
