"""Which run to make next: the one that narrows intervals most for its cost.

A run tells which of the formulas that fit about as well is right. How much it tells of
another place is known before it is made: where formulas that are high at one place are
high at the other, too, both are uncertain for the same reason (the update of a
Gaussian by one measurement, with the formulas as its sample). And what lay ahead of all
runs is ahead of them no longer, or by less.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.formulas import evaluate
from skelgen.models.formulas.expression import Values
from skelgen.models.model import InputRange, Model
from skelgen.models.runs import LARGEST, SMALLEST, Floats, Meaning
from skelgen.models.thresholds import (
    LEAST_GAIN,
    LEAST_SHARE_OF_GAIN,
    NEXT_RUN_AHEAD,
    WIDEST_HALF_INTERVAL,
)

#: Runs that are compared, and values of an input where nobody names any.
_MOST, _VALUES = 1000, 7


@dataclass(frozen=True, slots=True)
class NextRun:
    """A run that could be made.

    Attributes
    ----------
    run : dict of str to float
        Its inputs.
    reason : str
    gain : float
        By how much half of the 90 % interval narrows, on average over what is asked:
        a part of the prediction [1].
    before : float
        Half of the interval without it [1].
    time_s, cost_s : float
        How long it is expected to take, and that times its ranks [s].
    """

    run: dict[str, float]
    reason: str
    gain: float
    before: float
    time_s: float
    cost_s: float


def next_runs(
    model: Model,
    values: Mapping[str, Sequence[float]] | None = None,
    at: Mapping[str, float] | None = None,
    *,
    longest_s: float = float("inf"),
) -> list[NextRun]:
    """Order runs that could be made: the best first, then by gain for cost.

    Parameters
    ----------
    model : Model
    values : mapping of str to sequence of float, optional
        Values of inputs that can be run; of the others those seen, and up to twice the
        largest.
    at : mapping of str to float, optional
        What the model is for; else all that can be run.
    longest_s : float
        No run may take longer [s].

    Returns
    -------
    list of NextRun
        Empty where no run would narrow anything.

    Raises
    ------
    InputError
        When no run is short enough, nothing but loads varies, or an input of `at` is
        missing.
    """
    inputs = [one for one in model.inputs if not one.input.meaning.available]
    if not inputs:
        raise InputError(
            "nothing can be chosen for a further run: the model has "
            f"{', '.join(one.input.name for one in model.inputs) or 'no inputs'}; add "
            "runs of other sizes, or on other numbers of ranks"
        )
    runs = _grid(model, inputs, dict(values or {}))
    asked = runs if at is None else _point(model, at)
    with np.errstate(all="ignore"):
        times = np.clip(np.nan_to_num(model.at(runs)), SMALLEST, LARGEST)
    short = np.flatnonzero(times <= longest_s)
    if not short.size:
        raise InputError(
            f"the shortest of {len(times)} runs is expected to take {times.min():.3g} "
            f"{model.unit}; allow longer ones, or smaller values"
        )
    runs = {name: column[short] for name, column in runs.items()}
    times = times[short]
    before = np.minimum(model.half_width(asked), WIDEST_HALF_INTERVAL)
    after = _after(model, inputs, runs, asked)
    gains = np.mean(np.expm1(before) - np.expm1(after), axis=1)
    costs = times * _processes(inputs, runs)
    narrow = float(np.mean(np.expm1(before)))
    return [
        NextRun(
            {one.input.name: float(runs[one.input.name][i]) for one in inputs},
            _reason(model, inputs, runs, int(i)),
            float(gains[i]),
            narrow,
            float(times[i]),
            float(costs[i]),
        )
        for i in _order(gains, costs)
    ]


def _order(gains: Floats, costs: Floats) -> list[int]:
    """Return runs that help: those that tell enough by gain for cost, then the rest."""
    helping = np.flatnonzero(gains > LEAST_GAIN)
    if not helping.size:
        return []
    gain, cost = gains[helping], costs[helping]
    few = gain < LEAST_SHARE_OF_GAIN * gain.max()
    return [int(i) for i in helping[np.lexsort((-gain / cost, few))]]


def _grid(
    model: Model,
    inputs: Sequence[InputRange],
    given: dict[str, Sequence[float]],
) -> dict[str, Floats]:
    """Return the runs that could be made: a column for each input of the model."""
    known = {one.input.name for one in inputs}
    if unknown := [name for name in given if name not in known]:
        raise InputError(
            f"the model has no input {unknown[0]} that can be chosen; it has "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    count = max(2, min(_VALUES, int(_MOST ** (1 / max(len(inputs), 1)))))
    columns = [given.get(one.input.name) or _usual(one, count) for one in inputs]
    rows = np.array(list(itertools.islice(itertools.product(*columns), _MOST)))
    found = {one.input.name: rows[:, i] for i, one in enumerate(inputs)}
    free = [one for one in model.inputs if one.input.meaning.available]
    return found | {one.input.name: np.ones(len(rows)) for one in free}


def _usual(one: InputRange, count: int) -> list[float]:
    """Return values of an input from the smallest to twice the largest run."""
    if one.input.meaning.parallel:  # as many as before, halved and doubled
        steps = max(1, round(np.log2(max(one.high / one.low, 1.0))))
        found = one.high * NEXT_RUN_AHEAD / 2.0 ** np.arange(steps + 2)
        return sorted({float(max(round(x), 1)) for x in found if x >= one.low * 0.99})
    return list(round_values(one.low, one.high * NEXT_RUN_AHEAD, count))


def round_values(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return numbers of three digits between two, equally far apart as factors.

    They are whole where the ends are, and no number lies outside of these.
    """
    rounded = (float(f"{x:.3g}") for x in np.geomspace(low, high, count))
    whole = low == round(low) and high == round(high)
    inside = (min(max(x, low), high) for x in rounded)
    return tuple(sorted({float(round(x)) if whole else x for x in inside}))


