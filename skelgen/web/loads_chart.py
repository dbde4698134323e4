"""Draw loads over time: series with gaps, a forecast, and earlier ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skelgen.store.sampling import SampleBin, ShortSeries
from skelgen.trust import Interval
from skelgen.units import format_bytes, format_seconds
from skelgen.web.axes import Axis
from skelgen.web.chart import (
    CHART_WIDTH,
    Chart,
    ChartDot,
    ChartLine,
    ChartPanel,
    Plane,
    chart,
    linear_axis,
)
from skelgen.web.site import date

#: Height of a panel [px].
_HEIGHT = 84
#: Quantities that are shares of a whole.
_SHARES = ("cpu", "cpu_left", "bandwidth", "pressure", "steal")


@dataclass(frozen=True, slots=True)
class ForecastShown:
    """A forecast of a quantity over a time.

    Attributes
    ----------
    nodes : tuple of str
    quantity, method : str
    begin, horizon_s : float
        Seconds since 1970 in UTC, and how long [s].
    interval : Interval
    truth : float or None
        What came; None while nobody knows.
    """

    nodes: tuple[str, ...]
    quantity: str
    method: str
    begin: float
    horizon_s: float
    interval: Interval
    truth: float | None = None


@dataclass(frozen=True, slots=True)
class LoadsDrawn:
    """What is drawn.

    Attributes
    ----------
    quantity : str
    series : tuple of ShortSeries
    begin, end : float
        Seconds since 1970 in UTC [s].
    forecast : ForecastShown or None
    earlier : tuple of ForecastShown
        Of this quantity.
    """

    quantity: str
    series: tuple[ShortSeries, ...]
    begin: float
    end: float
    forecast: ForecastShown | None = None
    earlier: tuple[ForecastShown, ...] = ()


def load_text(number: float, quantity: str) -> str:
    """Return a value of a load for people."""
    if math.isnan(number):
        return ""
    if "bytes" in quantity:
        return format_bytes(number) + ("/s" if "per_s" in quantity else "")
    return format_seconds(number) if quantity.endswith("_s") else f"{number:.3g}"


def loads_chart(found: LoadsDrawn) -> Chart:
    """Prepare the picture of loads: a panel for each node or link."""
    last = found.end
    if found.forecast is not None:
        last = max(last, found.forecast.begin + found.forecast.horizon_s)
    across = Axis(found.begin, last, False, CHART_WIDTH)
    up = up_axis(found.quantity, found.series)
    panels = [_panel(one, found, Plane(across, up, of_time=True))
              for one in found.series]  # fmt: skip
    if found.forecast is not None and len(found.forecast.nodes) > 1:
        panels.append(_least(found, found.forecast, Plane(across, up, of_time=True)))
    if found.earlier:
        panels.append(_earlier(found))
    notes = ["Line: average. Area: smallest to largest sample. Where there is no line"
             " there are no samples."]  # fmt: skip
    legend = []
    if found.forecast is not None:
        legend.append(("other", "forecast of the average, with its 90 % interval"))
    if found.earlier:
        legend.append(("main", "forecast earlier, with its 90 % interval"))
        legend.append(("good", "what came"))
    return chart(f"{found.quantity} over time, UTC", panels, notes, legend)


def up_axis(quantity: str, series: Sequence[ShortSeries]) -> Axis:
    """Return the axis of a quantity: shares are of 1, others of what was measured."""
    if quantity.partition(":")[0] in _SHARES:
        return Axis(0.0, 1.0, False, _HEIGHT, reverse=True)
    values = [end for one in series for end in one.ends]
    return linear_axis([0.0, *values], _HEIGHT, reverse=True)


def _panel(one: ShortSeries, found: LoadsDrawn, plane: Plane) -> ChartPanel:
    lines = [*series_lines(one, plane)]
    dots: list[ChartDot] = []
    said = found.forecast
    if said is not None and said.nodes == (one.host,):
        lines += _said(said, plane)
    return plane.panel(one.host, ("", found.quantity), lines, dots)


def series_lines(one: ShortSeries, plane: Plane) -> Iterator[ChartLine]:
    """Yield the line and the area of each piece of a series."""
    usual_s = 0.0 if math.isnan(one.interval_s) else one.interval_s
    for piece in one.pieces():
        points = [(_middle(each), each.mean) for each in piece]
        ends = [(_middle(each), each.low, each.high) for each in piece]
        if len(piece) == 1:
            first, last = piece[0].first - usual_s, piece[0].last
            points = [(first, piece[0].mean), (last, piece[0].mean)]
            ends = [(x, piece[0].low, piece[0].high) for x in (first, last)]
        title = f"{one.host}, {date(piece[0].first)} to {date(piece[-1].last)}"
        yield plane.band(ends, "main", title)
        yield plane.line(points, "main", title)


def _middle(one: SampleBin) -> float:
    return (one.first + one.last) / 2


def _said(said: ForecastShown, plane: Plane) -> list[ChartLine]:
    begin, end = said.begin, said.begin + said.horizon_s
    low, middle, high = said.interval.p5, said.interval.p50, said.interval.p95
    title = (
        f"forecast over {format_seconds(said.horizon_s)}: {middle:.3g} "
        f"(90 %: {low:.3g} to {high:.3g})"
    )
    return [
        plane.band([(begin, low, high), (end, low, high)], "other", title),
        plane.line([(begin, middle), (end, middle)], "other", title, dashed=True),
    ]


def _least(found: LoadsDrawn, said: ForecastShown, plane: Plane) -> ChartPanel:
    """Return the panel of the smallest of all nodes: what a forecast of them is of."""
    names = {one.host for one in found.series}
    lines = []
    if names >= set(said.nodes):
        those = [one for one in found.series if one.host in said.nodes]
        points = smallest(those, found.begin, found.end)
        lines.append(plane.line(points, "main", "the smallest of these nodes"))
    title = f"the smallest of {len(said.nodes)} nodes"
    return plane.panel(title, ("", found.quantity), [*lines, *_said(said, plane)])


def smallest(
    series: Sequence[ShortSeries], begin: float, end: float, parts: int = 60
) -> list[tuple[float, float]]:
    """Return the smallest average of several series, where all have samples."""
    width_s = (end - begin) / parts
    found: dict[int, list[float]] = defaultdict(list)
    for one in series:
        for at, mean in averages(one, begin, width_s).items():
            found[at].append(mean)
    return [
        (begin + (at + 0.5) * width_s, min(means))
        for at, means in sorted(found.items())
        if len(means) == len(series)
    ]


def averages(one: ShortSeries, begin: float, width_s: float) -> dict[int, float]:
    """Return the averages of a series by the number of a part of the time."""
    sums: dict[int, tuple[float, int]] = {}
    for each in one.bins:
        at = math.floor((_middle(each) - begin) / width_s)
        total, count = sums.get(at, (0.0, 0))
        sums[at] = total + each.mean * each.count, count + each.count
    return {at: total / count for at, (total, count) in sums.items()}


def _earlier(found: LoadsDrawn) -> ChartPanel:
    those = found.earlier
    moments = [one.begin for one in those]
    across = linear_axis([min(moments) - 60, max(moments) + 60], CHART_WIDTH)
    values = [v for one in those for v in (one.interval.p5, one.interval.p95)]
    values += [one.truth for one in those if one.truth is not None]
    up = linear_axis([0.0, *values], _HEIGHT, reverse=True)
    plane = Plane(across, up, of_time=True)
    dots = []
    for one in those:
        ends = (one.interval.p5, one.interval.p95)
        title = (
            f"{', '.join(one.nodes)}, {date(one.begin)}, "
            f"{format_seconds(one.horizon_s)}"
        )
        said = f"{title}: {one.interval.p50:.3g} was forecast"
        dots.append(plane.dot((one.begin, one.interval.p50), "main", said, ends))
        if one.truth is not None:
            came = f"{title}: {one.truth:.3g} came"
            dots.append(plane.dot((one.begin, one.truth), "good", came))
    return plane.panel("Earlier forecasts, by their begin", ("", ""), (), dots)
