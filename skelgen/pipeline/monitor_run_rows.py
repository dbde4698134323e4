"""What the store keeps of a watched run: what nodes saw, and their series meanwhile."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from skelgen.errors import SkelgenError, UsageError
from skelgen.launch.allocation import batch_job
from skelgen.launch.files import file_hashes
from skelgen.monitor.averages import Curve, avg_min, min_avg
from skelgen.monitor.series import HostHistory
from skelgen.monitor.sightings import Sighting
from skelgen.pipeline.monitor_run_joins import WatchedRun
from skelgen.pipeline.store_typed_runs import filled, inputs_of
from skelgen.store import Run

logger = logging.getLogger(__name__)

#: What a run counts of interfaces, by series.
_BYTES = {
    "received_bytes_per_s:": "received_bytes",
    "sent_bytes_per_s:": "sent_bytes",
}


def row_of_run(one: WatchedRun, found: Sequence[HostHistory]) -> Run:
    """Return the row of a run: its time, status and costs, and the loads meanwhile.

    Parameters
    ----------
    one : WatchedRun
    found : sequence of HostHistory
        Of its nodes, as far as they are known.
    """
    first = one.sightings[0]
    size = first.size or (
        1 if sum(sighting.processes for sighting in one.sightings) == 1 else 0
    )
    known = {
        name: value
        for sighting in one.sightings
        for name, value in _jobs(sighting).items()
    }
    inputs = next(
        (sighting.inputs for sighting in one.sightings if sighting.inputs), ""
    )
    run = Run(
        application=first.application,
        time_s=one.time_s,
        ranks=size,
        executable=_executable(one),
        inputs=_inputs(inputs),
        hosts=one.hosts,
        allocation=batch_job(known),
        started=one.began,
        status=one.status,
        loads=tuple(sorted(loads(found, one.began, one.began + one.time_s).items())),
        costs=tuple(sorted({**_costs(one), **_bytes(one, found)}.items())),
        source=f"monitor of {','.join(one.hosts)}",
        identity=one.identity,
    )
    return filled(run)


def _jobs(sighting: Sighting) -> Mapping[str, str]:
    return sighting.jobs or {}


def _inputs(text: str) -> tuple[tuple[str, float | str], ...]:
    """Read inputs as the user named them; what cannot be read stays a word."""
    if not text.strip():
        return ()
    try:
        return inputs_of([text])
    except UsageError as error:
        logger.warning("SKELGEN_INPUTS=%s: %s", text[:60], error)
        return (("inputs", text[:1000]),)


def _executable(one: WatchedRun) -> str:
    """Return the hash of the program, if its file is the one that ran."""
    program = one.sightings[0].program
    with contextlib.suppress(OSError, SkelgenError):
        if program and Path(program).stat().st_mtime <= one.began:
            hashes = file_hashes([program])
            return hashes[0][1] if hashes else ""
    return ""


def _costs(one: WatchedRun) -> dict[str, float]:
    total: dict[str, float] = {}
    for sighting in one.sightings:
        for name, value in (sighting.costs or {}).items():
            total[name] = total.get(name, 0.0) + value
    return total


def _bytes(one: WatchedRun, found: Sequence[HostHistory]) -> dict[str, float]:
    """Return the bytes on all interfaces of the nodes during the run."""
    total: dict[str, float] = {}
    for history in found:
        for name, curve in history.curves.items():
            for begin, cost in _BYTES.items():
                if name.startswith(begin):
                    mean = avg_min([curve], one.began, one.began + one.time_s).value
                    if math.isfinite(mean):
                        total[cost] = total.get(cost, 0.0) + round(mean * one.time_s)
    return total


def loads(found: Sequence[HostHistory], begin: float, end: float) -> dict[str, float]:
    """Return the loads of nodes during a run, without that of the run itself.

    Parameters
    ----------
    found : sequence of HostHistory
        Of the nodes.
    begin, end : float
        Of the run, seconds since 1970 in UTC [s].

    Returns
    -------
    dict of str to float
        ``cpu_start`` before it began, and the averages ``cpu_avg_min`` and
        ``cpu_min_avg``; those that are not known are left out.
    """
    curves = [_others(history) for history in found]
    if not curves or any(curve is None for curve in curves):
        return {}
    known = [curve for curve in curves if curve is not None]
    before = [_before(curve, begin) for curve in known]
    values = {
        "cpu_start": min(before),
        "cpu_avg_min": avg_min(known, begin, end).value,
        "cpu_min_avg": min_avg(known, begin, end).value,
    }
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _others(history: HostHistory) -> Curve | None:
    """Return the CPU that others left on a node.

    While an application is watched that is a series of its own.
    """
    cpu, left = history.curves.get("cpu"), history.curves.get("cpu_left")
    if cpu is None or left is None:
        return cpu
    known = dict(zip(left.times, left.values, strict=True))
    pairs = zip(cpu.times, cpu.values, strict=True)
    return Curve(cpu.times, [known.get(time, value) for time, value in pairs])


def _before(curve: Curve, begin: float) -> float:
    """Return the last value before a time; nan where there is none."""
    values = [v for t, v in zip(curve.times, curve.values, strict=True) if t <= begin]
    return values[-1] if values else math.nan
