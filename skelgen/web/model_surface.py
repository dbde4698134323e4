"""Draw a model over two inputs: the logarithm of what it says, in shades."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.formulas import evaluate
from skelgen.models.model import InputRange
from skelgen.models.runs import LARGEST, SMALLEST
from skelgen.web.axes import AxisMark
from skelgen.web.model_marks import MODEL_HEIGHT, MODEL_WIDTH, Asked, AskedMark, RunDot

#: Cells across and down, and shades, light to dark.
_ACROSS, _DOWN, _SHADES = 42, 30, 8

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SurfaceCell:
    """A piece of a surface: place and size [px], and how dark it is [0 to 1]."""

    x: float
    y: float
    width: float
    height: float
    shade: float
    title: str


@dataclass(frozen=True, slots=True)
class SurfacePanel:
    """The model over two inputs, all others fixed; places in px from top left.

    Attributes
    ----------
    title, fixed : str
        What is drawn, and the values of the other inputs.
    names : tuple of str
        What stands at the axes.
    cells : tuple of SurfaceCell
    legend : tuple of (float, str)
        Each shade and where it begins.
    seen : tuple of float
        The range of the runs: left, top, width, height.
    x_marks, y_marks : tuple of AxisMark
    dots : tuple of RunDot
    asked : AskedMark or None
    """

    title: str
    fixed: str
    names: tuple[str, str]
    cells: tuple[SurfaceCell, ...]
    legend: tuple[tuple[float, str], ...]
    seen: tuple[float, float, float, float]
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    dots: tuple[RunDot, ...]
    asked: AskedMark | None


def surface_panel(asked: Asked, one: InputRange, other: InputRange) -> SurfacePanel:
    """Prepare the surface over two inputs: the first goes to the right."""
    names = (one.input.name, other.input.name)
    across, up = (
        asked.axis(one, MODEL_WIDTH),
        asked.axis(other, MODEL_HEIGHT, reverse=True),
    )
    x, y = across.between(_ACROSS + 1), up.between(_DOWN + 1)
    found = _values(asked, names, (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2)
    low, high = float(np.log(found.min())), float(np.log(found.max()))
    steps = np.floor((np.log(found) - low) / max(high - low, 1e-9) * _SHADES)
    runs = asked.runs
    places = np.empty((0, 2))
    if runs is not None:
        places = np.column_stack([runs.columns[name] for name in names])
    left, right = across.at(np.array([one.low, one.high])).tolist()
    bottom, top = up.at(np.array([other.low, other.high])).tolist()
    mark = AskedMark(
        float(across.at(asked.fixed[names[0]])),
        *(3 * (float(up.at(asked.fixed[names[1]])),)),
        title=", ".join(f"{name}={asked.fixed[name]:g}" for name in names),
    )
    return SurfacePanel(
        title=f"{asked.model.quantity} over {names[0]} and {names[1]}",
        fixed=asked.others(*names),
        names=names,
        cells=tuple(_cells(asked, across.at(x), up.at(y), steps, found)),
        legend=tuple(
            (_shade(step), asked.number(float(np.exp(low + (high - low) * part))))
            for step, part in enumerate(np.arange(_SHADES) / _SHADES)
        ),
        seen=(left, top, round(right - left, 1), round(bottom - top, 1)),
        x_marks=across.marks(),
        y_marks=up.marks(),
        dots=tuple(asked.dots(names, across, up, places)),
        asked=mark if asked.marked else None,
    )


def _values(asked: Asked, names: tuple[str, str], x: _Floats, y: _Floats) -> _Floats:
    """Return what the formula says at all places: a (down, across) array."""
    grid = np.meshgrid(x, y)
    at = {key: np.full(grid[0].shape, value) for key, value in asked.fixed.items()}
    at |= dict(zip(names, grid, strict=True))
    with np.errstate(all="ignore"):
        found = np.broadcast_to(evaluate(asked.model.formula, at), grid[0].shape)
    return np.clip(np.nan_to_num(found), SMALLEST, LARGEST)


def _shade(step: float) -> float:
    return round(min(step, _SHADES - 1) / (_SHADES - 1), 2)


def _cells(
    asked: Asked, x: _Floats, y: _Floats, steps: _Floats, found: _Floats
) -> Iterator[SurfaceCell]:
    """Yield the cells of each row; neighbours of one shade are one."""
    for row in range(len(y) - 1):
        changes = np.flatnonzero(np.diff(steps[row])) + 1
        for begin, end in zip([0, *changes], [*changes, len(x) - 1], strict=True):
            ends = (float(found[row, begin]), float(found[row, end - 1]))
            yield SurfaceCell(
                float(x[begin]),
                float(y[row + 1]),
                round(float(x[end] - x[begin]), 1),
                round(float(y[row] - y[row + 1]), 1),
                _shade(float(steps[row, begin])),
                " to ".join(dict.fromkeys(map(asked.number, ends))),
            )
