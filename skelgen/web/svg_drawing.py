"""Drawings that are part of a page: shapes that the page's style colours.

They follow the reader's theme, which pictures in files of their own cannot. All text is
text: the template writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Area:
    """A filled shape; ``points`` as SVG has them, ``look`` a class of the style."""

    shape: ClassVar[str] = "area"
    points: str
    look: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Lines from point to point."""

    shape: ClassVar[str] = "line"
    points: str
    look: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point."""

    shape: ClassVar[str] = "dot"
    x: float
    y: float
    look: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Word:
    """A text; ``anchor`` is ``start``, ``middle`` or ``end``, ``look`` may be empty."""

    shape: ClassVar[str] = "word"
    x: float
    y: float
    text: str
    anchor: str = "middle"
    look: str = ""


Shape = Area | Line | Dot | Word


def points(places: Iterable[Sequence[float]]) -> str:
    """Write places as SVG has them, to a tenth of a pixel.

    Examples
    --------
    >>> points([(0.0, 1.25), (2.0, 3.0)])
    '0,1.2 2,3'
    """
    return " ".join(f"{_short(x)},{_short(y)}" for x, y in places)


def _short(number: float) -> str:
    return f"{round(number, 1):g}"
