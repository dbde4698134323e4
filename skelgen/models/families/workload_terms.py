"""The terms that functions of the workload are made of: n^i log^j n of each input.

Work grows with sizes, so these have growing terms. It is divided among processes, so
these have falling ones, too, and so has every input along which the times fall. An
available share has one over it. Of many inputs each has the functions that are nearest
to how the times change along it, so that there never are too many products.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.families.formula_parts import columns_of, multiplied, power
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Quotient,
    Sum,
    evaluate,
)
from skelgen.models.runs import Floats, ModelInput, RunTable
from skelgen.models.thresholds import (
    LARGEST_FREE_EXPONENT,
    UNUSUAL_APART,
    UNUSUAL_FREE_PARALLEL,
    UNUSUAL_RISING,
)

#: Products of functions to choose from.
_MOST_TERMS = 1500

#: Inputs beyond so many are left out: those along which the times change least.
_MOST_INPUTS = 10

#: Powers of processes, and by how much times fall where they fall along a size.
_FALLING, _RISING, _FALLS = (-1.0, -2 / 3, -0.5), (0.0, 0.5, 1.0), -0.1

#: How unusual a logarithm is, and a half or a third in an exponent; and free exponents.
_ODD, _FREE = 1.0, 1.0

#: Weight of each squared exponent against the squared miss of a run.
_RIDGE = 1e-6

#: Squares of larger terms, and of smaller ones, are no numbers.
_LARGEST_LOG = 270.0

#: Terms of so many sets of runs are kept: phases have the same inputs.
_MOST_KEPT = 16


@dataclass(frozen=True, slots=True)
class WorkloadTerm:
    """A term without its coefficient.

    Attributes
    ----------
    expression : Expression
    odd : float
        How unusual it is: whole powers are not.
    growth : float
        How fast it grows with all inputs: sums are written by it.
    free : int
        Exponents of it that were fitted.
    """

    expression: Expression
    odd: float = 0.0
    growth: float = 0.0
    free: int = 0


def workload_terms(
    runs: RunTable, inputs: Sequence[ModelInput]
) -> tuple[list[WorkloadTerm], Floats]:
    """Return the terms to choose from, and their values at the runs.

    Parameters
    ----------
    runs : RunTable
    inputs : sequence of ModelInput
        Those that vary and count; see `that_count`.

    Returns
    -------
    list of WorkloadTerm
        The constant first, a power of every input with free exponents last. Terms that
        are no numbers at the runs are left out.
    (terms, runs) float64 array
    """
    inputs = tuple(inputs)
    exponents = _exponents(runs, inputs)
    kept = max(2, int(_MOST_TERMS ** (1 / len(inputs))))
    falls = tuple((exponents < _FALLS).tolist())
    each = _functions_of(runs.unmeasured, inputs, falls)
    if max(map(len, each)) <= kept:
        found, columns = _all_products(runs.unmeasured, inputs, falls)
    else:
        nearest = [
            _nearest(functions, {one.name: runs.columns[one.name]}, exponent, kept)
            for one, functions, exponent in zip(inputs, each, exponents, strict=True)
        ]
        found = _products(nearest)
        columns = columns_of([one.expression for one in found], runs).T
    powers = [
        _power(one.name, round(float(exponent), 4))
        for one, exponent in zip(inputs, exponents, strict=True)
    ]
    if np.abs(exponents).max() > LARGEST_FREE_EXPONENT:
        return _usable(found, columns, runs)
    odd = _FREE * len(inputs) + UNUSUAL_FREE_PARALLEL * any(
        one.meaning.parallel for one in inputs
    )
    free = WorkloadTerm(multiplied(powers), odd, float(exponents.sum()), len(inputs))
    own = columns_of([free.expression], runs).T
    return _usable((*found, free), np.concatenate([columns, own]), runs)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _functions_of(
    runs: RunTable, inputs: tuple[ModelInput, ...], falls: tuple[bool, ...]
) -> tuple[tuple[WorkloadTerm, ...], ...]:
    """Return the functions of each input, the constant first."""
    return tuple(
        tuple(
            _functions(
                one,
                log_of(one.name, runs.columns[one.name]),
                alone=len(inputs) == 1,
                falls=own,
            )
        )
        for one, own in zip(inputs, falls, strict=True)
    )


@functools.lru_cache(maxsize=_MOST_KEPT)
def _all_products(
    runs: RunTable, inputs: tuple[ModelInput, ...], falls: tuple[bool, ...]
) -> tuple[tuple[WorkloadTerm, ...], Floats]:
    """Return products of all functions, and their values, which cannot be written."""
    found = _products(_functions_of(runs, inputs, falls))
    columns = columns_of([one.expression for one in found], runs).T
    columns.setflags(write=False)
    return found, columns


def _products(each: Sequence[Sequence[WorkloadTerm]]) -> tuple[WorkloadTerm, ...]:
    return tuple(
        WorkloadTerm(
            multiplied([one.expression for one in chosen]),
            sum(one.odd for one in chosen),
            sum(one.growth for one in chosen),
        )
        for chosen in itertools.product(*each)
    )


def that_count(runs: RunTable) -> tuple[ModelInput, ...]:
    """Return the inputs that vary; of very many those that change the times most."""
    varied = runs.varied
    if len(varied) <= _MOST_INPUTS:
        return varied
    change = np.abs(_exponents(runs, varied)) * [
        np.log(runs.columns[one.name]).std() for one in varied
    ]
    chosen = np.sort(np.argsort(-change, kind="stable")[:_MOST_INPUTS])
    return tuple(varied[i] for i in chosen)


def _exponents(runs: RunTable, inputs: Sequence[ModelInput]) -> Floats:
    """Return the exponents of the power of each input that comes nearest."""
    logs = np.log(np.stack([runs.columns[one.name] for one in inputs], axis=1))
    x, y = logs - logs.mean(axis=0), np.log(runs.values)
    weight = _RIDGE * len(runs) * np.eye(len(inputs))
    return np.asarray(np.linalg.solve(x.T @ x + weight, x.T @ (y - y.mean())))


def _functions(
    one: ModelInput, log: Expression, *, alone: bool, falls: bool
) -> list[WorkloadTerm]:
    """Return the functions of an input, the constant first."""
    if one.meaning.available:
        return [WorkloadTerm(Number(1.0)), _with_power(one.name, -1.0)]
    fading = _with_log(_with_power(one.name, -1.0), log, 1)
    falling = [*(_with_power(one.name, a) for a in _FALLING), fading]
    if one.meaning.parallel:
        constant, *rising = [_with_power(one.name, a) for a in _RISING]
        rising.append(_with_log(rising[-1], log, 1))
        rare = [replace(term, odd=term.odd + UNUSUAL_RISING) for term in rising]
        return [constant, _with_log(constant, log, 1), *rare, *falling]
    found = [_with_power(one.name, i / 2) for i in range(9 if alone else 7)]
    orders = range(1, 3 if alone else 2)
    found += [_with_log(term, log, j) for term in found for j in orders]
    return [*found, *falling] if falls else found


def _with_power(name: str, exponent: float) -> WorkloadTerm:
    odd = 0.0 if exponent == round(exponent) else _ODD
    return WorkloadTerm(_power(name, exponent), odd, exponent)


def _with_log(term: WorkloadTerm, log: Expression, logs: int) -> WorkloadTerm:
    expression = multiplied([term.expression, power(log, float(logs))])
    return WorkloadTerm(expression, term.odd + logs * _ODD, term.growth + 0.1 * logs)


def _power(name: str, exponent: float) -> Expression:
    if exponent < 0.0:
        return Quotient(Number(1.0), power(Name(name), -exponent))
    return power(Name(name), exponent)


def log_of(name: str, column: Floats) -> Expression:
    """Return the logarithm, of one more where it would be negative."""
    n = Name(name)
    return FunctionCall("log", (n if column.min() >= 1.0 else Sum((n, Number(1.0))),))


def _nearest(
    functions: Sequence[WorkloadTerm],
    values: dict[str, Floats],
    exponent: float,
    count: int,
) -> Sequence[WorkloadTerm]:
    """Return the constant and the functions that change most like the times do."""
    if len(functions) <= count:
        return functions
    (column,) = values.values()
    logs = np.log(column)
    far = []
    for one in functions[1:]:
        with np.errstate(all="ignore"):
            y = np.log(np.broadcast_to(evaluate(one.expression, values), column.shape))
        seen = np.isfinite(y) & (logs != logs.min())
        x = logs[seen] - logs[seen].mean() if seen.any() else logs[seen]
        slope = float(x @ y[seen] / (x @ x)) if x.any() else one.growth
        far.append(abs(slope - exponent) + UNUSUAL_APART * one.odd)
    order = np.sort(np.argsort(far, kind="stable")[: count - 1])
    return [functions[0], *(functions[1 + i] for i in order)]


def _usable(
    terms: Sequence[WorkloadTerm], columns: Floats, runs: RunTable
) -> tuple[list[WorkloadTerm], Floats]:
    """Return the terms that are numbers, which can be squared, at the runs."""
    with np.errstate(all="ignore"):
        largest = np.abs(np.log(np.max(columns / runs.values, axis=1)))
    good = np.isfinite(columns).all(axis=1) & (columns >= 0.0).all(axis=1)
    good &= largest < _LARGEST_LOG
    return [one for one, kept in zip(terms, good, strict=True) if kept], columns[good]
