"""The loads of runs: what series of their nodes say of the time in which they ran."""

from __future__ import annotations

import bisect
import itertools
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import InputError
from skelgen.monitor.averages import Curve, avg_min, min_avg
from skelgen.monitor.series import HostHistory
from skelgen.pipeline.load_files import read_loads
from skelgen.pipeline.monitor_links import link_histories
from skelgen.pipeline.monitor_run_rows import loads as node_loads
from skelgen.pipeline.monitor_series import histories
from skelgen.store import Run, Series, open_store
from skelgen.store.sampling import known_series

if TYPE_CHECKING:
    from skelgen.pipeline.load_series import LoadSource

logger = logging.getLogger(__name__)

#: Samples before a start that say how it was, and after an end that speak for it [s].
_BEFORE_S, _AFTER_S = 3600.0, 3600.0

#: Part of a run of which the load has to be known.
KNOWN = 0.8


@dataclass(frozen=True, slots=True)
class MeasuredLoads:
    """What was measured during a time.

    Attributes
    ----------
    values : mapping of str to float
        As a run has them: ``cpu_start``, ``cpu_avg_min``, ``bandwidth_avg_min``, ...
    covered : float
        Part of the time for which the load of all nodes is known [0 to 1].
    apart : bool
        Whether monitors watched the run, and so know what others left without it.
    """

    values: Mapping[str, float]
    covered: float
    apart: bool


def measured_loads(
    source: LoadSource, nodes: Sequence[str], begin: float, end: float
) -> MeasuredLoads:
    """Return what others left of nodes, and of the links between them, in a time.

    Parameters
    ----------
    source : LoadSource
    nodes : sequence of str
    begin, end : float
        Seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        When there are no series of a node.
    """
    around = begin - _BEFORE_S, end + _AFTER_S
    if source.file is not None:
        hosts, links = _of_file(source.file, nodes)
    elif source.store:
        hosts, links = _of_store(source.store, nodes, *around)
    else:
        hosts = histories(nodes, *around)
        links = link_histories(nodes, *around) if len(nodes) > 1 else []
    return _during(hosts, links, begin, end)


def with_loads(runs: Sequence[Run], place: str | None) -> list[Run]:
    """Return runs of a store; those without loads get what its series say.

    A series has the run itself in it from its start on, unless a monitor watched it:
    then only the loads at the start are known, and those of links in any case.

    Parameters
    ----------
    runs : sequence of Run
    place : str or None
        Of the store.
    """
    lacking = [one for one in runs if _may_have(one)]
    if not lacking:
        return list(runs)
    hosts = sorted({name for one in lacking for name in one.hosts})
    begin = min(one.started for one in lacking) - _BEFORE_S
    end = max(one.started + one.time_s for one in lacking) + _AFTER_S
    known = _series(place, hosts, begin, end)
    if not known:
        return list(runs)
    found = {id(one): _of_run(one, known) for one in lacking}
    if unknown := sum(not values for values in found.values()):
        logger.info("runs whose nodes have no series of their time: %d", unknown)
    return [
        replace(one, loads=tuple(sorted(values.items())))
        if (values := found.get(id(one)))
        else one
        for one in runs
    ]


def _may_have(run: Run) -> bool:
    return not run.loads and bool(run.hosts) and math.isfinite(run.started)


def _of_run(run: Run, known: Mapping[str, HostHistory]) -> dict[str, float]:
    """Return the loads of a run, without that of the run itself."""
    if not all(name in known for name in run.hosts):
        return {}
    names = sorted(set(run.hosts))
    links = [known[name] for name in _links(names) if name in known]
    end = run.started + run.time_s
    found = _during([known[name] for name in names], links, run.started, end)
    averages = found.apart and found.covered >= KNOWN
    return {
        name: value
        for name, value in found.values.items()
        if name.endswith("_start") or (averages and name.startswith("cpu"))
    }


