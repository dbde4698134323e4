"""What people and machines are told of monitors: rows, averages, marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skelgen.cli.output import say
from skelgen.documents.dates import date_of
from skelgen.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from skelgen.monitor.series import HostHistory
    from skelgen.monitor.status import Status
    from skelgen.pipeline.monitor_series import Averages


def sample_text(name: str, value: object) -> str:
    """Write a fact of a sample for people."""
    if not isinstance(value, float):
        return str(value)
    return date(value) if name == "time" else f"{value:.4g}"


def status_row(one: Status) -> list[str]:
    """Return a row of the table of monitors."""
    return [
        one.host,
        "yes" if one.running else "no",
        date(one.since),
        str(one.samples),
        format_seconds(one.interval_s),
        f"{one.cpu_share:.3%}",
        format_bytes(one.rss_bytes),
        format_seconds(one.gap_s),
    ]


def cost_text(one: Status) -> str:
    """Say what probes of links cost."""
    spent, limit = (f"{n / 1e6:.3g} MB" for n in (one.link_bytes, one.link_limit_bytes))
    return f"{one.host}: probes of links cost {spent} in the last hour, limit {limit}"


def series_row(host: str, quantity: str, values: Sequence[float]) -> list[str]:
    """Return a row of the table of series."""
    numbers = (values[-1], math.fsum(values) / len(values), min(values), max(values))
    return [host, quantity, str(len(values)), *(f"{number:.4g}" for number in numbers)]


def average(value: float) -> str:
    """Write an average for people."""
    return "no time in common" if math.isnan(value) else f"{value:.4g}"


def average_facts(one: Averages) -> dict[str, Any]:
    """Return what machines are told of averages."""
    return {
        "quantity": one.quantity,
        "avg_min": one.avg_min.value,
        "min_avg": one.min_avg.value,
        "covered": one.avg_min.covered,
    }


def marks(one: HostHistory) -> dict[str, Any]:
    """Return what machines are told of gaps and damage."""
    return {
        "host": one.host,
        "damaged_lines": len(one.damaged),
        "marks": [
            {
                "kind": mark.kind,
                "time": mark.time,
                "length_s": mark.length_s,
                "reason": mark.reason,
            }
            for mark in one.marks
        ],
    }


def print_marks(one: HostHistory) -> None:
    """Tell people of gaps and damage."""
    words = {
        "begin": "the monitor was started",
        "end": "the monitor was stopped",
        "gap": "no samples for",
        "back": "the clock jumped back by",
        "refused": "left out:",
    }
    for mark in one.marks:
        length = format_seconds(mark.length_s) if mark.length_s > 0 else ""
        text = " ".join(filter(None, [words.get(mark.kind, ""), length, mark.reason]))
        say(f"{one.host}  {date(mark.time)}  {text}")


def date(when: float) -> str:
    """Write a date for people."""
    found = date_of(when)
    return "never" if found is None else found.strftime("%Y-%m-%d %H:%M:%S")
