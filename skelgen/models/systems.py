"""A model of other systems on one of which there are few runs.

The runs of the other systems give the form, the few runs the factor: `refit` scales
the whole formula, or finds its coefficients anew where that meets runs left out better.

One factor says that all parts of a program change alike. A system may have faster cores
and the same network. So each term in turn is also left as it was on the other systems,
and the rest is scaled to the runs: what these formulas say elsewhere is part of the
interval, as far as the runs allow it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.candidates import averaged
from skelgen.models.families.formula_parts import columns_of, times, total
from skelgen.models.formulas import Expression
from skelgen.models.model import MOST_WIDE, Model, fit_model
from skelgen.models.runs import Floats, RunTable
from skelgen.models.thresholds import (
    FEWEST_RUNS_ON_SYSTEM,
    LARGEST_NOISES_OF_FIT,
    LEAST_MISFIT,
)
from skelgen.models.transfer import refit, terms_of
from skelgen.trust import Doubt, Interval
from skelgen.units import number_of


@dataclass(frozen=True, slots=True)
class CarriedModel:
    """A model of a system that has few runs of its own.

    Attributes
    ----------
    model : Model
    factor : Interval
        Time there over that on the other systems, at the runs there [1].
    runs : int
        On that system.
    others : tuple of (str, int)
        The other systems and how many runs each has, the one with most runs first.
    """

    model: Model
    factor: Interval
    runs: int
    others: tuple[tuple[str, int], ...]


def carry(
    others: Mapping[str, RunTable], runs: RunTable, family: str, system: str
) -> CarriedModel:
    """Fit a model to the runs of other systems, and scale it to those of one.

    Parameters
    ----------
    others : mapping of str to RunTable
        By the name of the system, at least one.
    runs : RunTable
        On the system that is asked for, with the same inputs; one is enough.
    family : str
    system : str
        Its name, for what is said.

    Raises
    ------
    InputError
        When the runs determine no model, or the form gives no time at the few runs.
    """
    ordered = sorted(others, key=lambda name: -len(others[name]))
    form = _form({name: others[name] for name in ordered}, family)
    threshold = max(LEAST_MISFIT, LARGEST_NOISES_OF_FIT * form.scale.noise)
    there = refit(form, runs, threshold=threshold)
    factor, scaled = _factor(form, there, runs)
    if not (factor > 0.0 and (there.at(runs.columns) > 0.0).all()):
        raise InputError(
            f"the form of {ordered[0]} gives no time at the runs on {system}; use "
            "the family default, or fit these runs alone with --where"
        )
    model = _unsure(form, there, runs, factor, scaled=scaled)
    half = form.scale.factor * model.scale.noise / math.sqrt(len(runs))
    half = min(half, MOST_WIDE)
    span = Interval(factor * math.exp(-half), factor, factor * math.exp(half))
    counts = tuple((name, len(others[name])) for name in ordered)
    told = CarriedModel(model, span, len(runs), counts)
    doubts = (*model.doubts, *_few(len(runs), system))
    notes = (*model.notes, _note(told, system))
    return replace(told, model=replace(model, doubts=doubts, notes=notes))


def _unsure(
    form: Model, there: Model, runs: RunTable, factor: float, *, scaled: bool
) -> Model:
    """Return a model with the interval that a few runs on its system leave."""
    misses = np.log(runs.values / there.at(runs.columns))
    fitted = 1 if scaled else len(terms_of(there.formula))
    noise = max(form.scale.noise, _deviation(misses, fitted))
    middle = form.scale.middle + math.log(factor)
    alternatives = there.alternatives
    if scaled:
        alternatives = _hypotheses(form, there, runs, noise)
    return replace(
        there,
        scale=replace(there.scale, noise=noise, middle=middle),
        alternatives=alternatives,
        doubts=tuple(one for one in there.doubts if one.code != "few-points"),
    )


def _form(others: Mapping[str, RunTable], family: str) -> Model:
    """Fit the form: all runs, each system's divided by what it is slower."""
    first, *rest = others
    form = fit_model(others[first], family)
    if not rest:
        return form
    tables = [others[first]]
    for name in rest:
        table = others[name]
        with np.errstate(all="ignore"):
            slower = float(np.median(table.values / form.at(table.columns)))
        if not (math.isfinite(slower) and slower > 0.0):
            raise InputError(
                f"system {name}: the model of {first} gives no time at its runs; leave "
                f"them out with --where 'system={first}'"
            )
        tables.append(replace(table, values=table.values / slower))
    whole = replace(
        others[first],
        at=np.concatenate([one.at for one in tables]),
        values=np.concatenate([one.values for one in tables]),
    )
    return fit_model(whole, family)


