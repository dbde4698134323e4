"""Complexities of computation and communication: their orders, and a search for them.

References
----------
Yagnik, Sanjay, Vadhiyar 2006, sections 2.2 and 7.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.models.combinations import solve
from skelgen.models.families.contract import needs
from skelgen.models.families.formula_parts import columns_of, power, processes, product
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
)
from skelgen.models.formulas.expression import walk
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable
from skelgen.models.thresholds import COMPLEXITY_ODD_COST, FEWEST_FOR_COMPLEXITIES

#: Powers of a single size, and of each of several.
_POWERS = tuple(i / 2 for i in range(1, 9))
_FEW_POWERS = (1.0, 2.0, 3.0)

#: Sizes that an exponential function grows e times over, as parts of the largest.
_EXPONENTIAL = (0.125, 0.25, 0.5, 1.0)

#: Relative errors below are rounding: the simpler function counts.
_EXACT = 1e-6


def orders(complexity: Expression, sizes: Sequence[str]) -> tuple[Expression, ...]:
    """Return a complexity and its lower orders, as eq. 2 has them for n^3.

    Of ``n^3/p`` these are n^3/p, n^2/p, n/p and 1/p. A sum is what it says.
    """
    if isinstance(complexity, Sum):
        return complexity.terms
    found = _exponents(complexity, frozenset(sizes))
    if any(len(exponents) > 1 for exponents in found.values()):
        return (complexity,)
    steps = [range(int(exponents[0]) + 1) for exponents in found.values()]
    lowered = []
    for chosen in itertools.product(*steps):
        less = dict(zip(found, chosen, strict=True))
        lowered.append(_lowered(complexity, less))
    return tuple(dict.fromkeys(lowered))


def _exponents(part: Expression, sizes: frozenset[str]) -> dict[str, list[float]]:
    """Return the exponents of sizes that are factors of the whole."""
    found: dict[str, list[float]] = {}
    match part:
        case Name(name) if name in sizes:
            found = {name: [1.0]}
        case Power(Name(name), Number(exponent)) if name in sizes and exponent > 0.0:
            found = {name: [exponent]}
        case Product(factors):
            for factor in factors:
                for name, own in _exponents(factor, sizes).items():
                    found.setdefault(name, []).extend(own)
        case Quotient(above, _):
            found = _exponents(above, sizes)
    return found


def _lowered(part: Expression, less: dict[str, int]) -> Expression:
    match part:
        case Name(name) if name in less:
            return power(part, 1.0 - less[name])
        case Power(Name(name) as base, Number(exponent)) if name in less:
            return power(base, exponent - less[name])
        case Product(factors):
            return product(*(_lowered(one, less) for one in factors))
        case Quotient(above, below):
            return Quotient(_lowered(above, less), below)
        case _:
            return part


def searched(
    runs: RunTable,
    loads: tuple[ModelInput | None, ModelInput | None],
    given: tuple[Expression | None, Expression | None] = (None, None),
) -> tuple[Expression, Expression | None]:
    """Search complexities among powers, logarithms and exponentials.

    Computation is found by runs of one process where there are some, then
    communication by the others; else both by all runs.

    Parameters
    ----------
    runs : RunTable
    loads : (ModelInput or None, ModelInput or None)
        Available CPU and bandwidth.
    given : (Expression or None, Expression or None)
        Complexities of computation and communication that are known.

    Returns
    -------
    computation, communication : Expression
        The second is None when no run communicates.
    """
    needs(runs, FEWEST_FOR_COMPLEXITIES, "a search for complexities")
    cpu, bandwidth = loads
    functions = _functions([s for s in runs.varied if s.meaning is Meaning.SIZE], runs)
    chosen = functions
    alone, parallel = _alone(runs)
    if len(np.unique(alone.at, axis=0)) >= 3 and len(functions) > 1:
        best, _ = _best(alone, [_over(f, cpu) for f in functions], ())
        chosen = [functions[best]]
    if not len(parallel) and (len(chosen) == 1 or given[0] is not None):
        return given[0] or chosen[0], given[1]
    if len(parallel) < FEWEST_FOR_COMPLEXITIES:  # too few on their own
        parallel = runs
    count = processes(runs)
    if count is not None and not np.ptp(columns_of([count], parallel)):
        count = None
    computing = [_over(f, count) for f in chosen] if given[0] is None else [given[0]]
    sending = _sending(functions, count) if given[1] is None else [given[1]]
    growths = _growths(computing, runs), _growths(sending, runs)
    i, j = _best(
        parallel,
        [_over(one, cpu) for one in computing],
        [_over(one, bandwidth) for one in sending],
        growths if given == (None, None) else None,
    )
    return computing[i], sending[j]


def _sending(
    functions: Sequence[Expression], count: Expression | None
) -> list[Expression]:
    """Return how communication can depend on sizes and the number of processes.

    Exponential functions are for computation: over a narrow range of sizes they look
    like any power, and beyond it like none.
    """
    one = Number(1.0)
    return [
        _times(f, h) if isinstance(h, Quotient) else product(f, h)
        for f in dict.fromkeys((one, *functions))
        if not (isinstance(f, FunctionCall) and f.function == "exp")
        for h in _of_processes(count)
    ]


def _growths(terms: Sequence[Expression], runs: RunTable) -> Floats:
    """Return how often larger terms are at the largest sizes than at the smallest."""
    sizes = [one.meaning is Meaning.SIZE for one in runs.inputs]
    at = np.where(sizes, [runs.at.min(axis=0), runs.at.max(axis=0)], runs.at[0])
    with np.errstate(all="ignore"):
        small, large = columns_of(terms, replace(runs, at=at, values=np.ones(2)))
        return np.asarray(large / small)


def _alone(runs: RunTable) -> tuple[RunTable, RunTable]:
    """Return the runs on one process, and those on several."""
    names = [one.name for one in runs.of(Meaning.RANKS)] or [
        one.name for one in runs.of(Meaning.NODES, Meaning.RANKS_PER_NODE)
    ]
    several = np.ones(len(runs), bool)
    if names:
        several = np.any([runs.columns[name] > 1.0 for name in names], axis=0)
    return runs.only(~several), runs.only(several)


def _functions(sizes: Sequence[ModelInput], runs: RunTable) -> list[Expression]:
    """Return functions of the sizes, the simplest first."""
    if not sizes:
        return [Number(1.0)]
    if len(sizes) > 1:
        grid = itertools.product((0.0, *_FEW_POWERS), repeat=len(sizes))
        return [
            product(*(power(Name(s.name), e) for s, e in zip(sizes, one, strict=True)))
            for one in grid
            if any(one)
        ][:300]
    n = Name(sizes[0].name)
    largest = float(runs.columns[n.name].max())
    log = FunctionCall("log", (n,))
    return [
        *(power(n, exponent) for exponent in _POWERS),
        log,
        *(product(power(n, exponent), log) for exponent in _POWERS),
        *(
            FunctionCall("exp", (Quotient(n, Number(part * largest)),))
            for part in reversed(_EXPONENTIAL)
        ),
    ]


def _of_processes(count: Expression | None) -> list[Expression]:
    """Return how communication can depend on the number of processes."""
    one = Number(1.0)
    if count is None:
        return [one]
    log = FunctionCall("log2", (count,))
    return [
        one,
        log,
        Quotient(one, count),
        count,
        Quotient(one, FunctionCall("sqrt", (count,))),
        Quotient(log, count),
    ]


def _over(above: Expression, below: ModelInput | Expression | None) -> Expression:
    if below is None:
        return above
    return Quotient(above, Name(below.name) if isinstance(below, ModelInput) else below)


def _times(factor: Expression, fraction: Quotient) -> Expression:
    return Quotient(product(factor, fraction.above), fraction.below)


def _best(
    runs: RunTable,
    first: Sequence[Expression],
    second: Sequence[Expression],
    growths: tuple[Floats, Floats] | None = None,
) -> tuple[int, int]:
    """Return the pair that, with a constant, has the least errors at runs left out.

    With `growths` the second does not grow faster than the first: programs seldom
    send more than they compute with.
    """
    terms = [Number(1.0), *first, *second]
    with np.errstate(all="ignore"):
        columns = (columns_of(terms, runs) / runs.values[:, None]).T
        columns = columns / np.max(np.abs(columns), axis=1, keepdims=True)
    sensible = np.isfinite(columns).all(axis=1)
    columns[~sensible] = 0.0
    pairs = [
        (1 + i, 1 + len(first) + j)
        for i in range(len(first))
        for j in range(max(1, len(second)))
        if growths is None or not growths[1][j] > growths[0][i] * (1.0 + 1e-9)
    ]
    chosen = np.array(pairs)[:, : 2 if second else 1]
    score = np.minimum(
        _errors(columns, sensible, np.insert(chosen, 0, 0, axis=1)),
        _errors(columns, sensible, chosen),
    )
    odd = np.array([_oddness(term) for term in terms])
    i, j = pairs[
        int(np.argmin(score * (1.0 + COMPLEXITY_ODD_COST * odd[chosen].sum(axis=1))))
    ]
    return i - 1, j - 1 - len(first)


def _oddness(term: Expression) -> int:
    """Count the functions and the broken exponents of a term."""
    parts = list(walk(term))
    broken = (p.exponent for p in parts if isinstance(p, Power))
    return sum(isinstance(p, FunctionCall) for p in parts) + sum(
        not one.value.is_integer() for one in broken if isinstance(one, Number)
    )


def _errors(
    columns: Floats, sensible: NDArray[np.bool_], sets: NDArray[np.intp]
) -> Floats:
    """Return the errors of sets; those with coefficients below 0 come last."""
    found = solve(columns, np.ones(columns.shape[1]), sets)
    errors = found.errors + _EXACT
    errors[(found.coefficients <= 0.0).any(axis=1)] += 1e6
    errors[~sensible[sets].all(axis=1) | ~np.isfinite(errors)] = np.inf
    return np.asarray(errors)
