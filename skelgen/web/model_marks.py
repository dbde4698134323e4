"""What panels of a model have in common: runs, what is asked, numbers in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.model import InputRange, Model
from skelgen.models.runs import RunTable
from skelgen.units import format_seconds
from skelgen.web.axes import Axis

#: Size of a panel [px].
MODEL_WIDTH, MODEL_HEIGHT = 420, 200

#: Nobody asked: the picture goes on to so many times the largest run.
_AHEAD = 2.0

Places = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunDot:
    """A run, at a place [px]; hollow where other inputs are not those of the panel."""

    x: float
    y: float
    hollow: bool
    title: str


@dataclass(frozen=True, slots=True)
class AskedMark:
    """What is asked for and its interval, at places [px]."""

    x: float
    y: float
    low_y: float
    high_y: float
    title: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a model is drawn.

    Attributes
    ----------
    model : Model
    fixed : mapping of str to float
        The values of all inputs: a panel varies one or two of them.
    runs : RunTable or None
    marked : bool
        Whether somebody asked for these values.
    """

    model: Model
    fixed: Mapping[str, float]
    runs: RunTable | None
    marked: bool

    def axis(self, one: InputRange, length: float, *, reverse: bool = False) -> Axis:
        """Return the axis of an input: its runs, what is asked, and what lies ahead."""
        asked = self.fixed[one.input.name]
        if one.input.meaning.available:
            end = 1.0
        else:
            end = asked if asked > one.high else one.high * _AHEAD
        return Axis.over((min(one.low, asked), end), length, reverse=reverse)

    def others(self, *names: str) -> str:
        """Return the values of all inputs but some, in words."""
        rest = ((k, v) for k, v in self.fixed.items() if k not in names)
        return ", ".join(f"{name}={value:g}" for name, value in rest)

    def number(self, value: float) -> str:
        """Return what the model says in words."""
        return format_seconds(value) if self.model.unit == "s" else f"{value:.4g}"

    def dots(
        self, names: tuple[str, ...], across: Axis, up: Axis, places: Places
    ) -> Iterator[RunDot]:
        """Yield the runs.

        Parameters
        ----------
        names : tuple of str
            Inputs that the panel varies.
        across, up : Axis
        places : (runs, 2) array
            Numbers on these axes.
        """
        if self.runs is None:
            return
        columns = self.runs.columns
        others = [one for one in columns if one not in names and one in self.fixed]
        for row, (x, y) in enumerate(places):
            said = ", ".join(f"{name}={v[row]:g}" for name, v in columns.items())
            yield RunDot(
                float(across.at(x)),
                float(up.at(y)),
                any(float(columns[one][row]) != self.fixed[one] for one in others),
                f"{said}: {self.runs.values[row]:.4g} {self.runs.unit}".rstrip(),
            )
