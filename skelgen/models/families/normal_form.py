"""Sums of at most four non-negative terms, chosen by their error at runs left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models import regimes
from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    needs,
)
from skelgen.models.families.refining import LARGEST_MISS, refined
from skelgen.models.families.searching import Sums, search
from skelgen.models.families.terms import FormTerm, columns_of, terms_for
from skelgen.models.families.weighing import weights
from skelgen.models.formulas import Expression, Number, Product, Quotient, Sum
from skelgen.models.formulas.expression import Values
from skelgen.models.regimes import Step
from skelgen.models.runs import Floats, RunTable

MOST_TERMS = 4

#: How unlikely a sum may be that is kept.
_LEAST_SHARE = 0.01

#: Runs beyond so many make no sum more certain: they share their errors.
_MOST_COUNTED = 15


@dataclass(frozen=True, slots=True)
class NormalForms:
    """Sums of terms that fit about as well.

    Attributes
    ----------
    terms : tuple of FormTerm
        What was chosen from.
    sets : tuple of tuple of int
        Terms of each sum, the best first.
    coefficients : tuple of tuple of float
        Above 0.
    shares : tuple of float
        How likely each is; their sum is 1.
    steps : tuple of Step or None
        Where each sum has a change: it is what comes after.
    heights : tuple of float
        Logarithms of the factors of runs before; 0 without a step.
    """

    terms: tuple[FormTerm, ...]
    sets: tuple[tuple[int, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    steps: tuple[Step | None, ...]
    heights: tuple[float, ...]

    def each(self, columns: Floats) -> Floats:
        """Evaluate all sums: a (sums, cases) array."""
        return np.stack(
            [
                np.array(found) @ columns[list(chosen)]
                for chosen, found in zip(self.sets, self.coefficients, strict=True)
            ]
        )

    def together(self, columns: Floats) -> Floats:
        """Return what they say together: the mean of logarithms, by their shares."""
        return np.asarray(np.exp(np.array(self.shares) @ np.log(self.each(columns))))

    def at(self, values: Values, cases: int) -> Floats:
        """Evaluate what they say together at cases."""
        return self.together(columns_of(self.terms, values, cases))

    @property
    def change(self) -> tuple[Step | None, float]:
        """The likeliest place of a change, and how likely there is one at all."""
        total: dict[Step, float] = {}
        for share, step in zip(self.shares, self.steps, strict=True):
            if step is not None:
                total[step] = total.get(step, 0.0) + share
        if not total:
            return None, 0.0
        return max(total, key=lambda one: total[one]), sum(total.values())

    def before(self, runs: RunTable) -> Floats:
        """Return the factor of runs before changes, by shares: logarithms."""
        total = np.zeros(len(runs))
        parts = zip(self.shares, self.steps, self.heights, strict=True)
        for share, step, height in parts:
            if step is not None:
                total += share * height * regimes.columns_of((step,), runs)[0]
        return total


def normal_forms(
    runs: RunTable,
    *,
    terms: Sequence[FormTerm] | None = None,
    steps: tuple[Step, ...] = (),
    most_terms: int = MOST_TERMS,
    rounds: int = 3,
) -> NormalForms:
    """Find the sums of terms that fit.

    Parameters
    ----------
    runs : RunTable
    terms : sequence of FormTerm, optional
        To choose from; else those of the inputs that vary.
    steps : tuple of Step
        Places where the program may change; a sum has at most one.
    most_terms : int
    rounds : int
        At least 2.

    Returns
    -------
    NormalForms

    Notes
    -----
    Errors are those of logarithms, so that noise that multiplies a time makes no sum
    too low. They are linear near what was found before; the first round divides by what
    was measured and knows no steps. From the second round on runs count by
    `weighing.weights`, and each sum is fitted once more near itself.
    """
    terms = tuple(terms if terms is not None else terms_for(runs))
    own = columns_of(terms, runs.columns, len(runs))
    columns = np.concatenate([own, regimes.columns_of(steps, runs)])
    different = len({tuple(row) for row in runs.at.tolist()})
    most = min(most_terms, max(1, different - 1))
    with np.errstate(all="ignore"):  # what is no number is never chosen
        found = _round(runs, terms, steps, columns, None, min(2, most))
        for _ in range(rounds - 1):
            found = _round(runs, terms, steps, columns, found, most)
    return found


def _round(
    runs: RunTable,
    terms: tuple[FormTerm, ...],
    steps: tuple[Step, ...],
    columns: Floats,
    before: NormalForms | None,
    most: int,
) -> NormalForms:
    """Choose sums near those found before."""
    values, count = runs.values, len(terms)
    near, counted = values, np.ones(len(values))
    if before is not None:
        near, factor = before.together(columns[:count]), before.before(runs)
        counted = weights(np.log(values / near) - factor, np.log(near))
    misses = np.clip(np.log(values / near), -LARGEST_MISS, LARGEST_MISS)
    relative = np.concatenate([columns[:count] / near, columns[count:]]) * counted
    tried = len(steps) if before is not None else 0
    relative = relative[: count + tried]
    sums = search(terms, relative, (1.0 + misses) * counted, most, tried)
    if not len(sums.sets):  # no sum comes near: then only how long it takes is known
        middle = float(np.exp(np.mean(np.log(values))))
        return NormalForms(terms, ((0,),), ((middle,),), (1.0,), (None,), (0.0,))
    if before is not None:
        sums = refined(sums, columns, values, counted, len(steps))
    return _shared(terms, steps, sums, len(values))


def _shared(
    terms: tuple[FormTerm, ...], steps: tuple[Step, ...], sums: Sums, runs: int
) -> NormalForms:
    """Give each sum its share; the likely ones are kept."""
    scores = sums.scores
    shares = (scores[0] / scores) ** min(runs, _MOST_COUNTED)
    chosen = np.flatnonzero(shares >= _LEAST_SHARE)
    shares = shares[chosen] / shares[chosen].sum()
    sets, coefficients, found, heights = [], [], [], []
    for i in chosen:
        one, numbers = sums.sets[i], sums.coefficients[i]
        step = one >= len(terms)
        sets.append(tuple(map(int, one[~step])))
        coefficients.append(tuple(map(float, numbers[~step])))
        found.append(steps[one[step][0] - len(terms)] if step.any() else None)
        heights.append(float(numbers[step].sum()))
    return NormalForms(
        terms,
        tuple(sets),
        tuple(coefficients),
        tuple(map(float, shares)),
        tuple(found),
        tuple(heights),
    )


def sum_of(
    terms: Sequence[FormTerm], chosen: Sequence[int], coefficients: Sequence[float]
) -> Expression:
    """Write a sum of terms as an expression, the fastest growing term first."""
    order = sorted(
        zip(chosen, coefficients, strict=True), key=lambda one: -terms[one[0]].growth
    )
    parts = [_scaled(value, terms[which].expression) for which, value in order]
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def _scaled(coefficient: float, term: Expression) -> Expression:
    match term:
        case Number(value):
            return Number(coefficient * value)
        case Product((Number(value), *factors)):
            return Product((Number(coefficient * value), *factors))
        case Product(factors):
            return Product((Number(coefficient), *factors))
        case Quotient(above, below):
            return Quotient(_scaled(coefficient, above), below)
        case _:
            return Product((Number(coefficient), term))


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    del settings
    needs(runs, 2, "normal-form")
    found = normal_forms(runs)
    varied = runs.varied
    chosen, coefficients = found.sets[0], found.coefficients[0]
    formula = sum_of(found.terms, chosen, coefficients)
    return FittedFormula(
        "normal-form",
        formula,
        varied,
        dropped=tuple(one.name for one in runs.inputs if one not in varied),
        coefficients=tuple(
            (f"c{i}", value) for i, value in enumerate(coefficients, start=1)
        ),
    )


FAMILY = Family(
    "normal-form",
    source="",
    assumes="time is a sum of few parts, each of which grows with sizes, shrinks with "
    "processes, and waits for processors, for links, or for neither",
    fit=_fit,
)
