"""Draw a model: its curve and interval over each input, its runs, and a surface."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import evaluate
from skelgen.models.model import InputRange, Model, predict_with
from skelgen.models.runs import RunTable
from skelgen.trust import Interval
from skelgen.web.axes import Axis, AxisMark
from skelgen.web.fill import filled
from skelgen.web.model_marks import (
    MODEL_HEIGHT,
    MODEL_WIDTH,
    Asked,
    AskedMark,
    Places,
    RunDot,
)
from skelgen.web.model_surface import SurfacePanel, surface_panel

#: Panels that are drawn, numbers that a curve is drawn through, letters in a line.
_MOST_PANELS, _VALUES, _LINE = 6, 48, 72
#: Left and right of a panel, above all panels, below each, and below a surface [px].
_LEFT, _RIGHT, _ABOVE, _BELOW, _LEGEND = 76, 24, 90, 108, 36
#: Height of a line of the formula [px].
_LINE_HEIGHT = 16


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """The model over one input, all others fixed; places in px from top left.

    Attributes
    ----------
    title, fixed : str
        What is drawn, and the values of the other inputs.
    name, quantity : str
        What stands at the axes.
    curve, band : str
        Points of the curve and of its 90 % interval.
    seen : tuple of float
        The range of the runs: begin and width.
    x_marks, y_marks : tuple of AxisMark
    dots : tuple of RunDot
    asked : AskedMark or None
    """

    title: str
    fixed: str
    name: str
    quantity: str
    curve: str
    band: str
    seen: tuple[float, float]
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    dots: tuple[RunDot, ...]
    asked: AskedMark | None


@dataclass(frozen=True, slots=True)
class ModelPicture:
    """What the picture shows: the formula in lines, curves, and inputs left out.

    Attributes
    ----------
    title : str
    formula : tuple of str
    panels : tuple of CurvePanel
    surface : SurfacePanel or None
    hidden : int
    left, top, down : int
        Place of the first panel, and from each to the next [px].
    size : (int, int)
        Width and height [px].
    """

    title: str
    formula: tuple[str, ...]
    panels: tuple[CurvePanel, ...]
    surface: SurfacePanel | None
    hidden: int
    left: int
    top: int
    down: int
    size: tuple[int, int]


def picture_size(model: Model, *, marked: bool = False) -> tuple[int, int]:
    """Return width and height of the picture of a model, without drawing it [px].

    Parameters
    ----------
    model : Model
    marked : bool
        Whether something is asked for.
    """
    drawn = _drawn(model, marked=marked)
    height = _top(model) + len(drawn[:_MOST_PANELS]) * (MODEL_HEIGHT + _BELOW)
    if len(_extents(drawn)) == 2:
        height += MODEL_HEIGHT + _BELOW + _LEGEND
    return _LEFT + MODEL_WIDTH + _RIGHT, height


def _drawn(model: Model, *, marked: bool) -> list[InputRange]:
    return [one for one in model.inputs if one.low < one.high or marked]


def _extents(drawn: list[InputRange]) -> list[InputRange]:
    """Return inputs that are no loads: two of them are drawn as a surface."""
    return [one for one in drawn if not one.input.meaning.available]


def _wrapped(model: Model) -> list[str]:
    return textwrap.wrap(model.text, _LINE, break_long_words=False)


def _top(model: Model) -> int:
    return _ABOVE + _LINE_HEIGHT * len(_wrapped(model))


def model_picture(
    model: Model,
    runs: RunTable | None = None,
    at: Mapping[str, float] | None = None,
    *,
    gaps: bool = False,
) -> ModelPicture:
    """Prepare the picture of a model.

    Parameters
    ----------
    model : Model
    runs : RunTable, optional
        Drawn as points.
    at : mapping of str to float, optional
        What is asked for, a value of each input; else all but the input of a panel
        have their largest value, and nothing is marked.
    gaps : bool
        Leave out where the model gives no answer.

    Raises
    ------
    InputError
        When the model gives no answer somewhere in the picture; with `gaps`, where it
        gives hardly any.
    """
    fixed = {one.input.name: one.high for one in model.inputs}
    fixed |= {name: value for name, value in (at or {}).items() if name in fixed}
    predict_with(model, fixed)  # refuses what cannot be asked
    asked = Asked(model, fixed, runs, marked=at is not None)
    drawn = _drawn(model, marked=asked.marked)
    extents = _extents(drawn)
    return ModelPicture(
        title=f"{model.quantity}: a model of the family {model.family}",
        formula=tuple(_wrapped(model)),
        panels=tuple(_curve(asked, one, gaps) for one in drawn[:_MOST_PANELS]),
        surface=surface_panel(asked, *extents) if len(extents) == 2 else None,
        hidden=max(len(drawn) - _MOST_PANELS, 0),
        left=_LEFT,
        top=_top(model),
        down=MODEL_HEIGHT + _BELOW,
        size=picture_size(model, marked=asked.marked),
    )


def _said(
    asked: Asked, name: str, values: Places, gaps: bool
) -> tuple[Places, list[Interval]]:
    """Return what a model says over an input, and where it says something."""
    found: list[tuple[float, Interval]] = []
    for value in values.tolist():
        try:
            said = predict_with(asked.model, {**asked.fixed, name: value})
        except InputError:
            if not gaps:
                raise
            continue
        found.append((value, said.interval))
    return np.array([value for value, _ in found]), [said for _, said in found]


def _curve(asked: Asked, one: InputRange, gaps: bool) -> CurvePanel:
    model, name = asked.model, one.input.name
    across = asked.axis(one, MODEL_WIDTH)
    values, said = _said(asked, name, across.between(_VALUES), gaps)
    middle = predict_with(model, asked.fixed).interval
    places = _moved(asked, name)
    up = Axis.over(
        [*(i.p50 for i in said), *places[:, 1], middle.p5, middle.p95],
        MODEL_HEIGHT,
        reverse=True,
    )
    x, begin, width = across.at(values), *_seen(across, one)
    low, high = (up.at(np.array([getattr(i, p) for i in said])) for p in ("p5", "p95"))
    unit = f" [{model.unit}]" if model.unit else ""
    return CurvePanel(
        title=f"{model.quantity} over {name}",
        fixed=asked.others(name),
        name=name,
        quantity=model.quantity + unit,
        curve=_points(x, up.at(np.array([i.p50 for i in said]))),
        band=_points(np.append(x, x[::-1]), np.append(high, low[::-1])),
        seen=(begin, width),
        x_marks=across.marks(),
        y_marks=up.marks(),
        dots=tuple(asked.dots((name,), across, up, places)),
        asked=_mark(asked, name, middle, across, up) if asked.marked else None,
    )


def _seen(across: Axis, one: InputRange) -> tuple[float, float]:
    begin, end = across.at(np.array([one.low, one.high])).tolist()
    return begin, round(end - begin, 1)


def _mark(
    asked: Asked, name: str, interval: Interval, across: Axis, up: Axis
) -> AskedMark:
    ends = (asked.number(interval.p5), asked.number(interval.p95))
    said = f"{asked.number(interval.p50)} (90 %: {ends[0]} to {ends[1]})"
    return AskedMark(
        float(across.at(asked.fixed[name])),
        float(up.at(interval.p50)),
        float(up.at(interval.p5)),
        float(up.at(interval.p95)),
        f"{name}={asked.fixed[name]:g}: {said}",
    )


def _moved(asked: Asked, name: str) -> Places:
    """Return runs on the line of a panel: an input, and what was measured.

    A run whose other inputs are not those of the line is moved there by the formula,
    so that its distance from the curve is still its error.
    """
    if asked.runs is None:
        return np.empty((0, 2))
    own, values = asked.runs.columns, asked.runs.values
    line = {key: np.full(len(values), value) for key, value in asked.fixed.items()}
    line[name] = own[name]
    formula = asked.model.formula
    with np.errstate(all="ignore"):
        moved = values * evaluate(formula, line) / evaluate(formula, own)
    good = np.isfinite(moved) & (moved > 0.0)
    return np.column_stack([own[name], np.where(good, moved, values)])


def _points(x: Places, y: Places) -> str:
    return " ".join(f"{a},{b}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def render_model(
    model: Model,
    runs: RunTable | None = None,
    at: Mapping[str, float] | None = None,
    *,
    gaps: bool = False,
) -> str:
    """Draw a model with its interval, its runs and what it is asked for.

    Parameters
    ----------
    model : Model
    runs : RunTable, optional
    at : mapping of str to float, optional
    gaps : bool
        Leave out where the model gives no answer, and do not refuse it.

    Returns
    -------
    str
        An SVG picture.
    """
    picture = model_picture(model, runs, at, gaps=gaps)
    size = {"width": MODEL_WIDTH, "height": MODEL_HEIGHT}
    return filled("model.svg.j2", picture=picture, **size)
