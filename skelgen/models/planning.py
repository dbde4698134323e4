"""Which workload to record next."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.errors import UsageError
from skelgen.models.amounts import above_0, summed
from skelgen.models.model import MOST_WIDE, Model, fit_model
from skelgen.models.runs import Floats, table_of
from skelgen.models.thresholds import COST_POWER, NEAR_RECORDED

#: Workloads that are compared.
_GRID = 800

#: Recordings that take less cost as much as one of this time [s].
_LEAST_COST_S = 1e-6


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a dimension for which the model is wanted.

    Attributes
    ----------
    name : str
    low, high : float
    whole : bool
        Whether only whole numbers can be run.
    """

    name: str
    low: float
    high: float
    whole: bool = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.low < self.high < float("inf"):
            raise UsageError(
                f"range of {self.name}: {self.low:g} to {self.high:g}; the first must "
                "be at least 0 and below the second"
            )

    def values(self, count: int) -> Floats:
        """Return values all over the range, closer at the low end."""
        shift = 0.0 if self.low > 0.0 else 1.0
        spaced = np.geomspace(self.low + shift, self.high + shift, count) - shift
        spaced[[0, -1]] = self.low, self.high
        return np.unique(np.round(spaced) if self.whole else spaced)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """What to record next.

    Attributes
    ----------
    workload : dict of str to float or None
        None when every value of the range has been recorded.
    reason : str
    uncertainty : float or None
        Half the 90 % interval, as a share of the prediction, where it is largest [1];
        None when there are too few points to tell.
    """

    workload: dict[str, float] | None
    reason: str
    uncertainty: float | None = None


def bisection(
    recorded: Sequence[Mapping[str, float]], ranges: Sequence[Range]
) -> PlannedRun:
    """Return the next workload of the thesis: both ends, then halves of the widest gap.

    Dimensions are varied one at a time, the others stay as in the first workload. The
    thesis draws the half at random; here it is the wider, then the upper one.

    References
    ----------
    Martinez Canillas 2011, section 5.5.3.
    """
    base = _base(recorded, ranges)
    lines = [_on_line(recorded, base, one) for one in ranges]
    for one, taken in sorted(zip(ranges, lines, strict=True), key=lambda o: len(o[1])):
        for end in (one.low, one.high):
            if end not in taken:
                return PlannedRun(
                    base | {one.name: end}, f"an end of the range of {one.name}"
                )
        gaps = np.diff(taken)
        widest = len(gaps) - 1 - int(np.argmax(gaps[::-1]))
        middle = (taken[widest] + taken[widest + 1]) / 2
        middle = float(round(middle)) if one.whole else middle
        if middle not in taken:
            told = f"the middle of {taken[widest]:g} and {taken[widest + 1]:g}"
            return PlannedRun(base | {one.name: middle}, told)
    return PlannedRun(None, "all values of the range are recorded")


def _base(
    recorded: Sequence[Mapping[str, float]], ranges: Sequence[Range]
) -> dict[str, float]:
    """Return the first workload: dimensions without a range stay as they are there."""
    base = {one.name: one.low for one in ranges}
    for workload in recorded:
        if not set(base) <= set(workload):
            raise UsageError(
                f"ranges are given for {', '.join(base)}, a recorded workload has "
                f"{', '.join(workload)}; give ranges of its dimensions"
            )
    return base | dict(recorded[0]) if recorded else base


def _on_line(
    recorded: Sequence[Mapping[str, float]], base: Mapping[str, float], one: Range
) -> list[float]:
    """Return recorded values of a dimension in its range, others as in the base."""
    return sorted(
        {
            float(workload[one.name])
            for workload in recorded
            if all(workload[k] == v for k, v in base.items() if k != one.name)
            and one.low <= workload[one.name] <= one.high
        }
    )


