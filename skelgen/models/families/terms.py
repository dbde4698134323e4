"""The terms that normal forms choose from.

A term is a growing function of the sizes times one of the processes, rarely a growing
one. Computation waits for processors, so it is divided by the available CPU.
Communication is divided by the available bandwidth, and by the square root of the CPU,
which both ends of a message need. Serial work is divided by neither.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.formulas import (
    Expression,
    FunctionCall,
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
from skelgen.models.thresholds import HALF_UNUSUAL

#: Exponents of the only input, of one among several, and of inputs that are few.
_FINE = tuple(i / 10 for i in range(41))
_HALVES = tuple(i / 2 for i in range(7))
_FINE_FALLING = tuple(-i / 10 for i in range(12, 0, -1))
_FINE_RISING = (0.2, 0.4, 0.6, 0.8, 1.0)
_FALLING = (-1.0, -2 / 3, -0.5)

#: Squares of terms beyond this are no numbers.
_LARGEST_TERM = 1e120

#: More products of functions than this are too many to choose from.
_MOST_TERMS = 400

#: Values of terms are remembered up to so many numbers, and of so many sets of runs:
#: phases of an application, and folds, have the same inputs.
_MOST_NUMBERS, _MOST_SETS = 100_000, 64


@dataclass(frozen=True, slots=True)
class _Part:
    """Factors and divisors of a term that are of the same inputs.

    Attributes
    ----------
    above, below : tuple of Expression
    growth : float
        Sum of the exponents of sizes.
    positive : bool
        Whether it is above 0 everywhere.
    messages : bool
        Whether it waits for links.
    odd : float
        How unusual it is: roots and logarithms are, whole powers are not.
    """

    above: tuple[Expression, ...] = ()
    below: tuple[Expression, ...] = ()
    growth: float = 0.0
    positive: bool = True
    messages: bool = False
    odd: float = 0.0

    def times(self, other: _Part) -> _Part:
        """Return the product."""
        return _Part(
            self.above + other.above,
            self.below + other.below,
            self.growth + other.growth,
            self.positive and other.positive,
            self.messages or other.messages,
            self.odd + other.odd,
        )

    @property
    def term(self) -> FormTerm:
        """The term that it is on its own."""
        above = _product(self.above)
        expression = Quotient(above, _product(self.below)) if self.below else above
        return FormTerm(expression, self.growth, self.messages, self.positive, self.odd)


@dataclass(frozen=True, slots=True, eq=False)
class FormTerm:
    """A term without its coefficient; the terms of some inputs are made only once.

    Attributes
    ----------
    expression : Expression
    growth : float
        Sum of the exponents of sizes.
    messages : bool
        Whether it waits for links.
    positive : bool
        Whether it is above 0 everywhere: the logarithm of one process is 0.
    odd : float
        How unusual it is.
    """

    expression: Expression
    growth: float
    messages: bool
    positive: bool = True
    odd: float = 0.0


def terms_for(runs: RunTable, least: float = 0.0) -> tuple[FormTerm, ...]:
    """Return the terms of the inputs that vary.

    Parameters
    ----------
    runs : RunTable
    least : float
        Part of a resource that a program gets even where none is left [0 to 1].

    Returns
    -------
    tuple of FormTerm
        The constant first. Terms that are no numbers at the runs are left out.
    """
    return _usable(runs.unmeasured, least)


@functools.lru_cache(maxsize=_MOST_SETS)
def _usable(runs: RunTable, least: float) -> tuple[FormTerm, ...]:
    found = _products(runs.varied, least)
    columns = columns_of(found, runs.columns, len(runs))
    with np.errstate(all="ignore"):
        usable = np.isfinite(columns).all(axis=1) & (columns.max(axis=1) > 0.0)
        usable &= columns.max(axis=1) < _LARGEST_TERM
        usable &= columns.max(axis=1) > 1.0 / _LARGEST_TERM
    chosen = np.flatnonzero(usable)
    return tuple(found[i] for i in chosen)


@functools.lru_cache(maxsize=_MOST_SETS)
def _products(inputs: tuple[ModelInput, ...], least: float) -> tuple[FormTerm, ...]:
    """Return products of a function of each size, of the processes, and of a load."""
    loads = [one for one in inputs if one.meaning.available]
    parallel = [one for one in inputs if one.meaning.parallel]
    sizes = [one for one in inputs if one not in loads and one not in parallel]
    alone = len(inputs) == 1
    functions = [_sizes(one.name, _FINE if alone else _HALVES) for one in sizes]
    if parallel:
        functions.append(_parallel(parallel, fine=alone))
    waits = _loads(loads, least)
    while math.prod(map(len, functions)) * len(waits) > _MOST_TERMS:
        longest = max(functions, key=len)
        if len(longest) < 3:
            break
        functions[functions.index(longest)] = longest[::2]
    return tuple(
        functools.reduce(_Part.times, chosen, _Part()).term
        for chosen in itertools.product(*functions, waits)
    )


def _sizes(name: str, exponents: Sequence[float]) -> list[_Part]:
    log = FunctionCall(
        "log", (Sum((Name(name), Number(1.0))),)
    )  # above 0 for every size
    parts = [replace(_power(name, a), growth=a, odd=_odd(a)) for a in exponents]
    return [*parts, _Part((Name(name), log), growth=1.1, odd=HALF_UNUSUAL)]


def _parallel(inputs: Sequence[ModelInput], *, fine: bool) -> list[_Part]:
    """Return functions of processes: falling ones, logarithms, products of both."""
    by = {one.meaning: one.name for one in inputs}
    if len(by) == 1:
        name = inputs[0].name
        exponents = (0.0, *(_FINE_FALLING if fine else _FALLING))
        rising = _FINE_RISING if fine else ()
        logs = [_with_log(_power(name, a), Name(name)) for a in (0.0, -0.5, -1.0)]
        powers = [replace(_power(name, a), odd=_odd(a)) for a in (*exponents, *rising)]
        return [*powers, *logs]
    first, second = _first_and_second(by)
    ranks = _ranks(by)
    found = []
    for a, b in itertools.product((0.0, *_FALLING), (0.0, -0.5, -1.0)):
        if a or not b:
            part = _power(first, a).times(_power(second, b))
            own = 0.0 if b in (0.0, a) else HALF_UNUSUAL
            part = replace(part, odd=_odd(a) + own)
            found += [part, _with_log(part, ranks)]
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


def _loads(loads: Sequence[ModelInput], least: float) -> list[_Part]:
    """Return what terms wait for: nothing, processors, links."""
    by = {one.meaning: _at_least(least, Name(one.name)) for one in loads}
    cpu, bandwidth = by.get(Meaning.CPU), by.get(Meaning.BANDWIDTH)
    waits = [_Part()]
    if cpu is not None:
        waits.append(_Part(below=(cpu,)))
    if bandwidth is not None:
        root = (FunctionCall("sqrt", (cpu,)),) if cpu is not None else ()
        waits.append(_Part(below=(bandwidth, *root), messages=True))
    return waits


def _at_least(least: float, left: Expression) -> Expression:
    """Write what a program gets: at least some of a resource, all where it is free."""
    if least == 0.0:
        return left
    return Sum((Number(least), Product((Number(1.0 - least), left))))


def _power(name: str, exponent: float) -> _Part:
    if exponent == 0.0:
        return _Part()
    size = abs(exponent)
    power = Name(name) if size == 1.0 else Power(Name(name), Number(size))
    return _Part(above=(power,)) if exponent > 0.0 else _Part(below=(power,))


def _with_log(part: _Part, inside: Expression) -> _Part:
    log = FunctionCall("log", (inside,))
    odd = part.odd + HALF_UNUSUAL
    return replace(part, above=(*part.above, log), positive=False, odd=odd)


def _odd(exponent: float) -> float:
    """Return how unusual a power is: a half, a third and a tenth all are.

    To fall faster than there are processes is as unusual again: caches do that, and
    they hold the data once.
    """
    unusual = 0.0 if exponent == round(exponent) else 1.0
    return unusual + (1.0 if exponent < -1.0 else 0.0)


def _product(factors: tuple[Expression, ...]) -> Expression:
    if not factors:
        return Number(1.0)
    return factors[0] if len(factors) == 1 else Product(factors)


def columns_of(terms: Sequence[FormTerm], values: Values, cases: int) -> Floats:
    """Evaluate terms at cases: a (terms, cases) array that cannot be written."""
    if len(terms) * cases > _MOST_NUMBERS:
        return _evaluated(terms, values, cases)
    numbers = tuple(
        (name, np.asarray(value, np.float64).tobytes())
        for name, value in values.items()
    )
    return _remembered(tuple(terms), numbers, cases)


@functools.lru_cache(maxsize=_MOST_SETS)
def _remembered(
    terms: tuple[FormTerm, ...], numbers: tuple[tuple[str, bytes], ...], cases: int
) -> Floats:
    values = {name: np.frombuffer(held) for name, held in numbers}
    return _evaluated(terms, values, cases)


def _evaluated(terms: Sequence[FormTerm], values: Values, cases: int) -> Floats:
    found = np.stack(
        [np.broadcast_to(evaluate(one.expression, values), (cases,)) for one in terms]
    )
    found.setflags(write=False)
    return found
