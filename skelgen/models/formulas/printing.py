"""Write an expression: as text that is read back, LaTeX, MathML, Python."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.models.formulas.expression import (
    MATHEMATICS,
    Expression,
    FunctionCall,
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
        case FunctionCall(function, arguments):
            text = f"{function}({', '.join(of(one, _SUM) for one in arguments)})"
    return text, binds


def _added(
    terms: tuple[Expression, ...],
    of: Callable[[Expression, int], str],
    signs: tuple[str, str, str] = ("0", " + ", " - "),
) -> str:
    """Write terms with plus or minus between them; `signs` says how, nothing first."""
    nothing, plus, minus = signs
    text = of(terms[0], _PRODUCT) if terms else nothing
    for term in terms[1:]:
        less = _is_negative(term)
        shown = of(negative(term) if less else term, _PRODUCT)
        text += (minus if less else plus) + shown
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
            case FunctionCall(own, inner):
                return FunctionCall(functions.get(own, own), inner)
            case Sum(parts) if len(parts) > _MANY:
                return Sum(tuple(Sum(one) for one in _batches(parts)))
            case Product(parts) if len(parts) > _MANY:
                return Product(tuple(Product(one) for one in _batches(parts)))
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


def _batches(parts: tuple[Expression, ...]) -> list[tuple[Expression, ...]]:
    """Return parts in batches, because Python reads no chain of thousands."""
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
        case FunctionCall(function, arguments):
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


def to_mathml(expression: Expression, digits: int = 4, of: str = "") -> str:
    """Write a formula as MathML Core, which browsers set without a script.

    Names become text: nothing in one is ever an element.

    Parameters
    ----------
    expression : Expression
    digits : int
        Of numbers.
    of : str
        Name of what the formula gives, written before it with an equals sign.

    Examples
    --------
    >>> to_mathml(Quotient(Number(2.0), Name("n<1")))
    "<math display='block'><mfrac><mn>2</mn><mtext>'n&lt;1'</mtext></mfrac></math>"
    """
    text = _mathml(expression, digits)[0]
    if of:
        text = _row(f"{_name_element(of)}<mo>=</mo>{text}")
    return f"<math display='block'>{text}</math>"


def _mathml(expression: Expression, digits: int) -> tuple[str, int]:
    """Return one element, and how tightly its outermost operation binds."""

    def of(part: Expression, least: int = _SUM) -> str:
        text, binds = _mathml(part, digits)
        return text if binds >= least else _fenced(text)

    text, binds = "", _ATOM
    match expression:
        case Number(value, unit):
            text, binds = _number_element(value, unit, digits)
        case Name(name):
            text = _name_element(name)
        case Sum(terms):
            text, binds = _row(_added(terms, of, _MATHML_SIGNS)), _SUM
        case Product((Number(-1.0, ""), *rest)) if rest:
            text = _row(_LESS + _TIMES.join(of(one, _POWER) for one in rest))
            binds = _SIGN
        case Product(factors):
            least = [_PRODUCT] + [_POWER] * len(factors)
            text = _row(_TIMES.join(map(of, factors, least)) or "<mn>1</mn>")
            binds = _PRODUCT
        case Quotient(above, below):
            text, binds = f"<mfrac>{of(above)}{of(below)}</mfrac>", _PRODUCT
        case Power(base, exponent):
            text, binds = f"<msup>{of(base, _ATOM)}{of(exponent)}</msup>", _POWER
        case FunctionCall(function, arguments):
            text = _call_element(function, [of(one) for one in arguments])
    return text, binds


#: What XML has no place for, besides what no page may have.
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
_LESS, _TIMES = "<mo>\u2212</mo>", "<mo>\u22c5</mo>"
_MATHML_SIGNS = ("<mn>0</mn>", "<mo>+</mo>", _LESS)
_FENCES = {"ceil": ("\u2308", "\u2309"), "floor": ("\u230a", "\u230b")}
_HEADS = {
    "log": "<mi>ln</mi>",
    "log2": "<msub><mi>log</mi><mn>2</mn></msub>",
    "log10": "<msub><mi>log</mi><mn>10</mn></msub>",
    "gamma": "<mi>\u0393</mi>",
}


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>"


def _fenced(inside: str, left: str = "(", right: str = ")") -> str:
    return _row(f"<mo>{left}</mo>{inside}<mo>{right}</mo>")


def _call_element(function: str, inside: list[str]) -> str:
    if function == "sqrt":
        return f"<msqrt>{inside[0]}</msqrt>"
    if function in _FENCES:
        return _fenced(inside[0], *_FENCES[function])
    head = _HEADS.get(function) or _name_element(function)
    return _row(f"{head}<mo>\u2061</mo>{_fenced('<mo>,</mo>'.join(inside))}")


def _number_element(value: float, unit: str, digits: int) -> tuple[str, int]:
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    text, binds = _signed_element(mantissa), _ATOM
    if power:
        text += f"{_TIMES}<msup><mn>10</mn>{_row(_signed_element(f'{int(power)}'))}"
        text += "</msup>"
    if unit:
        text += f"<mspace width='0.2em'></mspace><mtext>{escape(unit)}</mtext>"
    if power or unit or mantissa.startswith("-"):
        text, binds = _row(text), _SIGN
    return text, binds


def _signed_element(text: str) -> str:
    less = _LESS if text.startswith("-") else ""
    return f"{less}<mn>{text.removeprefix('-')}</mn>"


def _name_element(name: str) -> str:
    """Write a name as text: in quotes, as `to_text` does, where it is no word."""
    said = written_name(name)
    if said == name:
        return f"<mi>{name}</mi>"
    kept = _NO_CHARACTER.sub("\ufffd", visible(shown(said))).replace(" ", "\u00a0")
    return f"<mtext>{escape(kept)}</mtext>"
