"""Draw the recorded points and the functions of each phase of a workload study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.types import Fit, Floats
from skelgen.units import format_seconds
from skelgen.workload import WorkloadTime

#: Size of a panel [px], values a curve is drawn through, phases that are drawn.
WIDTH, HEIGHT, MOST_PHASES = 260, 130, 10
_VALUES = 60


@dataclass(frozen=True, slots=True)
class Dot:
    """A recorded workload; hollow when other dimensions had other values there."""

    x: float
    y: float
    hollow: bool
    title: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Time or weight of one phase over one dimension; positions in px from top left."""

    title: str
    text: str
    curve: str
    dots: tuple[Dot, ...]
    wanted_x: float
    low: str
    high: str
    largest: str


@dataclass(frozen=True, slots=True)
class WorkloadPicture:
    """What the picture shows: for each phase its panels."""

    rows: tuple[tuple[Panel, ...], ...]
    hidden: int


def workload_picture(found: WorkloadTime) -> WorkloadPicture:
    """Prepare the picture of a prediction."""
    by_share = sorted(
        enumerate(found.parts, start=1), key=lambda pair: -pair[1].total_s
    )
    rows = []
    for number, one in by_share[:MOST_PHASES]:
        name = f"phase {number}" if one.part.key else "the rest"
        panels = []
        for quantity, fit in (("time", one.fits.time), ("weight", one.fits.weight)):
            new = list(_panels(f"{quantity} of {name}", fit, found.at))
            if quantity == "time" and not one.fits.measured:
                new = [replace(panel, dots=()) for panel in new]
            panels += new
        rows.append(tuple(panels))
    return WorkloadPicture(tuple(rows), len(by_share) - len(rows))


def _panels(title: str, fit: Fit, at: dict[str, float]) -> Iterator[Panel]:
    """Draw a function over each dimension that varies, the others as they are wanted.

    A point where another dimension had another value is moved onto that line by the
    function, so that its distance from the curve is still its error. It is
    drawn over the points of the machine that the terms were chosen on as well: here one
    point may be all.
    """
    points, reach = np.array(fit.points), np.array(fit.points + fit.elsewhere)
    values = np.array(fit.values)
    for i, name in enumerate(fit.dimensions):
        ends = reach[:, i].min(), reach[:, i].max()
        if ends[0] == ends[1]:
            continue
        low, high = min(ends[0], at[name]), max(ends[1], at[name])
        over = np.linspace(low, high, _VALUES)
        curve = _along(fit, at, name, over)
        own = fit.function.at({d: points[:, k] for k, d in enumerate(fit.dimensions)})
        line = _along(fit, at, name, points[:, i])
        moved = values * np.divide(line, own, out=np.ones_like(own), where=own > 0)
        largest = float(max(curve.max(), moved.max())) or 1.0
        others = points[:, [k for k in range(len(fit.dimensions)) if k != i]] != [
            at[other] for other in fit.dimensions if other != name
        ]
        yield Panel(
            title=f"{title} over {name}",
            text=fit.function.text,
            curve=" ".join(
                f"{x},{y}"
                for x, y in zip(_x(over, low, high), _y(curve, largest), strict=True)
            ),
            dots=tuple(
                Dot(x, y, bool(off), f"{value:.4g}")
                for x, y, off, value in zip(
                    _x(points[:, i], low, high),
                    _y(moved, largest),
                    others.any(axis=1),
                    values,
                    strict=True,
                )
            ),
            wanted_x=_x(np.array([at[name]]), low, high)[0],
            low=f"{low:g}",
            high=f"{high:g}",
            largest=f"{largest:.0f}" if fit.whole else format_seconds(largest),
        )


def _along(fit: Fit, at: dict[str, float], name: str, values: Floats) -> Floats:
    fixed = {d: np.full(len(values), at[d]) for d in fit.dimensions}
    return fit.function.at(fixed | {name: values})


def _x(values: Floats, low: float, high: float) -> list[float]:
    shift: list[float] = np.round((values - low) / (high - low) * WIDTH, 1).tolist()
    return shift


def _y(values: Floats, largest: float) -> list[float]:
    part = np.clip(values / largest, 0, 1) / 1.05
    down: list[float] = np.round(HEIGHT * (1 - part), 1).tolist()
    return down
