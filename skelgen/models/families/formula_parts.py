"""Parts of formulas that families write: sums with coefficients, facts put in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.formulas import (
    Expression,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    calls,
    evaluate,
    names,
    replaced,
)
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable


def power(base: Expression, exponent: float) -> Expression:
    """Return a power, written as people write it."""
    if exponent == 0.0:
        return Number(1.0)
    return base if exponent == 1.0 else Power(base, Number(float(exponent)))


def product(*factors: Expression) -> Expression:
    """Return a product without factors of 1 and without products in it."""
    flat: list[Expression] = []
    for factor in factors:
        if isinstance(factor, Product):
            flat += factor.factors
        elif factor != Number(1.0):
            flat.append(factor)
    if not flat:
        return Number(1.0)
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def multiplied(factors: Sequence[Expression]) -> Expression:
    """Multiply factors and quotients: one numerator over one denominator."""
    above = [one.above if isinstance(one, Quotient) else one for one in factors]
    below = [one.below for one in factors if isinstance(one, Quotient)]
    whole = product(*above)
    return Quotient(whole, product(*below)) if below else whole


def times(number: float, term: Expression) -> Expression:
    """Return a term with a coefficient."""
    if term == Number(1.0):
        return Number(float(number))
    if isinstance(term, Quotient) and number >= 0.0:
        return Quotient(times(number, term.above), term.below)
    rest = term.factors if isinstance(term, Product) else (term,)
    return Product((Number(float(number)), *rest))


def total(terms: Sequence[Expression]) -> Expression:
    """Return the sum of terms; 0 for none."""
    if not terms:
        return Number(0.0)
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def columns_of(terms: Iterable[Expression], runs: RunTable) -> Floats:
    """Return the values of terms at the runs: a (runs, terms) array."""
    values = [np.broadcast_to(evaluate(t, runs.columns), len(runs)) for t in terms]
    return np.stack(values, axis=1) if values else np.zeros((len(runs), 0))


def with_facts(
    expression: Expression, runs: RunTable, settings: FamilySettings, what: str
) -> Expression:
    """Put the numbers of facts into a formula of inputs and facts.

    Raises
    ------
    InputError
        When a name is neither, or a function is not mathematics.
    """

    def number(part: Expression) -> Expression | None:
        if isinstance(part, Name) and part.name in settings.facts:
            return Number(float(settings.facts[part.name]))
        return None

    known = {one.name for one in runs.inputs}
    found = replaced(expression, number)
    unknown = [one for one in (*names(found), *calls(found)) if one not in known]
    if unknown:
        raise InputError(
            f"{what} names {unknown[0]}, which is neither an input nor a fact; inputs: "
            f"{', '.join(sorted(known)) or 'none'}"
        )
    return found


def processes(runs: RunTable) -> Expression | None:
    """Return the number of processes by the inputs, or None when none says it."""
    found = runs.of(Meaning.RANKS) or runs.of(Meaning.NODES, Meaning.RANKS_PER_NODE)
    return product(*(Name(one.name) for one in found)) if found else None


def used(
    expression: Expression, runs: RunTable
) -> tuple[tuple[ModelInput, ...], tuple[str, ...]]:
    """Return the inputs that a formula needs, and the names of the others."""
    wanted = set(names(expression))
    return (
        tuple(one for one in runs.inputs if one.name in wanted),
        tuple(one.name for one in runs.inputs if one.name not in wanted),
    )
