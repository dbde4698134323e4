"""Axes of pictures: where a number lies, and which numbers stand at an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Numbers that differ by more than this factor have a logarithmic axis.
_DECADE = 10.0

#: So many numbers stand at an axis at most.
_MOST_TICKS = 6

#: Steps between numbers of an axis, times a power of ten.
_STEPS = (1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class AxisMark:
    """A number at an axis, and its place [px]."""

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a picture.

    Attributes
    ----------
    low, high : float
        Its ends.
    logarithmic : bool
    length : float
        [px]
    reverse : bool
        Whether the largest number lies at place 0, as on an axis that goes up.
    """

    low: float
    high: float
    logarithmic: bool
    length: float
    reverse: bool = False

    @classmethod
    def over(
        cls, values: Iterable[float], length: float, *, reverse: bool = False
    ) -> Axis:
        """Return the axis that holds numbers above 0, the same or not.

        Parameters
        ----------
        values : iterable of float
        length : float
            [px]
        reverse : bool
        """
        found = list(values)
        low, high = min(found), max(found)
        if low == high:
            low, high = low / 1.1, high * 1.1
        return cls(low, high, high > _DECADE * low, length, reverse)

    def at(self, values: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where numbers lie [px]; what is outside lies at the end."""
        shown = np.log if self.logarithmic else np.asarray
        low, high = float(shown(self.low)), float(shown(self.high))
        part = (shown(np.clip(values, self.low, self.high)) - low) / (high - low)
        return np.asarray(
            np.round(self.length * (1 - part if self.reverse else part), 1)
        )

    def between(self, count: int) -> NDArray[np.float64]:
        """Return numbers from end to end, equally far apart in the picture."""
        space = np.geomspace if self.logarithmic else np.linspace
        return np.asarray(space(self.low, self.high, count))

    def marks(self) -> tuple[AxisMark, ...]:
        """Return what stands at the axis."""
        return tuple(AxisMark(float(self.at(one)), f"{one:g}") for one in self.ticks())

    def ticks(self) -> tuple[float, ...]:
        """Return round numbers inside of the axis, at most six."""
        if self.logarithmic:
            for steps in (_STEPS, _STEPS[:1]):
                found = self._powers(steps)
                if len(found) <= _MOST_TICKS:
                    break
            return tuple(found[:: math.ceil(len(found) / _MOST_TICKS)])
        rough = (self.high - self.low) / (_MOST_TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next((s for s in _STEPS if s * power >= rough), 10.0) * power
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return tuple(step * number for number in range(first, last + 1))

    def _powers(self, steps: Sequence[float]) -> list[float]:
        first, last = (math.floor(math.log10(end)) for end in (self.low, self.high))
        powers = [10.0**power for power in range(first, last + 1)]
        found = [step * power for power in powers for step in steps]
        return [value for value in found if self.low <= value <= self.high]
