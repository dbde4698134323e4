"""Draw the recorded points and the functions of each phase of a workload study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.families.candidates import averaged
from skelgen.models.runs import Floats
from skelgen.units import format_seconds
from skelgen.web.fill import filled
from skelgen.workload import WorkloadTime
from skelgen.workload.transfer import PartFunction

#: Size of a panel [px], values a curve is drawn through, phases that are drawn.
WORKLOAD_WIDTH, WORKLOAD_HEIGHT, MOST_PHASES = 260, 130, 10
_VALUES = 60


@dataclass(frozen=True, slots=True)
class WorkloadDot:
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
    dots: tuple[WorkloadDot, ...]
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
        for quantity, own in (("time", one.fits.time), ("weight", one.fits.weight)):
            new = list(_panels(f"{quantity} of {name}", own, found.at))
            if quantity == "time" and not one.fits.measured:
                new = [replace(panel, dots=()) for panel in new]
            panels += new
        rows.append(tuple(panels))
    return WorkloadPicture(tuple(rows), len(by_share) - len(rows))


def _panels(title: str, own: PartFunction, at: dict[str, float]) -> Iterator[Panel]:
    """Draw a function over each dimension that varies, the others as they are wanted.

    A point where another dimension had another value is moved onto that line by the
    function, so that its distance from the curve is still its error. It is
    drawn over the points of the machine that the terms were chosen on as well: here one
    point may be all.
    """
    cases, reach = averaged(own.runs), own.reach
    points, values = cases.at, cases.values
    for i, name in enumerate(own.names):
        ends = reach[:, i].min(), reach[:, i].max()
        if ends[0] == ends[1]:
            continue
        low, high = min(ends[0], at[name]), max(ends[1], at[name])
        over = np.linspace(low, high, _VALUES)
        curve = _along(own, at, name, over)
        said = own.model.at(cases.columns)
        line = _along(own, at, name, points[:, i])
        moved = values * np.divide(line, said, out=np.ones_like(said), where=said > 0)
        largest = float(max(curve.max(), moved.max())) or 1.0
        others = points[:, [k for k in range(len(own.names)) if k != i]] != [
            at[other] for other in own.names if other != name
        ]
        yield Panel(
            title=f"{title} over {name}",
            text=own.text,
            curve=" ".join(
                f"{x},{y}"
                for x, y in zip(_x(over, low, high), _y(curve, largest), strict=True)
            ),
            dots=tuple(
                WorkloadDot(x, y, bool(off), f"{value:.4g}")
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
            largest=format_seconds(largest) if cases.unit else f"{largest:.0f}",
        )


def _along(
    own: PartFunction, at: dict[str, float], name: str, values: Floats
) -> Floats:
    return own.at([{**at, name: float(value)} for value in values])


def _x(values: Floats, low: float, high: float) -> list[float]:
    shift: list[float] = np.round(
        (values - low) / (high - low) * WORKLOAD_WIDTH, 1
    ).tolist()
    return shift


def _y(values: Floats, largest: float) -> list[float]:
    part = np.clip(values / largest, 0, 1) / 1.05
    down: list[float] = np.round(WORKLOAD_HEIGHT * (1 - part), 1).tolist()
    return down


def render_workload(found: WorkloadTime) -> str:
    """Draw the points and functions of each phase of a workload study.

    Parameters
    ----------
    found : WorkloadTime

    Returns
    -------
    str
        An SVG picture.
    """
    picture = workload_picture(found)
    return filled(
        "workload.svg.j2", picture=picture, width=WORKLOAD_WIDTH, height=WORKLOAD_HEIGHT
    )