def _factor(form: Model, there: Model, runs: RunTable) -> tuple[float, bool]:
    """Return by what a system is slower, and whether that is one factor everywhere."""
    before = np.array([number for number, _ in terms_of(form.formula)])
    after = np.array([number for number, _ in terms_of(there.formula)])
    with np.errstate(all="ignore"):
        ratios = after / before
    if np.allclose(ratios, ratios[0]):
        return float(ratios[0]), True
    with np.errstate(all="ignore"):
        both = there.at(runs.columns) / form.at(runs.columns)
    return float(np.median(both)), False


def _deviation(misses: Floats, fitted: int) -> float:
    """Return the deviation of runs from a formula, so much of which they gave."""
    free = len(misses) - fitted
    if free < 1 or not np.isfinite(misses).all():
        return 0.0
    return math.sqrt(float(np.sum(misses**2)) / free)


def _hypotheses(
    form: Model, there: Model, runs: RunTable, noise: float
) -> tuple[tuple[float, Expression], ...]:
    """Return formulas that the runs allow: one factor, and each term as it was.

    All terms as they were but one count together as much as one factor does, each less
    by how much worse it meets the runs.
    """
    cases = averaged(runs)
    numbers, terms = zip(*terms_of(form.formula), strict=True)
    columns = columns_of(terms, cases) * np.array(numbers) / cases.values[:, None]
    sigma = max(noise, 1e-3)
    own = _misfit(there.at(cases.columns) / cases.values, sigma)
    found: list[tuple[float, Expression]] = []
    for kept in range(len(terms)):
        rest = np.delete(columns, kept, axis=1).sum(axis=1)
        left = 1.0 - columns[:, kept]
        if len(terms) == 1 or not (rest > 0.0).all():
            continue
        slower = float(rest @ left / (rest @ rest))
        said = columns[:, kept] + slower * rest
        if slower <= 0.0 or not (said > 0.0).all():
            continue
        worse = max(_misfit(said, sigma) - own, 0.0)
        formula = total(
            [
                times(number * (1.0 if i == kept else slower), term)
                for i, (number, term) in enumerate(zip(numbers, terms, strict=True))
            ]
        )
        found.append((math.exp(-worse / 2.0) / len(terms), formula))
    whole = 1.0 + sum(share for share, _ in found)
    alone = there.alternatives or ((1.0, there.formula),)
    return (
        *((share / whole, formula) for share, formula in alone),
        *((share / whole, formula) for share, formula in found),
    )


def _misfit(ratios: Floats, sigma: float) -> float:
    return float(np.sum(np.log(ratios) ** 2)) / sigma**2


def _few(count: int, system: str) -> tuple[Doubt, ...]:
    if count >= FEWEST_RUNS_ON_SYSTEM:
        return ()
    told = f"{number_of(count, 'run')} on {system}: whether it is slower by "
    told += "the same factor everywhere is not known"
    more = f"make {FEWEST_RUNS_ON_SYSTEM} and more on {system}, far apart"
    return (Doubt("few-runs", told, more),)


def _note(told: CarriedModel, system: str) -> str:
    others = ", ".join(f"{name} ({count} runs)" for name, count in told.others)
    span = (
        f"{told.factor.p50:.3g} (90 %: {told.factor.p5:.3g} to {told.factor.p95:.3g})"
    )
    return (
        f"the form is that of {others}; {system} takes {span} times as long, from "
        f"{number_of(told.runs, 'run')}"
    )
