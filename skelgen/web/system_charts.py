"""Draw what was measured of systems: facts over time, messages over sizes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from skelgen.store.rows import Fact, Message
from skelgen.systems import Stretch, time_in
from skelgen.units import format_bytes, format_seconds
from skelgen.web.axes import Axis
from skelgen.web.chart import (
    CHART_WIDTH,
    TONES,
    Chart,
    ChartDot,
    ChartLine,
    ChartPanel,
    Plane,
    chart,
    linear_axis,
    log_axis,
)
from skelgen.web.site import date, names_text

#: Panels of a picture, sets of hosts in a panel, and numbers a curve is drawn through.
MOST_PANELS, _MOST_SETS, _VALUES = 8, 5, 24
#: Heights of panels [px].
_OF_TIME, _OF_SIZES = 100, 180


def fitted_s(one: Message, size_bytes: float) -> float:
    """Return the time of an operation by the line that was fitted to it [s]."""
    stretches = one.knees or ((0, one.latency_s, one.bandwidth_bytes_per_s),)
    return time_in([Stretch(*each) for each in stretches], size_bytes)


def messages_chart(messages: Sequence[Message]) -> Chart:
    """Prepare the picture of times over sizes: a panel for each operation."""
    by_operation: dict[str, list[Message]] = defaultdict(list)
    for one in messages:
        if any(size > 0 and time_s > 0 for size, time_s in one.points):
            by_operation[one.operation].append(one)
    shown = list(by_operation.items())[:MOST_PANELS]
    hidden = len(by_operation) - len(shown)
    panels = [_operation(name, those) for name, those in shown]
    notes = ["Points: medians that were measured. Lines: what was fitted to them."]
    if hidden:
        notes.append(f"{hidden} more operations are not drawn.")
    return chart("Times of MPI operations over sizes", panels, notes)


def _operation(name: str, found: Sequence[Message]) -> ChartPanel:
    shown = found[:_MOST_SETS]
    points = [point for one in shown for point in _measured(one)]
    across = log_axis((size for size, _ in points), CHART_WIDTH)
    up = log_axis((time_s for _, time_s in points), _OF_SIZES, reverse=True)
    plane = Plane(across, up)
    lines: list[ChartLine] = []
    dots: list[ChartDot] = []
    for tone, one in zip(TONES, shown, strict=False):
        said = f"{names_text(one.hosts)}, {one.ranks} ranks"
        sizes = np.geomspace(*_ends(one), _VALUES).tolist()
        fit = [(size, fitted_s(one, size)) for size in sizes]
        good = [(size, time_s) for size, time_s in fit if 0 < time_s < math.inf]
        lines.append(plane.line(good, tone, said))
        for size, time_s in _measured(one):
            title = f"{said}: {format_bytes(size)}, {format_seconds(time_s)}"
            dots.append(plane.dot((size, time_s), tone, title))
    more = len(found) - len(shown)
    title = f"{name}, {more} more sets of hosts are not drawn" if more else name
    return plane.panel(title, ("size [bytes]", "time [s]"), lines, dots)


def _measured(one: Message) -> list[tuple[int, float]]:
    return [(size, time_s) for size, time_s in one.points if size > 0 and time_s > 0]


def _ends(one: Message) -> tuple[int, int]:
    sizes = [size for size, _ in _measured(one)]
    return min(sizes), max(sizes)


def history_chart(name: str, facts: Sequence[Fact]) -> Chart:
    """Prepare the picture of a value over time: a panel for each host and its cores."""
    by_host: dict[tuple[str, int], list[Fact]] = defaultdict(list)
    for one in facts:
        if math.isfinite(one.measured) and math.isfinite(one.value):
            by_host[one.host, one.cores].append(one)
    shown = list(by_host.items())[:MOST_PANELS]
    moments = [one.measured for _, those in shown for one in those]
    across = linear_axis(moments, CHART_WIDTH)
    panels = [_history(*key, those, across) for key, those in shown]
    notes = ["Points: medians, with smallest and largest repeat. Red: in doubt."]
    if hidden := len(by_host) - len(shown):
        notes.append(f"{hidden} more hosts are not drawn.")
    return chart(f"{name} over time, UTC", panels, notes)


def _history(host: str, cores: int, facts: Sequence[Fact], across: Axis) -> ChartPanel:
    values = [one for fact in facts for one in (fact.value, fact.low, fact.high)]
    plane = Plane(across, linear_axis(values, _OF_TIME, reverse=True), of_time=True)
    points = [(one.measured, one.value) for one in facts]
    dots = [
        plane.dot(
            (one.measured, one.value),
            "doubt" if one.doubt else "main",
            f"{date(one.measured)}: {one.value:.4g} {one.unit} {one.doubt}".strip(),
            (one.low, one.high),
        )
        for one in facts
        if math.isfinite(one.low) and math.isfinite(one.high)
    ]
    title = f"{host}, {cores} cores" if cores else host
    return plane.panel(title, ("", facts[0].unit), [plane.line(points, "soft")], dots)
