"""Charts: panels with lines, bands and points over two axes; places in px."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from skelgen.web.axes import Axis, AxisMark

#: Colours by what they say.
TONES = {
    "main": "#3b7dd8",
    "other": "#e08a2e",
    "good": "#2e8b57",
    "doubt": "#c8452f",
    "soft": "#7b8794",
}
#: Width of a panel, space to its left and right, above it and below [px].
CHART_WIDTH, LEFT, RIGHT, ABOVE, BELOW = 560, 84, 24, 30, 44
#: Space for the title of a chart, and for a line of its notes [px].
_TITLE, _NOTE = 34, 16
#: Steps between dates [s], and the longest that shows the time of day.
_STEPS_S = (
    *(60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400),
    *(2 * 86_400, 7 * 86_400, 30 * 86_400, 90 * 86_400, 365 * 86_400),
)
_TIME_OF_DAY_S = 43_200
#: So many dates stand at an axis at most.
_MOST_DATES = 6

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line, or with `filled` an area; what it is called."""

    points: str
    colour: str
    title: str
    filled: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class ChartDot:
    """A point, with its interval where it has one."""

    x: float
    y: float
    colour: str
    title: str
    low_y: float | None = None
    high_y: float | None = None


@dataclass(frozen=True, slots=True)
class ChartPanel:
    """One panel of a chart; `top` is its place [px]."""

    title: str
    x_name: str
    y_name: str
    height: int
    top: int
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    lines: tuple[ChartLine, ...]
    dots: tuple[ChartDot, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels below each other, and what colours mean."""

    title: str
    panels: tuple[ChartPanel, ...]
    notes: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    height: int

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height [px]."""
        return LEFT + CHART_WIDTH + RIGHT, self.height


@dataclass(frozen=True, slots=True)
class Plane:
    """Two axes, and how numbers become places.

    Attributes
    ----------
    across, up : Axis
    of_time : bool
        Whether numbers across are seconds since 1970.
    """

    across: Axis
    up: Axis
    of_time: bool = False

    def line(
        self, points: Points, tone: str, title: str = "", *, dashed: bool = False
    ) -> ChartLine:
        """Return a line through points."""
        return ChartLine(self._places(points), TONES[tone], title, dashed=dashed)

    def band(
        self, ends: Sequence[tuple[float, float, float]], tone: str, title: str = ""
    ) -> ChartLine:
        """Return the area between two values at each of several numbers."""
        there = [(x, high) for x, _, high in ends]
        back = [(x, low) for x, low, _ in reversed(ends)]
        return ChartLine(self._places([*there, *back]), TONES[tone], title, filled=True)

    def dot(
        self,
        point: tuple[float, float],
        tone: str,
        title: str,
        ends: tuple[float, float] | None = None,
    ) -> ChartDot:
        """Return a point, and its interval."""
        x, y = point
        low, high = (None, None) if ends is None else map(self._up, ends)
        return ChartDot(
            float(self.across.at(x)), self._up(y), TONES[tone], title, low, high
        )

    def _up(self, number: float) -> float:
        return float(self.up.at(number))

    def _places(self, points: Points) -> str:
        if not points:
            return ""
        xs, ys = np.array(points, np.float64).T
        places = zip(self.across.at(xs).tolist(), self.up.at(ys).tolist(), strict=True)
        return " ".join(f"{x:g},{y:g}" for x, y in places)

    def panel(
        self,
        title: str,
        names: tuple[str, str],
        lines: Iterable[ChartLine],
        dots: Iterable[ChartDot] = (),
    ) -> ChartPanel:
        """Return the panel of these axes; its place comes with `chart`."""
        marks = date_marks(self.across) if self.of_time else self.across.marks()
        return ChartPanel(
            title,
            *names,
            int(self.up.length),
            0,
            marks,
            self.up.marks(),
            tuple(lines),
            tuple(dots),
        )


def chart(
    title: str,
    panels: Sequence[ChartPanel],
    notes: Sequence[str] = (),
    legend: Sequence[tuple[str, str]] = (),
) -> Chart:
    """Put panels below each other.

    Parameters
    ----------
    title : str
    panels : sequence of ChartPanel
    notes : sequence of str
        Lines below them.
    legend : sequence of (str, str)
        Tones and what they say.
    """
    placed = []
    top = _TITLE + ABOVE
    for one in panels:
        placed.append(
            ChartPanel(
                *(one.title, one.x_name, one.y_name, one.height, top),
                *(one.x_marks, one.y_marks, one.lines, one.dots),
            )
        )
        top += one.height + ABOVE + BELOW
    colours = tuple((TONES[tone], text) for tone, text in legend)
    height = top - ABOVE + _NOTE * (len(notes) + len(legend)) + _NOTE
    return Chart(title, tuple(placed), tuple(notes), colours, height)


def linear_axis(
    values: Iterable[float], length: float, *, reverse: bool = False
) -> Axis:
    """Return an axis with equal steps that holds numbers of any sign."""
    found = [one for one in values if math.isfinite(one)] or [0.0]
    low, high = min(found), max(found)
    if low == high:
        low, high = low - (abs(low) or 1.0) / 10, high + (abs(high) or 1.0) / 10
    return Axis(low, high, False, length, reverse)


def log_axis(values: Iterable[float], length: float, *, reverse: bool = False) -> Axis:
    """Return a logarithmic axis that holds those numbers that are above 0."""
    found = [one for one in values if 0 < one < math.inf] or [1.0]
    low, high = min(found) / 1.15, max(found) * 1.15
    return Axis(low, high, True, length, reverse)


def date_marks(axis: Axis) -> tuple[AxisMark, ...]:
    """Return dates at an axis of seconds since 1970, in UTC."""
    long_s = axis.high - axis.low
    step_s = next((one for one in _STEPS_S if long_s / one <= _MOST_DATES), 0)
    step_s = step_s or math.ceil(long_s / _MOST_DATES / _STEPS_S[-1]) * _STEPS_S[-1]
    first, last = math.ceil(axis.low / step_s), math.floor(axis.high / step_s)
    shape = "%H:%M" if step_s <= _TIME_OF_DAY_S else "%Y-%m-%d"
    found = []
    for number in range(first, last + 1):
        moment = datetime.fromtimestamp(number * step_s, UTC)
        midnight = shape == "%H:%M" and moment.hour == moment.minute == 0
        text = moment.strftime("%m-%d" if midnight else shape)
        found.append(AxisMark(float(axis.at(number * step_s)), text))
    return tuple(found)
