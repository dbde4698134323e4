"""Formulas on pages: set as mathematics, with text and LaTeX behind them."""

from __future__ import annotations

from skelgen.models.formulas import (
    Expression,
    Name,
    parse,
    to_latex,
    to_mathml,
    to_text,
    walk,
)
from skelgen.web.site import FormulaShown

#: Digits of numbers, as commands print them.
_DIGITS = 4
#: Parts of a formula that is set as mathematics; longer ones are text.
_MOST_PARTS = 400


def formula_block(quantity: str, formula: Expression, unit: str = "") -> FormulaShown:
    """Return ``quantity = formula`` as a block of a page.

    Parameters
    ----------
    quantity : str
        Name of what the formula gives; empty: only the formula.
    formula : Expression
    unit : str
        Of the quantity.
    """
    text, latex = to_text(formula, _DIGITS), to_latex(formula, _DIGITS)
    mathematics = ""
    if is_shown_as_mathematics(formula):
        mathematics = to_mathml(formula, _DIGITS, quantity)
    if quantity:
        text, latex = f"{quantity} = {text}", f"{to_latex(Name(quantity))} = {latex}"
    if unit:
        text = f"{text}  [{unit}]"
    return FormulaShown(mathematics, text, latex)


def is_shown_as_mathematics(formula: Expression) -> bool:
    """Say whether a formula is so short that it is set as mathematics."""
    return sum(1 for _ in walk(formula)) <= _MOST_PARTS


def short_fact(text: str) -> tuple[str, str]:
    """Return name and value of a fact of a template with few digits.

    Examples
    --------
    >>> short_fact("SR(L)=1.9999999999999e-06 s + 1e-10 s*L")
    ('SR(L)', '2e-06 s + 1e-10 s*L')
    >>> short_fact("clock=2100000000.0 1/s")
    ('clock', '2.1e+09 1/s')
    """
    name, _, said = text.partition("=")
    number, _, unit = said.partition(" ")
    try:
        return name, f"{float(number):.{_DIGITS}g} {unit}".rstrip()
    except ValueError:
        return name, to_text(parse(said), _DIGITS)
