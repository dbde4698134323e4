"""Rational polynomials: computation over available CPU, messages over bandwidth.

T = O(computation) + O(computation)/cpu + O(communication)/bandwidth. As published the
coefficients are of any sign by absolute errors; `FamilySettings.non_negative` asks for
coefficients of 0 and more by relative errors. Where a load was not measured, or never
varies, its terms are those without it.

References
----------
Yagnik, Sanjay, Vadhiyar 2006, eq. 1 to 5.
"""

from __future__ import annotations

from string import ascii_lowercase

from skelgen.errors import InputError
from skelgen.models.families.complexities import orders, searched
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.formula_parts import (
    columns_of,
    product,
    times,
    total,
    used,
    with_facts,
)
from skelgen.models.families.least_squares import solve
from skelgen.models.formulas import Expression, Name, Number, Quotient, to_text
from skelgen.models.formulas.expression import Power
from skelgen.models.runs import Meaning, ModelInput, RunTable, When
from skelgen.trust import Doubt

#: A term, what it is divided by or multiplied with, and its name in the paper.
_Term = tuple[Expression, str, str]


def _fit_small(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    """Fit eq. 1 to 4: n^3 and n^2 unless other complexities are given."""
    computation, communication = _given(runs, settings)
    if computation is None:
        n = Name(_only_size(runs).name)
        computation = Power(n, Number(3.0))
        communication = communication or Power(n, Number(2.0))
    return _fitted(runs, settings, "rational-small", (computation, communication))


def _given(
    runs: RunTable, settings: FamilySettings
) -> tuple[Expression | None, Expression | None]:
    given = settings.computation, settings.communication
    computation, communication = (
        None if one is None else with_facts(one, runs, settings, "a complexity")
        for one in given
    )
    return computation, communication


def _only_size(runs: RunTable) -> ModelInput:
    sizes = [one for one in runs.varied if one.meaning is Meaning.SIZE]
    others = [one.name for one in runs.varied if one.meaning.parallel]
    if len(sizes) == 1 and not others:
        return sizes[0]
    named = ", ".join([*(one.name for one in sizes), *others]) or "nothing"
    raise InputError(
        f"rational-small is a polynomial in one size, on one number of processes, and "
        f"in these runs {named} varies; choose rational, or give complexities"
    )


def _fit_rational(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    """Fit eq. 5, with complexities that are given, or are searched for."""
    computation, communication = _given(runs, settings)
    cpu, bandwidth, _ = _loads(runs, When.AVERAGE)
    if computation is None or communication is None:
        computation, communication = searched(
            runs, (cpu, bandwidth), (computation, communication)
        )
    return _fitted(runs, settings, "rational", (computation, communication))


def _loads(runs: RunTable, when: When) -> tuple[ModelInput | None, ...]:
    """Return CPU, bandwidth and latency, those that vary."""
    found = (
        runs.load(meaning, when)
        for meaning in (Meaning.CPU, Meaning.BANDWIDTH, Meaning.LATENCY)
    )
    return tuple(one if one in runs.varied else None for one in found)


def _fitted(
    runs: RunTable,
    settings: FamilySettings,
    name: str,
    complexities: tuple[Expression, Expression | None],
) -> FittedFormula:
    when = When.START if name == "rational-small" else When.AVERAGE
    terms = _terms(runs, *complexities, when)
    needs(runs, len(terms), name)
    columns = columns_of([_divided(*term[:2], runs) for term in terms], runs)
    non_negative = settings.non_negative
    found = solve(
        columns,
        runs.values,
        relative_to=runs.values if non_negative else None,
        non_negative=non_negative,
    )
    numbers = {
        term: float(value)
        for i, (term, value) in enumerate(zip(terms, found.coefficients, strict=True))
        if i in found.kept and (value != 0.0 or not non_negative)
    }
    formula = _written(numbers, runs)
    inputs, dropped = used(formula, runs)
    lost = [
        term
        for i, term in enumerate(terms)
        if i not in found.kept and term[0] != Number(1.0)
    ]
    return finite(
        FittedFormula(
            name,
            formula,
            inputs,
            dropped,
            doubts=(_lost(lost, runs),) if lost else (),
            coefficients=tuple((term[2], number) for term, number in numbers.items()),
            notes=(_said(complexities),),
        ),
        runs,
    )


def _said(complexities: tuple[Expression | None, ...]) -> str:
    """Say which complexities the formula has: given ones, or what a search found."""
    named = zip(("computation", "communication"), complexities, strict=True)
    return "complexity of " + ", of ".join(
        f"{what} {to_text(one, 6)}" for what, one in named if one is not None
    )


def _terms(
    runs: RunTable,
    computation: Expression | None,
    communication: Expression | None,
    when: When,
) -> list[_Term]:
    """Return the terms of eq. 1, of eq. 2, of eq. 3, and those of latency."""
    cpu, bandwidth, latency = _loads(runs, when)
    sizes = [one.name for one in runs.of(Meaning.SIZE)]
    computing = () if computation is None else orders(computation, sizes)
    sending = () if communication is None else orders(communication, sizes)
    start = dict.fromkeys((*computing, Number(1.0)))  # some time in any case: d1
    choices = [
        (start, "", 1),
        (computing, cpu.name if cpu else "", 2),
        (sending, bandwidth.name if bandwidth else "", 3),
        ((sending[1:] or sending[:1]) if latency else (), _name(latency), 4),
    ]
    found: dict[tuple[Expression, str], str] = {}
    for complexity, load, number in choices:
        for letter, term in zip(ascii_lowercase, complexity, strict=False):
            found.setdefault((term, load), f"{letter}{number}")
    return [(term, load, name) for (term, load), name in found.items()]


def _name(one: ModelInput | None) -> str:
    return one.name if one else ""


def _divided(term: Expression, load: str, runs: RunTable) -> Expression:
    if not load:
        return term
    if _is_latency(load, runs):
        return product(term, Name(load))
    return Quotient(term, Name(load))


def _is_latency(load: str, runs: RunTable) -> bool:
    return load in [one.name for one in runs.of(Meaning.LATENCY)]


def _written(numbers: dict[_Term, float], runs: RunTable) -> Expression:
    """Write the sum of eq. 4: what depends on one load has it once."""
    parts: list[Expression] = []
    for load in dict.fromkeys(load for _, load, _ in numbers):
        own = [times(c, term) for (term, of, _), c in numbers.items() if of == load]
        if not load:
            parts += own
        elif _is_latency(load, runs):
            parts.append(product(total(own), Name(load)))
        else:
            parts.append(Quotient(total(own), Name(load)))
    return total(parts)


def _lost(terms: list[_Term], runs: RunTable) -> Doubt:
    written = (to_text(_divided(term, load, runs), 4) for term, load, _ in terms)
    return Doubt(
        "not-separable",
        f"not separable in these runs, and left out: {', '.join(written)}",
        "add runs of other sizes under other loads",
    )


RATIONALS = (
    ModelFamily(
        "rational-small",
        source="Yagnik, Sanjay, Vadhiyar 2006, eq. 1 to 4",
        assumes="cubic computation, quadratic communication, a load that stays as it "
        "was at the start",
        fit=_fit_small,
        when=When.START,
    ),
    ModelFamily(
        "rational",
        source="Yagnik, Sanjay, Vadhiyar 2006, eq. 5 and section 7",
        assumes="one phase of known complexities, under loads known by their averages",
        fit=_fit_rational,
    ),
)
