"""Runs that look like mistakes, and runs that are too few: doubts of any model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.models.formulas import Expression, Sum, evaluate
from skelgen.models.runs import Floats, RunTable
from skelgen.models.thresholds import (
    FEWEST_OTHERS,
    LARGEST_ODD_SHARE,
    LEAST_ODD_GAP,
    LEAST_ODD_MISS,
    LEAST_ODD_NOISES,
    LEAST_ODD_SPANS,
)
from skelgen.trust import Doubt

#: Larger factors are written with a power of ten [1].
_COUNTED = 1e6

#: So many runs are named.
_NAMED = 3


def odd_inputs(runs: RunTable, names: Sequence[str]) -> tuple[Doubt, ...]:
    """Doubt runs with an input that is very far from that of all others.

    Parameters
    ----------
    runs : RunTable
    names : sequence of str
        What each run is called, such as ``runs.csv line 10``.
    """
    found = []
    for one in runs.varied:
        if one.meaning.available:
            continue
        column = runs.columns[one.name]
        for upper in (True, False):
            edge = _edge(np.log(column if upper else 1.0 / column))
            if edge is None:
                continue
            far = np.log(column if upper else 1.0 / column) > edge
            rest, who = column[~far], np.flatnonzero(far)
            near = float(rest.max() if upper else rest.min())
            told = f"{_called(names, who)}: {one.name} is {column[who[0]]:g}, and "
            told += f"{rest.min():g} to {rest.max():g} in the other {len(rest)} runs"
            sign = "<=" if upper else ">="
            remedy = "check its unit, or leave it out with --where "
            found.append(
                Doubt("odd-run", told, f"{remedy}'{one.name}{sign}{near:g}'", one.name)
            )
    return tuple(found)


def _edge(logs: Floats) -> float | None:
    """Return the largest value of those that lie together; None: all do."""
    values = np.unique(logs)
    if len(values) < FEWEST_OTHERS:
        return None
    gaps = np.diff(values)
    for at in range(len(values) - 1, FEWEST_OTHERS - 2, -1):
        gap, span = gaps[at - 1], values[at - 1] - values[0]
        beyond = int(np.sum(logs > values[at - 1]))
        if beyond > max(1, int(LARGEST_ODD_SHARE * len(logs))):
            return None
        if gap > max(np.log(LEAST_ODD_GAP), LEAST_ODD_SPANS * span):
            return float(values[at - 1])
    return None


def odd_values(runs: RunTable, formula: Expression) -> tuple[Doubt, ...]:
    """Doubt runs whose value is very far from what a formula of all runs says."""
    with np.errstate(all="ignore"):
        misses = np.log(runs.values / evaluate(formula, runs.columns))
    misses = np.nan_to_num(misses, nan=0.0, posinf=0.0, neginf=0.0)
    limit = max(
        np.log(LEAST_ODD_MISS), LEAST_ODD_NOISES * float(np.median(np.abs(misses)))
    )
    far = np.flatnonzero(np.abs(misses) > limit)
    if not len(far) or len(far) > max(1, int(LARGEST_ODD_SHARE * len(runs))):
        return ()
    first = far[np.argmax(np.abs(misses[far]))]
    at = ", ".join(f"{name}={column[first]:g}" for name, column in runs.columns.items())
    told = f"the run at {at} has a {runs.quantity} of {runs.values[first]:g} "
    told += f"{runs.unit}".strip()
    times = np.exp(abs(misses[first]))
    told += (
        f", {times:,.0f} times as " if times < _COUNTED else f", {times:.1e} times as "
    )
    told += "much as" if misses[first] > 0.0 else "little as"
    told += " the formula of all runs says"
    if len(far) > 1:
        told += f"; {len(far) - 1} others are far off, too"
    remedy = f"check its unit, or leave it out with --where{_without(runs, far)}"
    return (Doubt("odd-run", told, remedy),)


def _without(runs: RunTable, far: NDArray[np.intp]) -> str:
    """Return the condition that leaves times out; empty where none does."""
    if runs.quantity != "time" or runs.unit != "s":
        return ""
    odd, rest = runs.values[far], np.delete(runs.values, far)
    for low, sign, high in ((rest, "<=", odd), (odd, ">=", rest)):
        limit = f"{np.sqrt(low.max() * high.min()):.3g}"
        if low.max() < float(limit) < high.min():
            return f" 'time{sign}{limit}'"
    return ""


def no_error_known(runs: RunTable, fitted: int) -> tuple[Doubt, ...]:
    """Doubt coefficients of a given form that have as many runs, and so no error."""
    if len(runs) > fitted:
        return ()
    told = f"{len(runs)} runs give {fitted} coefficients and no error of them"
    return (Doubt("too-few-runs", told, "add runs"),)


def too_few(runs: RunTable, formula: Expression) -> tuple[Doubt, ...]:
    """Doubt a formula of more inputs or terms than there are different runs."""
    different = len(np.unique(runs.at, axis=0))
    inputs = len(runs.varied)
    terms = len(formula.terms) if isinstance(formula, Sum) else 1
    if different > inputs and different >= terms:
        return ()
    many = different <= inputs
    count = f"{inputs} inputs" if many else f"{terms} terms"
    told = f"the formula has {count}, and there are {different} different runs, which "
    told += "cannot tell what each does"
    remedy = "add runs, or choose inputs with --inputs" if many else "add runs"
    return (Doubt("too-few-runs", told, remedy),)


def _called(names: Sequence[str], which: NDArray[np.intp]) -> str:
    shown = ", ".join(names[i] for i in which[:_NAMED])
    more = len(which) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown
