"""The search for sums of few terms: all pairs, and the best ones with one more.

A sum may have a step besides its terms: runs before a place on an axis took longer, or
shorter, by a factor of their own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.families.terms import FormTerm
from skelgen.models.runs import Floats
from skelgen.models.thresholds import (
    ANOTHER_TERM_COST,
    ERROR_OF_CLOCKS,
    LARGEST_STEP,
    STEP_COST,
    UNUSUAL_POWER_COST,
)

#: Terms of a sum at most, a step among them: the kernels have no room for more.
MOST_TERMS = 4

#: So many of the best sets of each size are kept, and so many tried with one more; and
#: so many of those that would be best if coefficients could be negative.
KEPT, BEAM, OTHERS = 60, 40, 20

#: Below this ridge columns of length 1 count as one another.
NEARLY_ONE = 1e-10

Sets = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Kinds:
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

    @staticmethod
    @functools.lru_cache(maxsize=64)
    def of(terms: tuple[FormTerm, ...], steps: int) -> Kinds:
        """Gather them; steps come last."""
        none = [False] * steps
        return Kinds(
            np.array(
                [*(UNUSUAL_POWER_COST * one.odd for one in terms), *[STEP_COST] * steps]
            ),
            np.array([*(one.growth for one in terms), *[-1.0] * steps]),
            np.array([*(one.positive for one in terms), *none]),
            np.array([*(one.messages for one in terms), *none]),
            np.array([*[False] * len(terms), *[True] * steps]),
        )

    def sensible(self, sets: Sets) -> NDArray[np.bool_]:
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

    @property
    def bits(self) -> NDArray[np.uint8]:
        """What the kernel is told of each column."""
        return np.asarray(
            self.positive + 2 * self.messages + 4 * self.step, dtype=np.uint8
        )


@dataclass(frozen=True, slots=True)
class Sums:
    """Sets of terms, the best first.

    Attributes
    ----------
    sets : (sets, MOST_TERMS) intp array
        A step is numbered after all terms; -1 where a set has fewer.
    coefficients : (sets, MOST_TERMS) float64 array
        0 there.
    errors : (sets,) float64 array
        Root mean square at runs that are left out [1].
    costs : (sets,) float64 array
        What errors are multiplied with to compare them.
    """

    sets: Sets
    coefficients: Floats
    errors: Floats
    costs: Floats

    @property
    def scores(self) -> Floats:
        """What is compared: the smaller, the better."""
        return (self.errors + ERROR_OF_CLOCKS) * self.costs

    def only(self, chosen: NDArray[np.intp]) -> Sums:
        """Return some of them, in an order."""
        return Sums(
            self.sets[chosen],
            self.coefficients[chosen],
            self.errors[chosen],
            self.costs[chosen],
        )

    @classmethod
    def ordered(
        cls, sets: Sets, coefficients: Floats, errors: Floats, kinds: Kinds
    ) -> Sums:
        """Put them in order; those that are far behind are left out."""
        own = np.where(sets >= 0, kinds.cost[sets], 0.0).sum(axis=1)
        costs = 1.0 + ANOTHER_TERM_COST * ((sets >= 0).sum(axis=1) - 1) + own
        found = cls(sets, coefficients, errors, costs)
        return found.only(np.argsort(found.scores, kind="stable")[:KEPT])


@dataclass(frozen=True, slots=True)
class Squares:
    """Products of columns with each other and with the target: all that sets need.

    Attributes
    ----------
    unit : (terms, runs) float64 array
        Columns of length 1.
    lengths : (terms,) float64 array
        How long they were; 1 where that is 0.
    products : (terms, terms) float64 array
    shares : (terms,) float64 array
        Of each of them with the target.
    whole : float
        Square of the target.
    """

    unit: Floats
    lengths: Floats
    products: Floats
    shares: Floats
    whole: float

    @classmethod
    def of(cls, columns: Floats, target: Floats) -> Squares:
        """Multiply them."""
        lengths = np.sqrt(np.einsum("tr,tr->t", columns, columns))
        lengths = np.where(lengths == 0.0, 1.0, lengths)
        unit = columns / lengths[:, None]
        return cls(unit, lengths, unit @ unit.T, unit @ target, float(target @ target))


def search(kinds: Kinds, columns: Floats, target: Floats, most: int) -> Sums:
    """Find the best sets of terms.

    Parameters
    ----------
    kinds : Kinds
        Of the columns.
    columns : (terms + steps, runs) float64 array
        Relative to what the sum is near to.
    target : (runs,) float64 array
    most : int
        Terms of a sum, a step among them, at most `MOST_TERMS`.

    Notes
    -----
    `plain.search_plainly` says the same in NumPy.
    """
    from skelgen._kernels._sums import ffi, lib

    squares = Squares.of(columns, target)
    arrays = {
        "unit": squares.unit,
        "length": squares.lengths,
        "target": np.ascontiguousarray(target),
        "products": squares.products,
        "shares": squares.shares,
        "growth": kinds.growth,
    }
    given = {name: ffi.from_buffer("double[]", one) for name, one in arrays.items()}
    given |= {"kind": ffi.from_buffer("uint8_t[]", kinds.bits)}
    given |= {"count": len(columns), "runs": len(target), "whole": squares.whole}
    given |= {"ridge": NEARLY_ONE, "largest_step": LARGEST_STEP}
    given |= {"most": most, "kept": KEPT, "beam": BEAM, "others": OTHERS}
    sets = np.empty((most * KEPT, MOST_TERMS), np.int32)
    coefficients, errors = np.empty(sets.shape), np.empty(len(sets))
    count = lib.skelgen_sums(
        ffi.new("struct skelgen_sums *", given),
        ffi.from_buffer("int32_t[]", sets, require_writable=True),
        ffi.from_buffer("double[]", coefficients, require_writable=True),
        ffi.from_buffer("double[]", errors, require_writable=True),
    )
    if count < 0:
        raise MemoryError
    return Sums.ordered(
        sets[:count].astype(np.intp), coefficients[:count], errors[:count], kinds
    )


def meant(coefficients: Floats, step: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which coefficients a program can have: above 0, and steps that are small."""
    small = np.abs(coefficients) < LARGEST_STEP
    return np.asarray(np.where(step, small, coefficients > 0.0))
