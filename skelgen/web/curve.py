"""A curve over one input with its interval and the runs, as shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.web.axes import Axis
from skelgen.web.svg_drawing import Area, Dot, Line, Shape, Word, points

#: Size of a drawing, and what is left around the curve for numbers [px].
CURVE_WIDTH, CURVE_HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 28, 46


@dataclass(frozen=True, slots=True)
class CurveSpot:
    """What is said at a place: a value, and its interval where there is one.

    Attributes
    ----------
    at, value : float
        No number where there is no value.
    low, high : float
        Ends of the interval; nan where there is none.
    """

    at: float
    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True, slots=True)
class NamedCurve:
    """Spots with a line through them, and what it is."""

    name: str
    look: str
    spots: tuple[CurveSpot, ...]


def curve_shapes(
    x_name: str,
    y_name: str,
    curves: Sequence[NamedCurve],
    dots: Sequence[tuple[float, float, str]] = (),
) -> tuple[Shape, ...]:
    """Draw curves of numbers above 0 over an input.

    Parameters
    ----------
    x_name, y_name : str
        What stands at the axes.
    curves : sequence of NamedCurve
    dots : sequence of (float, float, str)
        Runs: place, value, and what a reader is told of it.
    """
    spots = [one for curve in curves for one in curve.spots if _is(one.value)]
    x = [*(one.at for one in spots), *(dot[0] for dot in dots)]
    y = [*(one.value for one in spots), *(dot[1] for dot in dots)]
    y += [end for one in spots for end in (one.low, one.high) if _shown(end, y)]
    across = Axis.over(x, CURVE_WIDTH - _LEFT - _RIGHT)
    across = Axis(
        across.low, across.high, across.logarithmic and min(x) > 0, across.length
    )
    up = Axis.over(y, CURVE_HEIGHT - _TOP - _BOTTOM, reverse=True)
    found: list[Shape] = [*_frame(across, up, x_name, y_name)]
    for curve in curves:
        found += _drawn(curve, across, up)
    for place, value, title in dots:
        found.append(Dot(*_place(across, up, place, value), "run", title))
    return tuple(found)


def _is(value: float) -> bool:
    return math.isfinite(value)


def _shown(end: float, values: Sequence[float]) -> bool:
    """Say whether an end of an interval is so near that it belongs in the picture."""
    return _is(end) and min(values) / 10 <= end <= max(values) * 3


def _place(across: Axis, up: Axis, x: float, y: float) -> tuple[float, float]:
    return float(across.at(x)) + _LEFT, float(up.at(y)) + _TOP


def _frame(across: Axis, up: Axis, x_name: str, y_name: str) -> Iterator[Shape]:
    bottom = CURVE_HEIGHT - _BOTTOM
    yield Line(
        points([(_LEFT, _TOP), (_LEFT, bottom), (CURVE_WIDTH - _RIGHT, bottom)]), "edge"
    )
    for mark in across.marks():
        yield Word(mark.place + _LEFT, bottom + 18, mark.text)
    for mark in up.marks():
        yield Word(_LEFT - 8, mark.place + _TOP + 4, mark.text, "end")
    yield Word(CURVE_WIDTH - _RIGHT, bottom + 38, x_name, "end")
    yield Word(8, 16, y_name, "start")


def _drawn(curve: NamedCurve, across: Axis, up: Axis) -> Iterator[Shape]:
    for some in _pieces(curve.spots):
        band = [one for one in some if _is(one.low) and _is(one.high)]
        if band:
            ends = [(one.at, one.high) for one in band]
            ends += [(one.at, one.low) for one in reversed(band)]
            yield Area(
                points(_place(across, up, *end) for end in ends),
                "band",
                "90 % interval",
            )
        yield Line(
            points(_place(across, up, one.at, one.value) for one in some),
            curve.look,
            curve.name,
        )


def _pieces(spots: Sequence[CurveSpot]) -> list[list[CurveSpot]]:
    """Return stretches of spots with a value."""
    known = np.array([_is(one.value) for one in spots])
    cuts = np.flatnonzero(np.diff(known.astype(int))) + 1
    parts = np.split(np.arange(len(spots)), cuts)
    return [[spots[i] for i in part] for part in parts if len(part) and known[part[0]]]
