"""The search for sums of few terms: all pairs, and the best ones with one more.

A sum may have a step besides its terms: runs before a place on an axis took longer, or
shorter, by a factor of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.combinations import solve
from skelgen.models.families.terms import FormTerm
from skelgen.models.runs import Floats

#: So many of the best sets of terms are tried with one more, and kept.
_BEAM, _KEPT = 40, 60

#: What an unusual power must gain, what another term, and what a step [1].
_ODD_COST, _TERM_COST, _STEP_COST = 0.1, 0.05, 0.25

#: Logarithm of the largest factor of a step: what differs more is another program.
LARGEST_STEP = 0.7

#: Error that counts as none [1]: no clock is better.
_EXACT = 2e-4

#: Below this ridge columns of length 1 count as one another.
_NEARLY_ONE = 1e-10

_Sets = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sets of terms, the best first.

    Attributes
    ----------
    sets : list of (terms,) intp array
        A step is numbered after all terms.
    coefficients : list of (terms,) float64 array
    errors : (sets,) float64 array
        Root mean square at runs that are left out [1].
    costs : (sets,) float64 array
        What errors are multiplied with to compare them.
    """

    sets: list[_Sets]
    coefficients: list[Floats]
    errors: Floats
    costs: Floats

    @property
    def scores(self) -> Floats:
        """What is compared: the smaller, the better."""
        return (self.errors + _EXACT) * self.costs


def search(
    terms: Sequence[FormTerm], columns: Floats, target: Floats, most: int, steps: int
) -> Sums:
    """Find the best sets of terms.

    Parameters
    ----------
    terms : sequence of FormTerm
    columns : (terms + steps, runs) float64 array
        Relative to what the sum is near to.
    target : (runs,) float64 array
    most : int
        Terms of a sum, a step among them.
    steps : int
        So many of the columns, the last ones, are steps.
    """
    found: list[tuple[float, _Sets, Floats, float]] = []
    squares = _Squares.of(columns, target)
    kinds = _Kinds.of(terms, steps)
    sets: _Sets = np.arange(len(columns))[:, None]
    for count in range(1, most + 1):
        rest, above = squares.rest(sets)
        good = (above | kinds.step[sets]).all(axis=1) & kinds.sensible(sets)
        best = np.argsort(np.where(good, rest, np.inf), kind="stable")[:_KEPT]
        best = best[good[best]]
        solved = solve(columns, target, sets[best])
        found += [
            (float(error), chosen, coefficients, 1.0 + _TERM_COST * (count - 1) + cost)
            for error, chosen, coefficients, cost in zip(
                solved.errors,
                sets[best],
                solved.coefficients,
                kinds.cost[sets[best]].sum(axis=1),
                strict=True,
            )
            if meant(coefficients, kinds.step[chosen]).all()
        ]
        order = np.argsort(rest, kind="stable")
        both = np.concatenate([best[:_BEAM], order[: _BEAM // 2]])
        sets = _extended(sets[np.unique(both)], len(columns))
    found.sort(key=lambda one: (one[0] + _EXACT) * one[3])
    found = found[:_KEPT]
    return Sums(
        [one[1] for one in found],
        [one[2] for one in found],
        np.array([one[0] for one in found]),
        np.array([one[3] for one in found]),
    )


def meant(coefficients: Floats, step: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which coefficients a program can have: above 0, and steps that are small."""
    small = np.abs(coefficients) < LARGEST_STEP
    return np.asarray(np.where(step, small, coefficients > 0.0))


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
        """Return what each set leaves over, and which coefficients are above 0.

        Terms that nearly are one another stay apart by a small ridge.
        """
        size = sets.shape[1]
        inner = self.products[sets[:, :, None], sets[:, None, :]]
        inner = inner + _NEARLY_ONE * np.eye(size)
        shares = self.shares[sets]
        found = np.linalg.solve(inner, shares[:, :, None])[:, :, 0]
        rest = self.whole - np.sum(found * shares, axis=1)
        return np.maximum(rest, 0.0), np.asarray(found > 0.0)


@dataclass(frozen=True, slots=True)
class _Kinds:
    """What the columns are: an array of each property.

    Attributes
    ----------
    cost, growth : (columns,) float64 array
    positive, messages, step : (columns,) bool array
    """

    cost: Floats
    growth: Floats
    positive: NDArray[np.bool_]
    messages: NDArray[np.bool_]
    step: NDArray[np.bool_]

    @classmethod
    def of(cls, terms: Sequence[FormTerm], steps: int) -> _Kinds:
        """Gather them; steps come last."""
        none = [False] * steps
        return cls(
            np.array([*(_ODD_COST * one.odd for one in terms), *[_STEP_COST] * steps]),
            np.array([*(one.growth for one in terms), *[-1.0] * steps]),
            np.array([*(one.positive for one in terms), *none]),
            np.array([*(one.messages for one in terms), *none]),
            np.array([*[False] * len(terms), *[True] * steps]),
        )

    def sensible(self, sets: _Sets) -> NDArray[np.bool_]:
        """Tell which sets a program can have.

        Some term is above 0 everywhere, and one step is enough. Messages grow no faster
        with sizes than computation: who sends a byte has computed it.
        """
        good = self.positive[sets].any(axis=1) & (self.step[sets].sum(axis=1) <= 1)
        if not self.messages.any():
            return np.asarray(good)
        sent = np.where(self.messages, self.growth, -1.0)[sets].max(axis=1)
        computed = np.where(self.messages, -1.0, self.growth)[sets].max(axis=1)
        return np.asarray(good & (sent <= computed))


def _extended(best: _Sets, terms: int) -> _Sets:
    """Return sets with each further term, each once."""
    wider = np.column_stack(
        [np.repeat(best, terms, axis=0), np.tile(np.arange(terms), len(best))]
    )
    wider.sort(axis=1)
    wider = wider[np.all(np.diff(wider, axis=1) > 0, axis=1)]
    key = wider @ (terms ** np.arange(wider.shape[1]))
    return np.asarray(wider[np.unique(key, return_index=True)[1]])
