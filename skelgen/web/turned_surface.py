"""A surface of numbers seen from somewhere, as shapes.

The page's script draws the same from the same numbers when somebody turns it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.web.axes import Axis
from skelgen.web.svg_drawing import Area, Line, Shape, Word, points

#: Size of the drawing, of the surface in it [px], and how high it is to its width.
SURFACE_WIDTH, SURFACE_HEIGHT, _SCALE, _RISE = 460, 390, 112.0, 0.8
#: From where it is seen first [radians], and shades from low to high.
AZIMUTH, ELEVATION, SHADES = 0.62, 0.5, 10
#: How far numbers stand from the edge, and names: parts of half of an edge.
_NUMBERS, _NAMES = 0.14, 0.42

_Floats = NDArray[np.float64]
_Mark = tuple[float, str]


@dataclass(frozen=True, slots=True)
class Turnable:
    """A surface in a cube: x and y from -1 to 1, heights from 0 to 1.

    Attributes
    ----------
    names : tuple of str
        Of x, y and height.
    x, y : tuple of float
    heights : tuple of tuple of float
        A row for each y; nan where there is nothing.
    marks : tuple of tuple of (float, str)
        Of x, y and height: where numbers stand.
    """

    names: tuple[str, str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    heights: tuple[tuple[float, ...], ...]
    marks: tuple[tuple[_Mark, ...], ...]


def turnable(
    names: tuple[str, str, str],
    x: Sequence[float],
    y: Sequence[float],
    values: Sequence[Sequence[float]],
) -> Turnable:
    """Put a surface of numbers above 0 into the cube.

    Heights are logarithms where the numbers differ by more than a factor of ten.
    """
    across, along = (_axis(one, 2.0) for one in (x, y))
    found = np.asarray(values, np.float64)
    up = Axis.over(found[np.isfinite(found)].tolist(), 1.0)
    shown = np.where(np.isfinite(found), _at(up, np.nan_to_num(found, nan=1.0)), np.nan)
    name = f"{names[2]}, logarithmic" if up.logarithmic else names[2]
    return Turnable(
        (names[0], names[1], name),
        tuple((_at(across, np.asarray(x)) - 1.0).round(4).tolist()),
        tuple((_at(along, np.asarray(y)) - 1.0).round(4).tolist()),
        tuple(map(tuple, shown.round(4).tolist())),
        (_marks(across, -1.0), _marks(along, -1.0), _marks(up, 0.0)),
    )


def _axis(values: Sequence[float], length: float) -> Axis:
    low, high = min(values), max(values)
    return Axis(low, high, False, length)


def _at(axis: Axis, values: _Floats) -> _Floats:
    """Return where numbers lie, more exactly than pixels need."""
    shown = np.log if axis.logarithmic else np.asarray
    low, high = float(shown(axis.low)), float(shown(axis.high))
    part = (shown(np.clip(values, axis.low, axis.high)) - low) / (high - low)
    return np.asarray(part * axis.length)


def _marks(axis: Axis, begin: float) -> tuple[_Mark, ...]:
    return tuple(
        (round(float(_at(axis, np.asarray(one))) + begin, 4), f"{one:g}")
        for one in axis.ticks()
    )


def surface_data(one: Turnable) -> str:
    """Write a surface for the page's script, as JSON."""
    return json.dumps(
        {
            "names": one.names,
            "x": one.x,
            "y": one.y,
            "z": [[None if math.isnan(h) else h for h in row] for row in one.heights],
            "marks": one.marks,
            "view": [AZIMUTH, ELEVATION],
            "size": [SURFACE_WIDTH, SURFACE_HEIGHT, _SCALE, _RISE],
            "apart": [_NUMBERS, _NAMES],
            "shades": SHADES,
        },
        separators=(",", ":"),
        allow_nan=False,
    )


@dataclass(frozen=True, slots=True)
class _View:
    """From where a cube is seen [radians]."""

    azimuth: float = AZIMUTH
    elevation: float = ELEVATION

    def at(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Return where a point is drawn [px]."""
        right = x * math.cos(self.azimuth) - y * math.sin(self.azimuth)
        height = (2.0 * z - 1.0) * _RISE * math.cos(self.elevation)
        up = self.depth(x, y) * math.sin(self.elevation) + height
        return SURFACE_WIDTH / 2 + right * _SCALE, SURFACE_HEIGHT / 2 - up * _SCALE

    def depth(self, x: float, y: float) -> float:
        """Return how far a point is."""
        return x * math.sin(self.azimuth) + y * math.cos(self.azimuth)


def surface_shapes(one: Turnable) -> tuple[Shape, ...]:
    """Draw a surface, what is farthest first, with its edges and numbers."""
    view = _View()
    return (*_edges(view), *_faces(one, view), *_numbers(one, view))


def _faces(one: Turnable, view: _View) -> list[Area]:
    found = []
    for j in range(len(one.y) - 1):
        for i in range(len(one.x) - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            heights = [one.heights[b][a] for a, b in corners]
            if any(map(math.isnan, heights)):
                continue
            middle = view.depth(
                (one.x[i] + one.x[i + 1]) / 2, (one.y[j] + one.y[j + 1]) / 2
            )
            places = [
                view.at(one.x[a], one.y[b], h)
                for (a, b), h in zip(corners, heights, strict=True)
            ]
            shade = min(int(math.fsum(heights) / 4 * SHADES), SHADES - 1)
            found.append((middle, Area(points(places), f"shade{shade}")))
    return [area for _, area in sorted(found, key=lambda pair: -pair[0])]


def _edges(view: _View) -> Iterator[Line]:
    """Yield the square on the ground, and the line that heights stand at."""
    ground = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    yield Line(points(view.at(x, y, 0.0) for x, y in ground), "edge")
    x, y = _leftmost(view)
    yield Line(points([view.at(x, y, 0.0), view.at(x, y, 1.0)]), "edge")


def _numbers(one: Turnable, view: _View) -> Iterator[Word]:
    """Yield the numbers and names at the two edges in front, and at the left."""
    front = min(
        ((x, y) for x in (-1, 1) for y in (-1, 1)), key=lambda at: view.depth(*at)
    )
    near, far = 1.0 + _NUMBERS, 1.0 + _NAMES
    for place, text in one.marks[0]:
        yield _word(view.at(place, front[1] * near, 0.0), text)
    for place, text in one.marks[1]:
        yield _word(view.at(front[0] * near, place, 0.0), text)
    yield _word(view.at(0.0, front[1] * far, 0.0), one.names[0])
    yield _word(view.at(front[0] * far, 0.0, 0.0), one.names[1])
    x, y = _leftmost(view)
    for place, text in one.marks[2]:
        right, down = view.at(x, y, place)
        yield Word(round(right - 8, 1), round(down + 4, 1), text, "end")
    yield Word(8, 16, one.names[2], "start")


def _word(at: tuple[float, float], text: str) -> Word:
    return Word(round(at[0], 1), round(at[1] + 4, 1), text)


def _leftmost(view: _View) -> tuple[int, int]:
    corners = [(x, y) for x in (-1, 1) for y in (-1, 1)]
    return min(corners, key=lambda one: view.at(one[0], one[1], 0.0)[0])
