"""What to add where a model is off: a repeat, an input, a run beside or beyond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skelgen.models import runs_ahead
from skelgen.models.runs import Floats, RunTable
from skelgen.models.thresholds import (
    FEWEST_CORRELATED,
    LARGEST_REPEAT_FACTOR,
    LEAST_CORRELATION,
    LEAST_SURE_CORRELATION,
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to add to the runs.

    Attributes
    ----------
    kind : str
        ``repeat``, ``input``, ``load``, ``neighbour`` or ``beyond``.
    text : str
        For people, in one line.
    run : tuple of (str, float)
        The configuration to run; empty where a run is not what is missing.
    """

    kind: str
    text: str
    run: tuple[tuple[str, float], ...] = ()


def repeat(at: Mapping[str, float], count: int, spread: float) -> Advice:
    """Advise another run of a configuration whose runs differ."""
    told = f"its {count} runs differ by {spread:.0%}: repeat {written(at)}"
    return Advice("repeat", told, tuple(at.items()))


def goes_with(misses: Floats, columns: Mapping[str, Floats]) -> tuple[str, float]:
    """Return the column that errors go with most, and their rank correlation.

    Parameters
    ----------
    misses : (runs,) float64 array
        Logarithms of ratios.
    columns : mapping of str to (runs,) array
        nan where a run does not say.

    Returns
    -------
    (str, float)
        An empty name where errors go with none.
    """
    best = "", 0.0
    for name, column in columns.items():
        known = np.isfinite(column) & np.isfinite(misses)
        found = _correlation(misses[known], column[known])
        if abs(found) > abs(best[1]):
            best = name, found
    return best


def _correlation(first: Floats, second: Floats) -> float:
    """Return the rank correlation; 0 where it may be chance."""
    if len(first) < FEWEST_CORRELATED or not np.ptp(first) or not np.ptp(second):
        return 0.0
    found = float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])
    sure = abs(found) * np.sqrt((len(first) - 2) / max(1.0 - found**2, 1e-12))
    shown = abs(found) >= LEAST_CORRELATION and sure >= LEAST_SURE_CORRELATION
    return found if shown else 0.0


def _ranks(values: Floats) -> Floats:
    """Return the place of each value in their order; equal ones share it."""
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return np.asarray((ends - (count - 1) / 2)[which.ravel()])


def neighbour(runs: RunTable, at: Mapping[str, float]) -> Advice:
    """Advise a run in the widest gap next to a configuration, or beyond the last."""
    widest, name, value = 0.0, "", 0.0
    for one in runs_ahead.extents(runs):
        here = at[one.name]
        values = np.unique(runs.columns[one.name])
        for other in (values[values < here][-1:], values[values > here][:1]):
            gap = abs(float(np.log(other[0] / here))) if len(other) else 0.0
            if gap > widest:
                middle = _between(float(other[0]), here, values)
                if middle is not None:
                    widest, name, value = gap, one.name, middle
    if name:
        run = {**at, name: value}
        told = f"add a run between it and its neighbour: {written(run)}"
        return Advice("neighbour", told, tuple(run.items()))
    told = f"no gap is left next to it: repeat {written(at)}, or try another family"
    return Advice("repeat", told, tuple(at.items()))


def _between(first: float, second: float, values: Floats) -> float | None:
    """Return a value between two: a power of 2 among such, else of two digits."""
    low, high = sorted((first, second))
    middle = float(np.sqrt(low * high))
    if (np.exp2(np.round(np.log2(values))) == values).all():
        power = float(np.exp2(np.round(np.log2(middle))))
        if low < power < high:
            return power
    whole = bool((values == np.round(values)).all())
    found = rounded(middle, whole=whole)
    apart = low * LARGEST_REPEAT_FACTOR < found < high / LARGEST_REPEAT_FACTOR
    return found if apart else None


def rounded(value: float, *, whole: bool) -> float:
    """Return a number of two or three digits that a person would type."""
    digits = 2 - int(np.floor(np.log10(value)))
    found = round(value, digits if value < 1000 else digits - 1)
    return float(round(found)) if whole else float(found)


def written(at: Mapping[str, float]) -> str:
    """Write a configuration as options take it."""
    return ",".join(f"{name}={value:.12g}" for name, value in at.items())