def disagreement(
    recorded: Sequence[Mapping[str, float]],
    parts: Sequence[Sequence[float]],
    ranges: Sequence[Range],
    *,
    cost_power: float = COST_POWER,
) -> PlannedRun:
    """Return the workload where functions that still fit disagree most for its cost.

    Parameters
    ----------
    recorded : sequence of mapping
        Workloads recorded so far, maybe none.
    parts : sequence of sequence of float
        For each of them the parts of the application's time [s], such as time x weight
        of each phase; the sum is what is wanted, and what a recording costs.
    ranges : sequence of Range
    cost_power : float
        The disagreement is divided by cost to this power; 0 ignores cost.
    """
    base = _base(recorded, ranges)
    first = _first(recorded, ranges, base)
    if first is not None:
        return first
    fits = [_fitted(recorded, column) for column in zip(*parts, strict=True)]
    count = max(5, int(_GRID ** (1 / len(ranges))))
    grid = np.array(list(itertools.product(*(one.values(count) for one in ranges))))
    at = {name: np.full(len(grid), above_0(value)) for name, value in base.items()}
    at |= {
        one.name: np.where(grid[:, i] > 0.0, grid[:, i], above_0(0.0))
        for i, one in enumerate(ranges)
    }
    values = np.array([one.at(at) for one in fits])
    widths = np.array(
        [_half(one, own, at) for one, own in zip(fits, values, strict=True)]
    )
    total = values.sum(axis=0)
    columns = {
        name: np.array([above_0(one[name]) for one in recorded]) for name in base
    }
    found = np.array([one.at(columns) for one in fits])
    norms = summed(widths, found, np.array(parts, dtype=np.float64).T)
    # Where all functions are 0 there is nothing to be uncertain of.
    uncertainty = np.divide(norms, total, out=np.zeros_like(norms), where=total > 0)
    cost = np.maximum(total, _LEAST_COST_S) ** cost_power
    score = uncertainty * max(total.max(), _LEAST_COST_S) ** cost_power / cost
    score[_near(grid, recorded, ranges)] = -1.0
    best = int(np.argmax(score))
    largest = float(uncertainty.max())
    if score[best] < 0.0:
        return PlannedRun(None, "no workload is far from all recorded ones", largest)
    told = f"the functions that fit so far are {uncertainty[best]:.1%} uncertain there"
    there = {one.name: float(grid[best, i]) for i, one in enumerate(ranges)}
    return PlannedRun(base | there, told, largest)


def _fitted(recorded: Sequence[Mapping[str, float]], column: Sequence[float]) -> Model:
    rows = [{name: above_0(value) for name, value in one.items()} for one in recorded]
    return fit_model(table_of(rows, column), "workload")


def _half(model: Model, values: Floats, at: Mapping[str, Floats]) -> Floats:
    """Return half of the 90 % intervals, in the unit of the values."""
    return np.asarray(values * np.expm1(np.minimum(model.half_width(at), MOST_WIDE)))


def _first(
    recorded: Sequence[Mapping[str, float]],
    ranges: Sequence[Range],
    base: dict[str, float],
) -> PlannedRun | None:
    """Return the next of the first workloads: low, each dimension high, the middle."""
    low = base | {one.name: one.low for one in ranges}
    thirds = {one.name: one.values(3) for one in ranges}
    middle = base | {name: float(v[len(v) // 2]) for name, v in thirds.items()}
    wanted = [low, *(low | {one.name: one.high} for one in ranges), middle]
    if len(recorded) >= len(wanted) and all(
        len({workload[one.name] for workload in recorded}) > 1 for one in ranges
    ):
        return None
    for workload in wanted:
        if not any(all(r[k] == v for k, v in workload.items()) for r in recorded):
            return PlannedRun(
                workload, "the ends and the middle of the ranges come first"
            )
    return None


def _near(
    grid: Floats, recorded: Sequence[Mapping[str, float]], ranges: Sequence[Range]
) -> np.ndarray:
    """Tell which workloads are close to a recorded one in every dimension."""
    near = np.zeros(len(grid), dtype=bool)
    scale = [np.log((one.high + 1.0) / (one.low + 1.0)) for one in ranges]
    for workload in recorded:
        here = np.array([workload[one.name] for one in ranges])
        distance = np.abs(np.log((grid + 1.0) / (here + 1.0))) / scale
        near |= (distance < NEAR_RECORDED).all(axis=1)
    return near
