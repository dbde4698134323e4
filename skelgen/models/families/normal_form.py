"""Sums of at most four non-negative terms, chosen by their error at runs left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.combinations import solve
from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    needs,
)
from skelgen.models.families.terms import FormTerm, columns_of, terms_for
from skelgen.models.formulas import Expression, Number, Product, Quotient, Sum
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, RunTable

MOST_TERMS = 4

#: So many of the best sets of terms are tried with one more, and kept.
_BEAM, _KEPT = 40, 60

#: What an unusual power must gain [1].
_ODD_COST = 0.1

#: What another term must gain [1], and how unlikely a set may be that is kept.
_TERM_COST, _LEAST_SHARE = 0.05, 0.01

#: Runs beyond so many make no set of terms more certain: they share their errors.
_MOST_COUNTED = 60

#: Error that counts as none [1]: no clock is better.
_EXACT = 2e-4

#: Below this ridge columns of length 1 count as one another.
_NEARLY_ONE = 1e-10

#: Larger misses are taken as these: what is linear near 1 is not there [1].
_LARGEST_MISS = 0.9

#: Deviations beyond which a run counts less.
_OUTLIER = 2.0

_Sets = NDArray[np.intp]


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
    deviation : float
        Of a run from what they say together [1].
    """

    terms: tuple[FormTerm, ...]
    sets: tuple[tuple[int, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    deviation: float

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


def normal_forms(
    runs: RunTable,
    *,
    terms: Sequence[FormTerm] | None = None,
    most_terms: int = MOST_TERMS,
    rounds: int = 3,
) -> NormalForms:
    """Find the sums of terms that fit.

    Parameters
    ----------
    runs : RunTable
    terms : sequence of FormTerm, optional
        To choose from; else those of the inputs that vary.
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
    was measured. Runs that are far off count less from the second round on.
    """
    terms = tuple(terms if terms is not None else terms_for(runs))
    columns = columns_of(terms, runs.columns, len(runs))
    different = len({tuple(row) for row in runs.at.tolist()})
    most = min(most_terms, max(1, different - 1))
    with np.errstate(all="ignore"):  # what is no number is never chosen
        found = _round(terms, columns, runs.values, None, min(2, most))
        for _ in range(rounds - 1):
            found = _round(terms, columns, runs.values, found, most)
    return found


def _round(
    terms: tuple[FormTerm, ...],
    columns: Floats,
    values: Floats,
    before: NormalForms | None,
    most: int,
) -> NormalForms:
    """Choose sums near those found before."""
    near = values if before is None else before.together(columns)
    misses = np.clip(np.log(values / near), -_LARGEST_MISS, _LARGEST_MISS)
    deviation = 1.4826 * float(np.median(np.abs(misses))) + 1e-3
    far = np.abs(misses) / (_OUTLIER * deviation)
    weights = 1.0 / np.sqrt(np.maximum(far, 1.0))
    relative, target = columns / near * weights, (1.0 + misses) * weights
    sets, coefficients, scores = _search(terms, relative, target, most)
    if not len(scores):  # no sum comes near: then only how long it takes is known
        middle = float(np.exp(np.mean(np.log(values))))
        return NormalForms(terms, ((0,),), ((middle,),), (1.0,), deviation)
    shares = (scores[0] / scores) ** min(len(values), _MOST_COUNTED)
    kept = shares >= _LEAST_SHARE
    shares = shares[kept] / shares[kept].sum()
    chosen = np.flatnonzero(kept)
    return NormalForms(
        terms,
        tuple(tuple(map(int, sets[i])) for i in chosen),
        tuple(tuple(map(float, coefficients[i])) for i in chosen),
        tuple(map(float, shares)),
        deviation,
    )


def _search(
    terms: Sequence[FormTerm], columns: Floats, target: Floats, most: int
) -> tuple[list[_Sets], list[Floats], Floats]:
    """Return the best sets of terms, their coefficients and scores, the best first."""
    found: list[tuple[float, _Sets, Floats]] = []
    squares = _Squares.of(columns, target)
    odd = np.array([one.odd for one in terms])
    sets: _Sets = np.arange(len(terms))[:, None]
    for count in range(1, most + 1):
        rest, positive = squares.rest(sets)
        good = positive & _sensible(terms, sets)
        best = np.argsort(np.where(good, rest, np.inf), kind="stable")[:_KEPT]
        best = best[good[best]]
        solved = solve(columns, target, sets[best])
        cost = 1 + _TERM_COST * (count - 1)
        found += [
            (
                (error + _EXACT) * (cost + _ODD_COST * float(odd[chosen].sum())),
                chosen,
                coefficients,
            )
            for error, chosen, coefficients in zip(
                solved.errors, sets[best], solved.coefficients, strict=True
            )
            if (coefficients > 0.0).all()
        ]
        order = np.argsort(rest, kind="stable")
        both = np.concatenate([best[:_BEAM], order[: _BEAM // 2]])
        sets = _extended(sets[np.unique(both)], len(terms))
    found.sort(key=lambda one: one[0])
    found = found[:_KEPT]
    return (
        [one[1] for one in found],
        [one[2] for one in found],
        np.array([one[0] for one in found]),
    )


@dataclass(frozen=True, slots=True)
class _Squares:
    """Products of columns with each other and with the target: all that sets need.

    Attributes
    ----------
    products : (terms, terms) float64 array
        Of columns of length 1.
    shares : (terms,) float64 array
        Of each of them with the target.
    whole : float
        Square of the target.
    """

    products: Floats
    shares: Floats
    whole: float

    @classmethod
    def of(cls, columns: Floats, target: Floats) -> _Squares:
        """Multiply them."""
        lengths = np.linalg.norm(columns, axis=1)
        unit = columns / np.where(lengths > 0.0, lengths, 1.0)[:, None]
        return cls(unit @ unit.T, unit @ target, float(target @ target))

    def rest(self, sets: _Sets) -> tuple[Floats, NDArray[np.bool_]]:
        """Return what each set leaves over, and whether its coefficients are above 0.

        Terms that nearly are one another stay apart by a small ridge.
        """
        size = sets.shape[1]
        inner = self.products[sets[:, :, None], sets[:, None, :]]
        inner = inner + _NEARLY_ONE * np.eye(size)
        shares = self.shares[sets]
        found = np.linalg.solve(inner, shares[:, :, None])[:, :, 0]
        rest = self.whole - np.sum(found * shares, axis=1)
        positive = np.asarray((found > 0.0).all(axis=1))
        return np.maximum(rest, 0.0), positive


def _sensible(terms: Sequence[FormTerm], sets: _Sets) -> NDArray[np.bool_]:
    """Tell which sets a program can have.

    Some term is above 0 everywhere. Messages grow no faster with sizes than
    computation: who sends a byte has computed it.
    """
    positive = np.array([one.positive for one in terms])[sets].any(axis=1)
    growth = np.array([one.growth for one in terms])
    messages = np.array([one.messages for one in terms])
    if not messages.any():
        return np.asarray(positive)
    sent = np.where(messages, growth, -1.0)[sets].max(axis=1)
    computed = np.where(messages, -1.0, growth)[sets].max(axis=1)
    return np.asarray(positive & (sent <= computed))


def _extended(best: _Sets, terms: int) -> _Sets:
    """Return sets with each further term, each once."""
    wider = np.column_stack(
        [np.repeat(best, terms, axis=0), np.tile(np.arange(terms), len(best))]
    )
    wider.sort(axis=1)
    wider = wider[np.all(np.diff(wider, axis=1) > 0, axis=1)]
    key = wider @ (terms ** np.arange(wider.shape[1]))
    return np.asarray(wider[np.unique(key, return_index=True)[1]])


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
