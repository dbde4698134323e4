"""The time of a loop as bars of its kernels: alone, with couplings, and measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skelgen.units import format_seconds
from skelgen.web.axes import Axis
from skelgen.web.svg_drawing import Area, Line, Shape, Word, points

#: Width of the drawing, height of a bar, and what is left for words [px].
BARS_WIDTH, _BAR, _STEP = 460, 26, 56
_LEFT, _RIGHT, _TOP, _BOTTOM = 12, 40, 22, 34
#: Between a bar and its interval below it [px].
_GAP = 6
#: Kernels with a colour of their own.
_COLOURS = 6


@dataclass(frozen=True, slots=True)
class KernelBar:
    """A bar of parts.

    Attributes
    ----------
    name : str
    parts : tuple of (str, float)
        Name and time of each [s].
    ends : tuple of float
        Of the interval of the whole [s]; empty where there is none.
    """

    name: str
    parts: tuple[tuple[str, float], ...]
    ends: tuple[float, ...] = ()

    @property
    def time_s(self) -> float:
        """Return the time of the whole [s]."""
        return sum(time_s for _, time_s in self.parts)


def bars_height(bars: Sequence[KernelBar]) -> int:
    """Return how high the drawing of some bars is [px]."""
    return _TOP + _STEP * len(bars) + _BOTTOM


def bar_shapes(bars: Sequence[KernelBar], shown: Sequence[str]) -> tuple[Shape, ...]:
    """Draw bars, one below the other.

    Parameters
    ----------
    bars : sequence of KernelBar
    shown : sequence of str
        What stands behind each: its time for people.
    """
    most = max(max(one.time_s, *one.ends, 0.0) for one in bars)
    axis = Axis(0.0, most, False, BARS_WIDTH - _LEFT - _RIGHT)
    found: list[Shape] = []
    for i, (bar, text) in enumerate(zip(bars, shown, strict=True)):
        top = _TOP + _STEP * i
        found.append(Word(_LEFT, top - 6, f"{bar.name}: {text}", "start"))
        found += _parts(bar, axis, top)
    bottom = _TOP + _STEP * len(bars) - 12
    found.append(Line(points([(_LEFT, bottom), (BARS_WIDTH - _RIGHT, bottom)]), "edge"))
    for mark in axis.marks():
        found.append(Word(_LEFT + mark.place, bottom + 16, mark.text))
    found.append(Word(BARS_WIDTH - 4, bottom + 16, "s", "end"))
    return tuple(found)


def _parts(bar: KernelBar, axis: Axis, top: float) -> Iterator[Shape]:
    begin_s = 0.0
    for i, (name, time_s) in enumerate(bar.parts):
        left, right = (float(axis.at(at)) + _LEFT for at in (begin_s, begin_s + time_s))
        look = f"kernel{i % _COLOURS}" if len(bar.parts) > 1 else "whole"
        corners = [(left, top), (right, top), (right, top + _BAR), (left, top + _BAR)]
        yield Area(points(corners), look, f"{name}: {format_seconds(time_s)}")
        if len(bar.parts) > 1 and right - left > 8 * len(name):
            yield Word((left + right) / 2, top + _BAR - 8, name, look="on")
        begin_s += time_s
    if bar.ends:
        low, high = (float(axis.at(one)) + _LEFT for one in bar.ends)
        below = top + _BAR + _GAP  # names of parts are in the bar
        yield Line(points([(low, below), (high, below)]), "edge", "90 % interval")
        for end in (low, high):
            yield Line(points([(end, below - 4), (end, below + 4)]), "edge")
