"""Units of formulas: seconds are added to seconds only.

A formula that adds a number of milliseconds to a number of seconds is wrong, and nobody
sees it (Wu, Taylor, Paris 2005, figure 8). Numbers can have a unit, names have the one
that their owner says, and sums are checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from skelgen.errors import InputError
from skelgen.models.formulas.expression import (
    UNITS,
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
)
from skelgen.models.formulas.printing import to_text

#: Exponents of seconds and of bytes; None where a coefficient takes any unit.
Dimension = tuple[float, float] | None

_PLAIN = (0.0, 0.0)
_TIMES = frozenset(("s", "ms", "us", "ns"))


def unit_of(text: str) -> tuple[float, tuple[float, float]]:
    """Read a unit such as ``ms``, ``bytes/s``, ``1/s`` or nothing.

    Returns
    -------
    scale : float
        What a number is multiplied with to be in seconds and bytes.
    dimension : (float, float)
        Exponents of seconds and of bytes.

    Raises
    ------
    InputError
    """
    above, _, below = text.replace(" ", "").partition("/")
    scale, (s, size) = _simple(above, text)
    if below:
        divisor, (other_s, other_size) = _simple(below, text)
        return scale / divisor, (s - other_s, size - other_size)
    return scale, (s, size)


def _simple(name: str, whole: str) -> tuple[float, tuple[float, float]]:
    if name in ("", "1"):
        return 1.0, _PLAIN
    if name not in UNITS:
        known = ", ".join(UNITS)
        raise InputError(f"the unit {whole!r} is not known; known: {known}, and a/b")
    return UNITS[name], (1.0, 0.0) if name in _TIMES else (0.0, 1.0)


def dimension(
    expression: Expression, units: Mapping[str, str], free: Collection[str] = ()
) -> Dimension:
    """Return the dimension of a formula.

    Parameters
    ----------
    expression : Expression
    units : mapping of str to str
        Of names and of functions that are not mathematics; others are plain numbers.
    free : collection of str
        Coefficients, which have the unit that fits.

    Raises
    ------
    InputError
        When things of different units are added, or a function takes none.
    """

    def of(part: Expression) -> Dimension:
        return dimension(part, units, free)

    found: Dimension = _PLAIN
    match expression:
        case Number(_, unit):
            found = unit_of(unit)[1]
        case Name(name):
            found = None if name in free else unit_of(units.get(name, ""))[1]
        case Sum(terms):
            found = _same(terms, [of(one) for one in terms])
        case Product(factors):
            for factor in factors:
                found = _times(found, of(factor), 1.0)
        case Quotient(above, below):
            found = _times(of(above), of(below), -1.0)
        case Power(base, exponent):
            found = _power(base, exponent, of(base), of(exponent))
        case FunctionCall(function, arguments):
            found = _called(function, arguments, [of(one) for one in arguments], units)
    return found


def _times(one: Dimension, other: Dimension, sign: float) -> Dimension:
    if one is None or other is None:
        return None
    return one[0] + sign * other[0], one[1] + sign * other[1]


def _same(terms: tuple[Expression, ...], found: list[Dimension]) -> Dimension:
    """Return the dimension of all terms, or say which two differ."""
    known = [
        (term, own) for term, own in zip(terms, found, strict=True) if own is not None
    ]
    for term, own in known[1:]:
        if own != known[0][1]:
            first, unit = known[0]
            raise InputError(
                f"the formula adds {_short(first)}, which is {shown(unit)}, and "
                f"{_short(term)}, which is {shown(own)}; give numbers their units, "
                "such as 15.94 us"
            )
    return known[0][1] if known else None


def _power(
    base: Expression, exponent: Expression, of: Dimension, over: Dimension
) -> Dimension:
    if over not in (None, _PLAIN):
        raise InputError(
            f"the formula has the exponent {_short(exponent)}, which is {shown(over)}; "
            "exponents are plain numbers"
        )
    if of is None or of == _PLAIN:
        return of
    if isinstance(exponent, Number):
        return of[0] * exponent.value, of[1] * exponent.value
    raise InputError(
        f"the formula raises {_short(base)}, which is {shown(of)}, to a power that "
        "varies; divide it by a quantity of its kind first"
    )


def _called(
    function: str,
    arguments: tuple[Expression, ...],
    found: list[Dimension],
    units: Mapping[str, str],
) -> Dimension:
    if function in ("max", "min"):
        return _same(arguments, found)
    if function in ("ceil", "floor"):
        return found[0]
    if function == "sqrt":
        return None if found[0] is None else (found[0][0] / 2, found[0][1] / 2)
    if function in ("log", "log2", "log10", "exp", "gamma"):
        if found[0] not in (None, _PLAIN):
            raise InputError(
                f"the formula has {function} of {_short(arguments[0])}, which is "
                f"{shown(found[0])}; it takes plain numbers"
            )
        return _PLAIN
    return unit_of(units.get(function, ""))[1]


def shown(found: Dimension) -> str:
    """Write a dimension for people."""
    if found is None:
        return "of any unit"
    parts = [
        name if exponent == 1.0 else f"{name}^{exponent:g}"
        for name, exponent in zip(("s", "bytes"), found, strict=True)
        if exponent
    ]
    return "*".join(parts) or "a plain number"


def _short(part: Expression) -> str:
    text = to_text(part, 6)
    return text if len(text) <= 40 else f"{text[:37]}..."