def _during(
    hosts: Sequence[HostHistory], links: Sequence[HostHistory], begin: float, end: float
) -> MeasuredLoads:
    around = [_cut(one, begin - _BEFORE_S, end + _AFTER_S) for one in hosts]
    values = node_loads(around, begin, end)
    curves = [one.curves["cpu"] for one in around if "cpu" in one.curves]
    covered = avg_min(curves, begin, end).covered if len(curves) == len(hosts) else 0.0
    wide = [
        _cut(one, begin - _BEFORE_S, end + _AFTER_S).curves["bandwidth"]
        for one in links
        if "bandwidth" in one.curves
    ]
    if wide:
        values |= {
            "bandwidth_start": min(_before(one, begin) for one in wide),
            "bandwidth_avg_min": avg_min(wide, begin, end).value,
            "bandwidth_min_avg": min_avg(wide, begin, end).value,
        }
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    apart = all(_is_apart(one, begin, end) for one in around)
    return MeasuredLoads(known, covered, apart)


def _is_apart(history: HostHistory, begin: float, end: float) -> bool:
    left = history.curves.get("cpu_left")
    return left is not None and any(begin < time <= end for time in left.times)


def _before(curve: Curve, begin: float) -> float:
    """Return the last value before a time; nan where there is none."""
    at = bisect.bisect_right(curve.times, begin)
    return curve.values[at - 1] if at else math.nan


def _cut(history: HostHistory, begin: float, end: float) -> HostHistory:
    """Return the part of a history that says something of a time."""
    curves = {}
    for name, curve in history.curves.items():
        first = bisect.bisect_left(curve.times, begin)
        last = bisect.bisect_right(curve.times, end)
        curves[name] = Curve(curve.times[first:last], curve.values[first:last])
    return HostHistory(history.host, curves)


def _links(nodes: Sequence[str]) -> list[str]:
    """Return the names of links between nodes."""
    return [f"{one}-{other}" for one, other in itertools.combinations(sorted(nodes), 2)]


def _of_file(
    file: Path, nodes: Sequence[str]
) -> tuple[list[HostHistory], list[HostHistory]]:
    columns = {
        one.host: Curve(one.times.tolist(), one.values.tolist())
        for one in read_loads(file)
    }
    if missing := [name for name in nodes if name not in columns]:
        raise InputError(
            f"{file}: has no column {missing[0]}, only {', '.join(columns)[:200]}; "
            "give others with --nodes"
        )
    links = [name for name in _links(nodes) if name in columns]
    return (
        [HostHistory(name, {"cpu": columns[name]}) for name in nodes],
        [HostHistory(name, {"bandwidth": columns[name]}) for name in links],
    )


def _of_store(
    place: str, nodes: Sequence[str], begin: float, end: float
) -> tuple[list[HostHistory], list[HostHistory]]:
    known = _series(place, nodes, begin, end)
    if missing := [name for name in nodes if name not in known]:
        raise InputError(
            f"{place}: has no CPU series of {missing[0]} in that time; give other "
            "nodes, another time, or another store"
        )
    links = [known[name] for name in _links(nodes) if name in known]
    return [known[name] for name in nodes], links


def _series(
    place: str | None, hosts: Sequence[str], begin: float, end: float
) -> dict[str, HostHistory]:
    """Return what a store knows of hosts and of the links between them, by name."""
    links = _links(hosts)
    with open_store(place, make=False) as store:
        series = [
            one
            for host in hosts
            for quantity in ("cpu", "cpu_left")
            for one in store.series(host, quantity, begin, end)
        ]
        series += known_series(store, links, "bandwidth", begin, end) if links else []
    return {
        host: HostHistory(host, {one.quantity: _curve(one) for one in of_host})
        for host, of_host in itertools.groupby(
            sorted(series, key=lambda one: one.host), key=lambda one: one.host
        )
    }


def _curve(series: Series) -> Curve:
    return Curve(series.times, series.values)
