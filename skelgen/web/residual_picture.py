"""Draw by how much runs are above and below a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models.residuals import Residual
from skelgen.models.runs import Floats
from skelgen.web.axes import Axis, AxisMark
from skelgen.web.fill import filled

#: Size of a panel [px], and panels at most.
RESIDUAL_WIDTH, RESIDUAL_HEIGHT, _MOST_PANELS = 420, 110, 3
#: Space around panels [px].
RESIDUAL_LEFT, TOP, _RIGHT, _BELOW = 76, 46, 24, 76
#: The picture shows errors up to so much to both sides at least, and at most [1].
_LEAST, _MOST = 0.01, 9.0


@dataclass(frozen=True, slots=True)
class ResidualDot:
    """A run at a place [px]; at the edge where it is farther off."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class ResidualPanel:
    """Errors over one input.

    Attributes
    ----------
    name : str
    x_marks, y_marks : tuple of AxisMark
    dots : tuple of ResidualDot
    """

    name: str
    x_marks: tuple[AxisMark, ...]
    y_marks: tuple[AxisMark, ...]
    dots: tuple[ResidualDot, ...]


def residual_panels(residuals: Sequence[Residual]) -> tuple[ResidualPanel, ...]:
    """Prepare the picture: a panel for each of the first inputs that vary."""
    if not residuals:
        return ()
    columns = _columns(residuals)
    errors = np.array([one.error for one in residuals])
    edge = float(np.clip(np.max(np.abs(errors)), _LEAST, _MOST))
    return tuple(
        _panel(name, columns[name], errors, edge, residuals) for name in _shown(columns)
    )


def residual_size(residuals: Sequence[Residual]) -> tuple[int, int]:
    """Return width and height of the picture, without drawing it [px]."""
    panels = len(_shown(_columns(residuals))) if residuals else 0
    return RESIDUAL_LEFT + RESIDUAL_WIDTH + _RIGHT, TOP + panels * (
        RESIDUAL_HEIGHT + _BELOW
    )


def _columns(residuals: Sequence[Residual]) -> dict[str, Floats]:
    rows = [dict(one.at) for one in residuals]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _shown(columns: dict[str, Floats]) -> list[str]:
    varied = [name for name, column in columns.items() if np.ptp(column) > 0.0]
    return (varied or [*columns])[:_MOST_PANELS]


def _panel(
    name: str,
    column: Floats,
    errors: Floats,
    edge: float,
    residuals: Sequence[Residual],
) -> ResidualPanel:
    across = Axis.over(column.tolist(), RESIDUAL_WIDTH)
    up = Axis(-edge, edge, False, RESIDUAL_HEIGHT, reverse=True)
    x, y = across.at(column), up.at(errors)
    dots = tuple(
        ResidualDot(
            float(x[i]),
            float(y[i]),
            f"{', '.join(f'{k}={v:g}' for k, v in one.at)}: {one.error:+.1%}",
        )
        for i, one in enumerate(residuals)
    )
    marks = tuple(
        AxisMark(float(up.at(each)), "0" if not each else f"{100 * each:+.3g} %")
        for each in (edge, 0.0, -edge)
    )
    return ResidualPanel(name, across.marks(), marks, dots)


def render_residuals(residuals: Sequence[Residual]) -> str:
    """Draw by how much runs are above and below a model.

    Parameters
    ----------
    residuals : sequence of Residual

    Returns
    -------
    str
        An SVG picture.
    """
    panels = residual_panels(residuals)
    return filled(
        "residuals.svg.j2",
        panels=panels,
        size=residual_size(residuals),
        width=RESIDUAL_WIDTH,
        height=RESIDUAL_HEIGHT,
        left=RESIDUAL_LEFT,
        top=TOP,
    )