def _point(model: Model, at: Mapping[str, float]) -> dict[str, Floats]:
    free = {one.input.name: 1.0 for one in model.inputs if one.input.meaning.available}
    full = free | dict(at)
    for one in model.inputs:
        if one.input.name not in full:
            raise InputError(f"the model needs {one.input.name}; give it")
    return {one.input.name: np.array([full[one.input.name]]) for one in model.inputs}


def _after(
    model: Model, inputs: Sequence[InputRange], runs: Values, asked: Values
) -> Floats:
    """Return half widths after each run: a (runs, asked) array of logarithms."""
    there, wanted = _apart(model, runs), _apart(model, asked)
    shares = np.array([share for share, _ in model.alternatives] or [1.0])
    both = (there * shares[:, None]).T @ wanted
    own = np.sum(shares[:, None] * there**2, axis=0)
    left = np.sum(shares[:, None] * wanted**2, axis=0)
    known = both**2 / (own + model.scale.noise**2 + 1e-12)[:, None]
    apart = np.sqrt(np.maximum(left[None, :] - known, 0.0))
    squares = np.zeros(apart.shape)
    for one in inputs:
        run, want = (np.asarray(v[one.input.name]) for v in (runs, asked))
        high, low = np.maximum(run, one.high), np.minimum(run, one.low)
        outside = np.maximum(
            np.log(want[None, :] / high[:, None]), np.log(low[:, None] / want[None, :])
        )
        squares += np.maximum(outside, 0.0) ** 2
    scale = replace(model.scale, runs=model.scale.runs + 1)
    half = scale.factor * scale.at(model.at(asked), apart, np.sqrt(squares))
    return np.minimum(half, WIDEST_HALF_INTERVAL)


def _apart(model: Model, values: Values) -> Floats:
    """Return by how much formulas differ from the model: (formulas, cases)."""
    own = model.at(values)
    formulas = [formula for _, formula in model.alternatives] or [model.formula]
    with np.errstate(all="ignore"):
        gaps = [np.log(evaluate(formula, values) / own) for formula in formulas]
    found = np.array([np.broadcast_to(gap, own.shape) for gap in gaps])
    widest = WIDEST_HALF_INTERVAL
    return np.asarray(np.clip(np.nan_to_num(found, nan=widest), -widest, widest))


def _processes(inputs: Sequence[InputRange], runs: Values) -> Floats:
    by: dict[Meaning, Floats] = {
        one.input.meaning: np.asarray(runs[one.input.name]) for one in inputs
    }
    found: Floats = np.ones(len(next(iter(by.values()))))
    if Meaning.RANKS in by:
        return np.asarray(found * by[Meaning.RANKS])
    for meaning in (Meaning.NODES, Meaning.RANKS_PER_NODE):
        found = np.asarray(found * by.get(meaning, 1.0))
    return found


def _reason(model: Model, inputs: Sequence[InputRange], runs: Values, i: int) -> str:
    row = {name: np.asarray(column)[i : i + 1] for name, column in runs.items()}
    shares = np.array([share for share, _ in model.alternatives] or [1.0])
    apart = float(np.sqrt(shares @ _apart(model, row)[:, 0] ** 2))
    ahead = [one.input.name for one in inputs if row[one.input.name][0] > one.high]
    told = []
    if ahead:
        told.append(f"it has more {' and '.join(ahead)} than all runs")
    if np.expm1(apart) > max(model.scale.noise, 0.01):
        told.append(f"formulas that fit as well differ by {np.expm1(apart):.0%} there")
    return ", and ".join(told) or "one more run makes the coefficients surer"
