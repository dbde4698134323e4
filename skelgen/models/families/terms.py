"""The terms that normal forms choose from.

A term is a growing function of the sizes times one of the processes, rarely a growing
one. Computation waits for processors, so it is divided by the available CPU.
Communication is divided by the available bandwidth, and by the square root of the CPU,
which both ends of a message need. Serial work is divided by neither.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models.formulas import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    evaluate,
)
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable

#: Exponents of the only input, of one among several, and of inputs that are few.
_FINE = tuple(i / 10 for i in range(41))
_HALVES = tuple(i / 2 for i in range(7))
_FINE_FALLING = tuple(-i / 10 for i in range(15, 0, -1))
_FALLING = (-1.0, -2 / 3, -0.5)

#: Squares of terms beyond this are no numbers.
_LARGEST_TERM = 1e120

#: More products of functions than this are too many to choose from.
_MOST_TERMS = 400


@dataclass(frozen=True, slots=True)
class _Part:
    """A function of some inputs: what it is, and how fast it grows with sizes."""

    expression: Expression | None
    growth: float = 0.0
    positive: bool = True


@dataclass(frozen=True, slots=True)
class FormTerm:
    """A term without its coefficient.

    Attributes
    ----------
    expression : Expression
    growth : float
        Sum of the exponents of sizes.
    messages : bool
        Whether it waits for links.
    positive : bool
        Whether it is above 0 everywhere: the logarithm of one process is 0.
    """

    expression: Expression
    growth: float
    messages: bool
    positive: bool = True


def terms_for(runs: RunTable) -> tuple[FormTerm, ...]:
    """Return the terms of the inputs that vary.

    Parameters
    ----------
    runs : RunTable

    Returns
    -------
    tuple of FormTerm
        The constant first. Terms that are no numbers at the runs are left out.
    """
    found = _products(runs.varied)
    columns = columns_of(found, runs.columns, len(runs))
    with np.errstate(all="ignore"):
        usable = np.isfinite(columns).all(axis=1) & (columns.max(axis=1) > 0.0)
        usable &= columns.max(axis=1) < _LARGEST_TERM
        usable &= columns.max(axis=1) > 1.0 / _LARGEST_TERM
    chosen = np.flatnonzero(usable)
    return tuple(found[i] for i in chosen)


def _products(inputs: Sequence[ModelInput]) -> list[FormTerm]:
    """Return products of a function of each size, of the processes, and of a load."""
    loads = [one for one in inputs if one.meaning.available]
    parallel = [one for one in inputs if one.meaning.parallel]
    sizes = [one for one in inputs if one not in loads and one not in parallel]
    alone = len(inputs) == 1
    functions = [_sizes(one.name, _FINE if alone else _HALVES) for one in sizes]
    if parallel:
        functions.append(_parallel(parallel, fine=alone))
    loaded = _loads(loads)
    while math.prod(map(len, functions)) * len(loaded) > _MOST_TERMS:
        longest = max(functions, key=len)
        if len(longest) < 3:
            break
        functions[functions.index(longest)] = longest[::2]
    return [
        _term(chosen, load, messages=load is not None and "b" in load[1])
        for chosen in itertools.product(*functions)
        for load in loaded
    ]


def _sizes(name: str, exponents: Sequence[float]) -> list[_Part]:
    parts = [_Part(_power(name, exponent), exponent) for exponent in exponents]
    return [*parts, _Part(_times(Name(name), _log_above(name)), 1.1)]


def _log_above(name: str) -> Expression:
    """Return a logarithm that is above 0 for every size."""
    return Call("log", (Sum((Name(name), Number(1.0))),))


def _parallel(inputs: Sequence[ModelInput], *, fine: bool) -> list[_Part]:
    """Return functions of processes: falling ones, logarithms, products of both."""
    by = {one.meaning: one.name for one in inputs}
    if fine or len(by) == 1:
        name = inputs[0].name
        falling = _FINE_FALLING if fine else _FALLING
        rising = (0.2, 0.4, 0.6, 0.8, 1.0) if fine else ()
        parts = [_power(name, a) for a in (0.0, *falling, *rising)]
        logs = [
            _times(_power(name, a), Call("log", (Name(name),)))
            for a in (0.0, -0.5, -1.0)
        ]
        return [*map(_Part, parts), *(_Part(one, positive=False) for one in logs)]
    first, second = _first_and_second(by)
    ranks = _ranks(by)
    found = []
    for a, b in itertools.product((0.0, *_FALLING), (0.0, -0.5, -1.0)):
        if a == 0.0 and b:
            continue
        product = _times(_power(first, a), _power(second, b))
        with_log = _times(product, Call("log", (ranks,)))
        found += [_Part(product), _Part(with_log, positive=False)]
    return found


def _first_and_second(by: dict[Meaning, str]) -> tuple[str, str]:
    """Return the two inputs that say how many processes there are, and how packed."""
    order = (Meaning.NODES, Meaning.RANKS, Meaning.RANKS_PER_NODE)
    found = [by[one] for one in order if one in by]
    return found[0], found[-1]


def _ranks(by: dict[Meaning, str]) -> Expression:
    if Meaning.RANKS in by:
        return Name(by[Meaning.RANKS])
    return Product((Name(by[Meaning.NODES]), Name(by[Meaning.RANKS_PER_NODE])))


def _loads(loads: Sequence[ModelInput]) -> list[tuple[Expression, str] | None]:
    """Return what terms are divided by, and ``b`` where links are among it."""
    by = {one.meaning: Name(one.name) for one in loads}
    cpu, bandwidth = by.get(Meaning.CPU), by.get(Meaning.BANDWIDTH)
    divisors: list[tuple[Expression, str] | None] = [None]
    if cpu is not None:
        divisors.append((cpu, "a"))
    if bandwidth is not None:
        root = Call("sqrt", (cpu,)) if cpu is not None else None
        divisors.append((bandwidth if root is None else _times(bandwidth, root), "b"))
    return divisors


def _term(
    parts: Sequence[_Part], load: tuple[Expression, str] | None, *, messages: bool
) -> FormTerm:
    found: Expression | None = None
    for part in parts:
        found = _times(found, part.expression)
    expression = Number(1.0) if found is None else found
    if load is not None:
        expression = Quotient(expression, load[0])
    growth = sum(part.growth for part in parts)
    positive = all(part.positive for part in parts)
    return FormTerm(expression, growth, messages, positive)


def _power(name: str, exponent: float) -> Expression | None:
    if exponent == 0.0:
        return None
    return Name(name) if exponent == 1.0 else Power(Name(name), Number(exponent))


def _times(first: Expression | None, second: Expression | None) -> Expression:
    factors = [
        factor
        for one in (first, second)
        if one is not None
        for factor in (one.factors if isinstance(one, Product) else (one,))
    ]
    if not factors:
        return Number(1.0)
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def columns_of(terms: Sequence[FormTerm], values: Values, cases: int) -> Floats:
    """Evaluate terms at cases: a (terms, cases) array."""
    return np.stack(
        [np.broadcast_to(evaluate(one.expression, values), (cases,)) for one in terms]
    )
