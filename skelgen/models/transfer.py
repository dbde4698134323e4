"""The functions of one machine with the coefficients of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.combinations import solve
from skelgen.models.families.candidates import averaged, term_cost
from skelgen.models.families.formula_parts import columns_of, times, total
from skelgen.models.formulas import Expression, Number, Product, Quotient, Sum
from skelgen.models.intervals import Scale
from skelgen.models.model import InputRange, Model
from skelgen.models.runs import RunTable
from skelgen.trust import Doubt


@dataclass(frozen=True, slots=True)
class _Refitted:
    """Terms with new coefficients, and their error at runs left out [1]."""

    terms: tuple[Expression, ...]
    coefficients: tuple[float, ...]
    error: float

    @property
    def formula(self) -> Expression:
        pairs = zip(self.coefficients, self.terms, strict=True)
        return total([times(number, term) for number, term in pairs])


def refit(model: Model, runs: RunTable, *, threshold: float = 0.05) -> Model:
    """Give a model the coefficients of another machine.

    The terms stay. With few runs the whole formula is scaled by one factor; with more,
    each coefficient is found anew when that meets runs left out better.

    Parameters
    ----------
    model : Model
        Of the machine with many runs.
    runs : RunTable
        Of the other machine; one is enough.
    threshold : float
        Relative error above which the formula does not fit there [1].

    References
    ----------
    Martinez Canillas 2011, section 5.5.4.
    """
    columns = runs.columns
    missing = [one.input.name for one in model.inputs if one.input.name not in columns]
    if missing:
        raise InputError(
            f"the model is a function of "
            f"{', '.join(one.input.name for one in model.inputs)}, the runs have "
            f"{', '.join(columns)}; give the same inputs"
        )
    cases = averaged(runs)
    found = _refitted(model.formula, cases, model.error)
    doubts = [one for one in model.doubts if one.code != "few-points"]
    if len(cases) <= len(found.terms):
        told = f"cases of this machine: {len(cases)}; functions of as many "
        told += "coefficients and more are scaled as a whole"
        doubts.append(Doubt("few-points", told, "record more to tell"))
    if len(cases) > 1 and found.error > threshold:
        told = "the functions of the first machine miss runs left out here by "
        told += f"{found.error:.1%}"
        doubts.append(Doubt("misfit", told, "fit this machine by its own runs"))
    named = enumerate(found.coefficients, start=1)
    return replace(
        model,
        formula=found.formula,
        inputs=tuple(_both(one, cases) for one in model.inputs),
        quantity=runs.quantity,
        scale=_scale(model.scale, found, runs),
        alternatives=tuple(
            (share, _refitted(formula, cases, model.error).formula)
            for share, formula in model.alternatives
        ),
        doubts=tuple(doubts),
        coefficients=tuple((f"c{i}", value) for i, value in named),
        error=found.error,
    )


def _both(one: InputRange, runs: RunTable) -> InputRange:
    """Return the range of both machines: there the functions are known."""
    column = runs.columns[one.input.name]
    low, high = float(column.min()), float(column.max())
    return replace(one, low=min(one.low, low), high=max(one.high, high))


def _scale(before: Scale, found: _Refitted, runs: RunTable) -> Scale:
    """Return the scale: a few runs cannot say that there is less noise than before."""
    with np.errstate(all="ignore"):
        said = columns_of([found.formula], runs)[:, 0]
        misses = np.abs(np.log(said / runs.values))
    noise = 1.4826 * float(np.median(np.nan_to_num(misses, nan=0.0, posinf=10.0)))
    terms = min(len(found.terms), len(runs))
    return replace(before, noise=max(before.noise, noise), terms=terms, runs=len(runs))


def terms_of(formula: Expression) -> list[tuple[float, Expression]]:
    """Return the coefficients and terms of a formula that is a sum; else all of it."""
    each = formula.terms if isinstance(formula, Sum) else (formula,)
    return [_split(one) for one in each]


def _split(term: Expression) -> tuple[float, Expression]:
    match term:
        case Number(value, ""):
            return value, Number(1.0)
        case Product((Number(value, ""), *rest)) if rest:
            return value, rest[0] if len(rest) == 1 else Product(tuple(rest))
        case Quotient(above, below):
            value, one = _split(above)
            return value, Quotient(one, below)
        case _:
            return 1.0, term


def _refitted(formula: Expression, cases: RunTable, error: float) -> _Refitted:
    """Scale a formula, or find its coefficients anew where that does better."""
    numbers, terms = zip(*terms_of(formula), strict=True)
    with np.errstate(all="ignore"):
        columns = columns_of(terms, cases).T / cases.values
    before, target = np.array(numbers), np.ones(len(cases))
    if not np.isfinite(columns).all():
        raise InputError(
            "the functions of the first machine are no numbers at the runs of this "
            "one: they are too far from its own; fit this machine by its own runs"
        )
    solved = solve((before @ columns)[None, :], target, np.array([[0]]))
    factor, own = float(solved.coefficients[0, 0]), float(solved.errors[0])
    if len(cases) == 1:  # nothing is left out of one run
        own = error
    after: Sequence[float] = [float(factor * one) for one in before]
    if 1 < len(before) < len(cases):
        anew = solve(columns, target, np.arange(len(before))[None, :])
        kept = bool((anew.coefficients[0] * before > 0.0).all())
        if kept and anew.errors[0] * term_cost(len(before), len(cases)) < own:
            own, after = float(anew.errors[0]), anew.coefficients[0].tolist()
    if not np.isfinite(after).all():  # the formula says nothing there
        after = [float(one) for one in before]
    return _Refitted(terms, tuple(after), own)
