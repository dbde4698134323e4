"""Write an expression: as a formula that can be read back, as LaTeX, as Python."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Sequence

from skelgen.models.formulas.expression import (
    MATHEMATICS,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    calls,
    names,
    plain,
    replaced,
)
from skelgen.models.formulas.grammar import negative, written_name

#: How tightly operations bind.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(5)

_GREEK = frozenset(("alpha", "beta", "gamma", "delta", "mu", "sigma", "tau", "omega"))


#: Terms of a sum that Python is given without brackets.
_MANY = 150

#: How LaTeX writes characters that it would obey.
_LATEX = {
    **{one: rf"\{one}" for one in "_%$#&{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def to_text(expression: Expression, digits: int = 17) -> str:
    """Write a formula.

    Parameters
    ----------
    expression : Expression
    digits : int
        Of numbers; with 17 `grammar.parse` reads the same numbers back.

    Examples
    --------
    >>> to_text(Sum((Product((Number(2.0), Name("n"))), Number(-1.0))))
    '2*n - 1'
    """
    return _text(expression, digits)[0]


def _text(expression: Expression, digits: int) -> tuple[str, int]:
    """Return the text and how tightly its outermost operation binds."""

    def of(part: Expression, least: int) -> str:
        text, binds = _text(part, digits)
        return text if binds >= least else f"({text})"

    text, binds = "", _ATOM
    match expression:
        case Number(value, unit):
            text = f"{value:.{digits}g}" + (f" {unit}" if unit else "")
            binds = _ATOM if text[0] != "-" and not unit else _SIGN
        case Name(name):
            text = written_name(name)
        case Sum(terms):
            text, binds = _added(terms, of), _SUM
        case Product((Number(-1.0, ""), *rest)) if rest:
            text, binds = "-" + "*".join(of(one, _POWER) for one in rest), _SIGN
        case Product(factors):
            least = [_SIGN] + [_POWER] * len(factors)
            text = "*".join(map(of, factors, least)) or "1"
            binds = _PRODUCT
        case Quotient(above, below):
            text, binds = f"{of(above, _PRODUCT)}/{of(below, _POWER)}", _PRODUCT
        case Power(base, exponent):
            text, binds = f"{of(base, _ATOM)}^{of(exponent, _SIGN)}", _POWER
        case Call(function, arguments):
            text = f"{function}({', '.join(of(one, _SUM) for one in arguments)})"
    return text, binds


def _added(terms: tuple[Expression, ...], of: Callable[[Expression, int], str]) -> str:
    """Write terms with plus or minus between them."""
    text = of(terms[0], _PRODUCT) if terms else "0"
    for term in terms[1:]:
        minus = _is_negative(term)
        shown = of(negative(term) if minus else term, _PRODUCT)
        text += f" - {shown}" if minus else f" + {shown}"
    return text


def _is_negative(term: Expression) -> bool:
    match term:
        case Number(value) | Product((Number(value), *_)):
            return value < 0.0
        case _:
            return False


def to_python(expression: Expression, name: str = "time_s") -> str:
    """Write a Python function of the names in an expression.

    Functions that are not mathematics become arguments, too. Times are in seconds and
    sizes in bytes. A comment says which argument is which where a name is no name for
    Python.
    """
    words = {*keyword.kwlist, *MATHEMATICS, "__debug__"}
    arguments = _identifiers(names(expression), words)
    functions = _identifiers(calls(expression), words | {*arguments.values()})

    def change(part: Expression) -> Expression | None:
        match part:
            case Number():
                return Number(plain(part))
            case Name(own):
                return Name(arguments[own])
            case Call(own, inner):
                return Call(functions.get(own, own), inner)
            case Sum(parts) if len(parts) > _MANY:
                return Sum(tuple(Sum(one) for one in _groups(parts)))
            case Product(parts) if len(parts) > _MANY:
                return Product(tuple(Product(one) for one in _groups(parts)))
            case _:
                return None

    text = to_text(replaced(expression, change)).replace("^", "**")
    renamed = "".join(
        f"    # {own}: {before}\n"
        for before, own in (*arguments.items(), *functions.items())
        if own != before and before.isprintable()
    )
    taken = ", ".join([*arguments.values(), *functions.values()])
    return f"from math import *\n\n\ndef {name}({taken}):\n{renamed}    return {text}\n"


def _groups(parts: tuple[Expression, ...]) -> list[tuple[Expression, ...]]:
    """Return parts in groups, because Python reads no chain of thousands."""
    return [parts[i : i + _MANY] for i in range(0, len(parts), _MANY)]


def _identifiers(wanted: Sequence[str], words: set[str]) -> dict[str, str]:
    """Return a name for Python for each name, all different and none of the words."""
    found: dict[str, str] = {}
    for name in wanted:
        own = re.sub(r"\W", "_", unicodedata.normalize("NFKC", name))
        if not f"_{own}".isidentifier():
            own = re.sub(r"[^0-9A-Za-z_]", "_", name)
        own = own if own.isidentifier() else f"_{own}"
        while own in words or own in found.values():
            own += "_"
        found[name] = own
    return found


def to_latex(expression: Expression, digits: int = 4) -> str:
    """Write a formula for LaTeX's mathematics mode."""
    return _latex(expression, digits)[0]


def _latex(expression: Expression, digits: int) -> tuple[str, int]:
    def of(part: Expression, least: int = _SUM) -> str:
        text, binds = _latex(part, digits)
        return text if binds >= least else rf"\left({text}\right)"

    text, binds = "", _ATOM
    match expression:
        case Number(value, unit):
            text = _number(value, digits)
            text += rf"\,\mathrm{{{unit}}}" if unit else ""
            binds = _ATOM if text[0] != "-" and "cdot" not in text else _SIGN
        case Name(name):
            text = _name(name)
        case Sum(terms):
            text, binds = _added(terms, of), _SUM
        case Product((Number(-1.0, ""), *rest)) if rest:
            text = "-" + r" \cdot ".join(of(one, _POWER) for one in rest)
            binds = _SIGN
        case Product(factors):
            least = [_PRODUCT] + [_POWER] * len(factors)
            text, binds = r" \cdot ".join(map(of, factors, least)) or "1", _PRODUCT
        case Quotient(above, below):
            text, binds = rf"\frac{{{of(above)}}}{{{of(below)}}}", _PRODUCT
        case Power(base, exponent):
            text, binds = f"{{{of(base, _ATOM)}}}^{{{of(exponent)}}}", _POWER
        case Call(function, arguments):
            inside = ", ".join(of(one) for one in arguments)
            text = rf"{_function(function)}\left({inside}\right)"
    return text, binds


def _function(name: str) -> str:
    known = {"log": r"\ln", "log2": r"\log_2", "log10": r"\log_{10}"}
    known["gamma"] = r"\Gamma"
    if name in ("exp", "max", "min"):
        return rf"\{name}"
    return known.get(name) or rf"\mathrm{{{_escaped(name)}}}"


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    mantissa, power = text.split("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}"


def _name(name: str) -> str:
    if name in _GREEK:
        return rf"\{name}"
    if written_name(name) != name:
        return rf"\mbox{{{_escaped(name)}}}"
    return name if len(name) == 1 else rf"\mathit{{{_escaped(name)}}}"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(one, one) for one in text)
