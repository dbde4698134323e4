"""Expressions: trees of numbers, names and operations, and their values.

An expression is data. Whoever evaluates one gives the values of its names, and the
functions that are not mathematics, such as the time of a message of L bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError

Floats = NDArray[np.float64]

#: Value of each name: a number, or an array of one shape for many cases.
Values = Mapping[str, Any]

#: Functions by name that take and return arrays.
Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Number:
    """A constant; `unit` where the formula says one, such as ``ms``."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Name:
    """An input, a fact of a system, or a coefficient."""

    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms that are added."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors that are multiplied."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """A numerator over a denominator."""

    above: Expression
    below: Expression


@dataclass(frozen=True, slots=True)
class Power:
    """A base with an exponent."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function of expressions: mathematics, or a fact that depends on a size."""

    function: str
    arguments: tuple[Expression, ...]


#: Units that can follow a number, in seconds or bytes.
UNITS = {
    **{"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    **{"bytes": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}

Expression = Number | Name | Sum | Product | Quotient | Power | FunctionCall


def _gamma(value: float) -> float:
    """Return the factorial of a number one smaller; infinite where it is too large."""
    try:
        return math.gamma(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


#: Mathematics that a formula can use, and how many arguments each function takes.
MATHEMATICS: dict[str, tuple[Callable[..., Any], int]] = {
    "log": (np.log, 1),
    "log2": (np.log2, 1),
    "log10": (np.log10, 1),
    "exp": (np.exp, 1),
    "sqrt": (np.sqrt, 1),
    "ceil": (np.ceil, 1),
    "floor": (np.floor, 1),
    "max": (np.maximum, 2),
    "min": (np.minimum, 2),
    "gamma": (np.vectorize(_gamma, otypes=[np.float64]), 1),
}


_NOTHING, _ONE = np.float64(0.0), np.float64(1.0)


def evaluate(
    expression: Expression, values: Values, functions: Functions | None = None
) -> Floats:
    """Return the value of an expression for one case or for many.

    Parameters
    ----------
    expression : Expression
    values : mapping of str to float or array
        Arrays of one shape.
    functions : mapping of str to callable, optional
        Those that are not `MATHEMATICS`.

    Returns
    -------
    float64 array
        Infinite or not a number where mathematics says so; no warning is given.

    Raises
    ------
    InputError
        When a name or function has no value.
    """
    known = {name: np.asarray(value, np.float64) for name, value in values.items()}
    with np.errstate(all="ignore"):
        return np.asarray(_value(expression, known, functions or {}), np.float64)


def _value(
    expression: Expression, values: Mapping[str, Floats], functions: Functions
) -> Any:
    result: Any = _ONE
    match expression:
        case Product(factors):
            for factor in factors:
                result = result * _value(factor, values, functions)
        case Number():
            result = np.float64(plain(expression))
        case Name(name):
            result = _named(name, values)
        case Power(base, exponent):
            raised = _value(base, values, functions)
            result = np.power(raised, _value(exponent, values, functions))
        case Quotient(above, below):
            over = _value(above, values, functions)
            result = np.divide(over, _value(below, values, functions))
        case Sum(terms):
            result = _NOTHING
            for term in terms:
                result = result + _value(term, values, functions)
        case FunctionCall(function, arguments):
            given = (_value(one, values, functions) for one in arguments)
            result = _called(function, functions)(*given)
    return result


def plain(number: Number) -> float:
    """Return a number in seconds or bytes, where it has a unit."""
    return number.value * UNITS[number.unit] if number.unit else number.value


def _named(name: str, values: Mapping[str, Floats]) -> Floats:
    if name in values:
        return values[name]
    raise InputError(
        f"the formula names {name}, which has no value; known: "
        f"{', '.join(sorted(values)) or 'nothing'}"
    )


def _called(name: str, functions: Functions) -> Callable[..., Any]:
    if name in MATHEMATICS:
        return MATHEMATICS[name][0]
    if name in functions:
        return functions[name]
    known = sorted([*MATHEMATICS, *functions])
    raise InputError(
        f"the formula calls {name}, which is not known; known: {', '.join(known)}"
    )


def inner(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is made of."""
    match expression:
        case Sum(parts) | Product(parts) | FunctionCall(_, parts):
            return parts
        case Quotient(above, below):
            return above, below
        case Power(base, exponent):
            return base, exponent
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of, the outermost first."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, (Name, Number)):
            waiting.extend(reversed(inner(part)))


def names(expression: Expression) -> tuple[str, ...]:
    """Return the names in an expression, each once, in the order of the text."""
    found: dict[str, None] = {}
    for part in walk(expression):
        if isinstance(part, Name):
            found[part.name] = None
    return tuple(found)


def calls(expression: Expression) -> tuple[str, ...]:
    """Return the functions in an expression that are not `MATHEMATICS`."""
    found = (one.function for one in walk(expression) if isinstance(one, FunctionCall))
    return tuple(name for name in dict.fromkeys(found) if name not in MATHEMATICS)


def replaced(
    expression: Expression, change: Callable[[Expression], Expression | None]
) -> Expression:
    """Return an expression with parts changed.

    Parameters
    ----------
    expression : Expression
    change : callable
        Returns what stands for a part, or None to keep it. What it is made of has
        been changed before.
    """

    def of(part: Expression) -> Expression:
        return replaced(part, change)

    match expression:
        case Sum(terms):
            expression = Sum(tuple(map(of, terms)))
        case Product(factors):
            expression = Product(tuple(map(of, factors)))
        case Quotient(above, below):
            expression = Quotient(of(above), of(below))
        case Power(base, exponent):
            expression = Power(of(base), of(exponent))
        case FunctionCall(function, arguments):
            expression = FunctionCall(function, tuple(map(of, arguments)))
    changed = change(expression)
    return expression if changed is None else changed
