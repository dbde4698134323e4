"""Dots with bars, a row for each: times of node sets, ratios of calibrations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.web.axes import Axis

#: Rows of a picture; a table behind it has all.
_MOST_ROWS = 24

#: Height of a row and of the axis below the last one; places of a row's name and bar
#: from its top [px]. Names stand above bars, so that both fit on a phone.
_ROW, _AXIS, _NAME, _BAR = 40, 22, 13, 25

#: Part of the width at both ends that dots must not leave [%].
_EDGE = 3.0


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One row before it is drawn.

    Attributes
    ----------
    name, value : str
        What it is, and its number in words.
    low, middle, high : float
        Ends of the bar, and the dot.
    is_good : bool
        Whether it is drawn as one that counts.
    """

    name: str
    value: str
    low: float
    middle: float
    high: float
    is_good: bool = True


@dataclass(frozen=True, slots=True)
class DotRow:
    """One row of the picture: places from the left in per cent, from the top [px]."""

    name: str
    value: str
    name_y: int
    bar_y: int
    left: float
    width: float
    dot: float
    is_good: bool


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """A number at the axis: its place in per cent, and how its text is set."""

    place: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class DotPicture:
    """What the picture shows.

    Attributes
    ----------
    title : str
        For those who cannot see it.
    height, axis_y : int
        [px]
    rows : tuple of DotRow
    marks : tuple of IntervalMark
    reference : IntervalMark or None
        A number that the rows are compared with.
    """

    title: str
    height: int
    axis_y: int
    rows: tuple[DotRow, ...]
    marks: tuple[IntervalMark, ...]
    reference: IntervalMark | None


def dot_picture(
    title: str,
    dots: Sequence[IntervalRow],
    unit: str = "",
    reference: tuple[float, str] | None = None,
) -> DotPicture | None:
    """Prepare a picture of numbers with their intervals; None without numbers.

    Parameters
    ----------
    title : str
    dots : sequence of IntervalRow
        All numbers above 0.
    unit : str
        Of the numbers at the axis.
    reference : (float, str), optional
        A number that they are compared with, and what it is.
    """
    shown = list(dots)[:_MOST_ROWS]
    values = [n for one in shown for n in (one.low, one.middle, one.high)]
    values += [reference[0]] if reference else []
    if not shown or not all(0 < value < math.inf for value in values):
        return None
    axis = Axis.over(values, 100 - 2 * _EDGE)

    def at(value: float) -> float:
        return round(_EDGE + float(axis.at(value)), 2)

    rows = tuple(
        DotRow(
            name=one.name,
            value=one.value,
            name_y=number * _ROW + _NAME,
            bar_y=number * _ROW + _BAR,
            left=at(one.low),
            width=round(max(at(one.high) - at(one.low), 0.2), 2),
            dot=at(one.middle),
            is_good=one.is_good,
        )
        for number, one in enumerate(shown)
    )
    marks = [_mark(at(value), f"{value:.4g}{unit}") for value in axis.ticks()]
    end = len(rows) * _ROW
    beside = _mark(at(reference[0]), reference[1]) if reference else None
    height = end + _AXIS + (_AXIS if beside else 0)
    return DotPicture(title, height, end, rows, tuple(marks), beside)


def _mark(place: float, text: str) -> IntervalMark:
    anchor = "start" if place < 25 else "end" if place > 75 else "middle"
    return IntervalMark(place, text, anchor)
