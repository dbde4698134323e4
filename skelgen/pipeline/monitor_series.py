"""What monitors saw: the series of hosts, their averages, the newest values."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.errors import InputError, UsageError
from skelgen.launch.way import Way
from skelgen.monitor.averages import Average, avg_min, min_avg
from skelgen.monitor.folders import hosts as known
from skelgen.monitor.folders import this_host
from skelgen.monitor.prometheus_text import Newest, metrics_text
from skelgen.monitor.series import HostHistory, history_of, read_history
from skelgen.pipeline.monitor_asking import HostAnswer, failure, monitor_do
from skelgen.store import Series

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Averages:
    """A quantity over several nodes, by both rules.

    Attributes
    ----------
    quantity : str
    avg_min : Average
        Average over time of the minimum over nodes.
    min_avg : Average
        Minimum over nodes of the average over time.
    """

    quantity: str
    avg_min: Average
    min_avg: Average


def histories(
    hosts: Sequence[str],
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    way: Way | None = None,
) -> list[HostHistory]:
    """Read what the monitors of hosts kept: from files seen here, else from the hosts.

    Without names: all whose files are seen here.

    Raises
    ------
    InputError
        When there is nothing of a host.
    """
    names = list(dict.fromkeys(hosts)) or known() or [this_host()]
    found = {
        name: read_history(name, begin, end)
        for name in names
        if name in known() or name == this_host()
    }
    if strangers := [name for name in names if name not in found]:
        for answer in monitor_do(strangers, time_words("series", begin, end), way=way):
            found[answer.host] = history_from(answer)
    for one in found.values():
        if one.damaged:
            logger.warning(
                "%s: %d lines are left out, such as %s",
                one.host,
                len(one.damaged),
                one.damaged[0],
            )
    return [found[name] for name in names]


def history_from(answer: HostAnswer) -> HostHistory:
    """Return the series that a host told.

    Raises
    ------
    ApplicationError, InputError
        When it refused, or told none.
    """
    if answer.error:
        raise failure(answer)
    try:
        return history_of(answer.host, answer.facts)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"host {answer.host}: not the series of a monitor; is the same skelgen "
            "installed there?"
        ) from error


def time_words(command: str, begin: float, end: float) -> list[str]:
    """Return a command of the monitor that reads a time."""
    words = [command]
    words += [f"--begin={begin!r}"] if math.isfinite(begin) else []
    return words + ([f"--end={end!r}"] if math.isfinite(end) else [])


def series(
    hosts: Sequence[str],
    quantity: str,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    way: Way | None = None,
) -> list[Series]:
    """Return a quantity of hosts over time, as a store keeps it.

    Parameters
    ----------
    hosts : sequence of str
        All whose files are seen here when empty.
    quantity : str
        Such as ``cpu``.
    begin, end : float
        Seconds since 1970 in UTC [s].

    Raises
    ------
    UsageError
        When a host has no such quantity; the message names those that it has.
    """
    return [series_of(one, quantity) for one in histories(hosts, begin, end, way=way)]


def series_of(history: HostHistory, quantity: str) -> Series:
    """Return a quantity of a host over time, as a store keeps it; see `series`."""
    curve = history.curves.get(quantity)
    if curve is None:
        known = ", ".join(sorted(history.curves)) or "none in that time"
        raise UsageError(
            f"{history.host}: no series of {quantity[:60]!r}; there are: {known}"
        )
    return Series(history.host, quantity, tuple(curve.times), tuple(curve.values))


def averages(histories: Sequence[HostHistory], quantity: str) -> Averages:
    """Average a quantity over nodes and over the time for which all have samples."""
    curves = [one.curves[quantity] for one in histories if quantity in one.curves]
    times = [curve.times for curve in curves if curve.times]
    begin = max((t[0] for t in times), default=0.0)
    end = min((t[-1] for t in times), default=0.0)
    return Averages(quantity, avg_min(curves, begin, end), min_avg(curves, begin, end))


def newest_text(
    histories: Sequence[HostHistory], quantities: Sequence[str] = ()
) -> str:
    """Return the newest values of hosts as text of Prometheus.

    Parameters
    ----------
    histories : sequence of HostHistory
    quantities : sequence of str
        All when empty.
    """
    found = []
    for one in histories:
        chosen = {
            n: c for n, c in one.curves.items() if n in quantities or not quantities
        }
        time_s = max((curve.times[-1] for curve in chosen.values()), default=math.nan)
        values = {name: curve.values[-1] for name, curve in chosen.items()}
        if values:
            found.append(Newest(one.host, time_s, values))
    return metrics_text(found)
