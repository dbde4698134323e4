"""Sums of at most four non-negative terms, chosen by their error at runs left out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models import regimes
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    needs,
)
from skelgen.models.families.searching import MOST_TERMS, Kinds, Sets, Sums, search
from skelgen.models.families.sum_refinement import LARGEST_MISS, refined
from skelgen.models.families.terms import FormTerm, columns_of, terms_for
from skelgen.models.families.weighing import weights
from skelgen.models.formulas import Expression, Number, Product, Quotient, Sum
from skelgen.models.formulas.expression import Values
from skelgen.models.regimes import RegimeStep
from skelgen.models.runs import Floats, RunTable

#: How unlikely a sum may be that is kept.
_LEAST_SHARE = 0.01

#: Runs beyond so many make no sum more certain: they share their errors.
_MOST_COUNTED = 15

#: So many are kept: folds of the same runs ask for them again.
_MOST_KEPT = 16


@dataclass(frozen=True, slots=True, eq=False)
class NormalForms:
    """Sums of terms that fit about as well, the best first.

    Attributes
    ----------
    terms : tuple of FormTerm
        What was chosen from.
    places : tuple of RegimeStep
        Where a sum may have a change.
    chosen : (sums, terms of a sum) intp array
        Terms of each sum; any where it has fewer.
    factors : (sums, terms of a sum) float64 array
        Above 0; 0 where a sum has fewer terms.
    likely : (sums,) float64 array
        How likely each is; their sum is 1.
    place : (sums,) intp array
        Which of the places each has; -1 without a change.
    height : (sums,) float64 array
        Logarithms of the factors of runs before it; 0 without one.
    """

    terms: tuple[FormTerm, ...]
    places: tuple[RegimeStep, ...]
    chosen: Sets
    factors: Floats
    likely: Floats
    place: Sets
    height: Floats

    def best(self, count: int) -> NormalForms:
        """Return the first of them, with the shares that they had."""
        return NormalForms(
            self.terms,
            self.places,
            self.chosen[:count],
            self.factors[:count],
            self.likely[:count],
            self.place[:count],
            self.height[:count],
        )

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Terms of each sum."""
        both = zip(self.chosen.tolist(), self.factors.tolist(), strict=True)
        return tuple(
            tuple(i for i, factor in zip(*one, strict=True) if factor) for one in both
        )

    @property
    def coefficients(self) -> tuple[tuple[float, ...], ...]:
        """Coefficients of each sum, above 0."""
        return tuple(
            tuple(factor for factor in one if factor) for one in self.factors.tolist()
        )

    @property
    def shares(self) -> tuple[float, ...]:
        """How likely each is; their sum is 1."""
        return tuple(self.likely.tolist())

    @property
    def steps(self) -> tuple[RegimeStep | None, ...]:
        """Where each sum has a change: it is what comes after."""
        return tuple(self.places[i] if i >= 0 else None for i in self.place.tolist())

    def each(self, columns: Floats) -> Floats:
        """Evaluate all sums: a (sums, cases) array."""
        return np.asarray(np.einsum("st,stc->sc", self.factors, columns[self.chosen]))

    def together(self, columns: Floats) -> Floats:
        """Return what they say together: the mean of logarithms, by their shares."""
        return np.asarray(np.exp(self.likely @ np.log(self.each(columns))))

    def at(self, values: Values, cases: int) -> Floats:
        """Evaluate what they say together at cases."""
        return self.together(columns_of(self.terms, values, cases))

    @property
    def change(self) -> tuple[RegimeStep | None, float]:
        """The likeliest place of a change, and how likely there is one at all."""
        total: dict[RegimeStep, float] = {}
        for share, step in zip(self.shares, self.steps, strict=True):
            if step is not None:
                total[step] = total.get(step, 0.0) + share
        if not total:
            return None, 0.0
        return max(total, key=lambda one: total[one]), sum(total.values())

    def before(self, columns: Floats) -> Floats:
        """Return the factor of runs before changes, by shares: logarithms.

        Parameters
        ----------
        columns : (places, runs) float64 array
            Of all places.
        """
        parts = np.where(self.place >= 0, self.likely * self.height, 0.0)
        own = np.bincount(self.place + 1, parts, len(self.places) + 1)[1:]
        return np.asarray(own @ columns)


