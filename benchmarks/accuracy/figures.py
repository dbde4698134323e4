"""Bar charts as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_COLOURS = ("#1b5e8c", "#4c9ac7", "#a5cde3", "#d98032", "#f0b987", "#7a7a7a", "#b9b9b9")
_BAR, _GAP, _HEIGHT, _LEFT, _TOP, _BOTTOM = 11, 16, 180, 46, 58, 76


def bars(
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Mapping[str, tuple[float, float, float]]],
) -> str:
    """Draw groups of bars, one bar for each series, all in per cent.

    Parameters
    ----------
    title : str
    groups : sequence of str
        Names below the axis.
    series : mapping of str to mapping
        For each series and group where its bar ends, and from where to where a thin
        line stands on it [1]; a group that is missing has no bar.
    """
    values = (v for bar in series.values() for one in bar.values() for v in one)
    highest = max(values, default=0.0)
    top = _rounded_up(100 * highest)
    group = len(series) * _BAR + _GAP
    width = max(_LEFT + len(groups) * group + _GAP, 420)
    height = _TOP + _HEIGHT + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="18" font-size="13">{escape(title)}</text>',
        *_legend(list(series)),
        *_axis(top, width),
    ]
    for at, name in enumerate(groups):
        x = _LEFT + _GAP / 2 + at * group
        for number, bar in enumerate(series.values()):
            if name in bar:
                parts += _bar(x + number * _BAR, bar[name], top, number)
        middle, low = x + (group - _GAP) / 2, _TOP + _HEIGHT + 12
        parts.append(
            f'<text x="{middle:.1f}" y="{low}" text-anchor="end" '
            f'transform="rotate(-30 {middle:.1f} {low})">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _rounded_up(highest: float) -> float:
    """Return where the axis ends [%]: four steps of a round number."""
    for step in (1, 2, 2.5, 5, 10, 20, 25, 50, 100, 250, 500):
        if 4 * step >= highest:
            return 4.0 * step
    return highest


def _y(value: float, top: float) -> float:
    return _TOP + _HEIGHT * (1 - min(100 * value / top, 1))


def _bar(
    x: float, bar: tuple[float, float, float], top: float, number: int
) -> list[str]:
    end, low, high = (_y(value, top) for value in bar)
    colour = _COLOURS[number % len(_COLOURS)]
    parts = [
        f'<rect x="{x:.1f}" y="{end:.1f}" width="{_BAR - 1}" '
        f'height="{_TOP + _HEIGHT - end:.1f}" fill="{colour}"/>'
    ]
    if low != high:
        middle = x + (_BAR - 1) / 2
        parts.append(
            f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{low:.1f}" y2="{high:.1f}" '
            'stroke="#222"/>'
        )
    return parts


def _axis(top: float, width: float) -> list[str]:
    parts = []
    for step in range(5):
        value = top * step / 4
        y = _y(value / 100, top)
        place = f'x="{_LEFT - 6}" y="{y + 4:.1f}"'
        parts += [
            f'<line x1="{_LEFT}" x2="{width}" y1="{y:.1f}" y2="{y:.1f}" '
            'stroke="#ddd"/>',
            f'<text {place} text-anchor="end">{value:g} %</text>',
        ]
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], float(_LEFT)
    for number, name in enumerate(names):
        colour = _COLOURS[number % len(_COLOURS)]
        parts += [
            f'<rect x="{x:.0f}" y="30" width="10" height="10" fill="{colour}"/>',
            f'<text x="{x + 14:.0f}" y="39">{escape(name)}</text>',
        ]
        x += 26 + 6.2 * len(name)
    return parts