@functools.lru_cache(maxsize=_MOST_KEPT)
def normal_forms(
    runs: RunTable,
    *,
    terms: tuple[FormTerm, ...] | None = None,
    steps: tuple[RegimeStep, ...] = (),
    most_terms: int = MOST_TERMS,
    rounds: int = 3,
) -> NormalForms:
    """Find the sums of terms that fit.

    Parameters
    ----------
    runs : RunTable
    terms : tuple of FormTerm, optional
        To choose from; else those of the inputs that vary.
    steps : tuple of RegimeStep
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
    terms = terms if terms is not None else terms_for(runs)
    own = columns_of(terms, runs.columns, len(runs))
    columns = np.concatenate([own, regimes.columns_of(steps, runs)])
    most = min(most_terms, max(1, runs.different - 1))
    with np.errstate(all="ignore"):  # what is no number is never chosen
        found = _round(runs, terms, steps, columns, None, min(2, most))
        for _ in range(rounds - 1):
            found = _round(runs, terms, steps, columns, found, most)
    return found


def _round(
    runs: RunTable,
    terms: tuple[FormTerm, ...],
    steps: tuple[RegimeStep, ...],
    columns: Floats,
    before: NormalForms | None,
    most: int,
) -> NormalForms:
    """Choose sums near those found before."""
    values, count = runs.values, len(terms)
    near, counted = values, np.ones(len(values))
    if before is not None:
        near, factor = before.together(columns[:count]), before.before(columns[count:])
        counted = weights(np.log(values / near) - factor, np.log(near))
    misses = np.clip(np.log(values / near), -LARGEST_MISS, LARGEST_MISS)
    relative = np.concatenate([columns[:count] / near, columns[count:]]) * counted
    tried = len(steps) if before is not None else 0
    relative = relative[: count + tried]
    kinds = Kinds.of(terms, tried)
    sums = search(kinds, relative, (1.0 + misses) * counted, most)
    if not len(sums.sets):  # no sum comes near: then only how long it takes is known
        return _constant(terms, steps, float(np.exp(np.mean(np.log(values)))))
    if before is not None:
        sums = refined(sums, columns, values, counted, len(steps))
    return _shared(terms, steps, sums, len(values))


def _shared(
    terms: tuple[FormTerm, ...], steps: tuple[RegimeStep, ...], sums: Sums, runs: int
) -> NormalForms:
    """Give each sum its share; the likely ones are kept."""
    scores = sums.scores
    shares = (scores[0] / scores) ** min(runs, _MOST_COUNTED)
    kept = np.flatnonzero(shares >= _LEAST_SHARE)
    sums, shares = sums.only(kept), shares[kept]
    own = (sums.sets >= 0) & (sums.sets < len(terms))
    step = sums.sets >= len(terms)
    return NormalForms(
        terms,
        steps,
        chosen=np.where(own, sums.sets, 0),
        factors=np.where(own, sums.coefficients, 0.0),
        likely=shares / shares.sum(),
        place=np.where(step, sums.sets - len(terms), -1).max(axis=1),
        height=np.where(step, sums.coefficients, 0.0).sum(axis=1),
    )


def _constant(
    terms: tuple[FormTerm, ...], steps: tuple[RegimeStep, ...], value: float
) -> NormalForms:
    """Return the first term alone, which is 1."""
    first, none = np.zeros((1, 1), np.intp), np.zeros(1)
    return NormalForms(
        terms, steps, first, np.array([[value]]), np.ones(1), first[0] - 1, none
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
    found = normal_forms(runs).best(1)
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


NORMAL_FORM_FAMILY = ModelFamily(
    "normal-form",
    source="",
    assumes="time is a sum of few parts, each of which grows with sizes, shrinks with "
    "processes, and waits for processors, for links, or for neither",
    fit=_fit,
)
