"""Sums of few terms that fit the runs about as well as each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.models.families.formula_parts import times, total
from skelgen.models.families.workload_terms import that_count, workload_terms
from skelgen.models.formulas import Expression, Number, evaluate
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, RunTable
from skelgen.models.subsets import Prices, best_sets, shares

#: At most so many terms, the constant among them.
_MOST_TERMS = 3

#: Error that counts as none [1]: no clock is better; counts are exact.
_EXACT, _EXACT_COUNT = 2e-4, 1e-9

#: What a further term, and a log or a half power in it, must gain [1].
TERM_COST, _ODD_COST = 0.6, 0.02

#: Candidates less likely than this share of the best are not kept.
_LEAST_SHARE, _MOST_KEPT = 0.02, 12


@dataclass(frozen=True, slots=True)
class CandidateSum:
    """A sum of terms that fits the runs.

    Attributes
    ----------
    terms : tuple of Expression
        Without coefficients, the fastest growing first.
    coefficients : tuple of float
    error : float
        Root mean square of its relative errors at runs it was not fitted to [1].
    share : float
        How likely it is among the candidates [1].
    """

    terms: tuple[Expression, ...]
    coefficients: tuple[float, ...]
    error: float
    share: float = 1.0

    @property
    def formula(self) -> Expression:
        """The sum as an expression."""
        pairs = zip(self.coefficients, self.terms, strict=True)
        return total([times(number, term) for number, term in pairs])

    def at(self, values: Values) -> Floats:
        """Evaluate the sum at cases: an array of the shape of the values."""
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        return np.broadcast_to(evaluate(self.formula, values), shape)


def averaged(runs: RunTable) -> RunTable:
    """Return each case once, with the mean of what was measured."""
    unique, setting = np.unique(runs.at, axis=0, return_inverse=True)
    setting = setting.reshape(-1)
    # The smallest first: sums of numbers far apart do not depend on the order of runs.
    order = np.argsort(runs.values, kind="stable")
    sums = np.bincount(setting[order], runs.values[order])
    return replace(runs, at=unique, values=sums / np.bincount(setting))


def term_cost(count: int, runs: int) -> float:
    """Return what the error of so many terms is multiplied with to compare it."""
    return 1.0 + TERM_COST * (count - 1) * runs / max(runs - count, 1)


def candidates(
    runs: RunTable, *, whole: bool = False, most_terms: int = _MOST_TERMS
) -> tuple[CandidateSum, ...]:
    """Choose the sums with the smallest errors at runs left out.

    Parameters
    ----------
    runs : RunTable
        Each case once, at least two.
    whole : bool
        Values are exact counts, whose constant may be negative: n - 1.
    most_terms : int

    Returns
    -------
    tuple of CandidateSum
        The best first, then those that are about as likely.
    """
    inputs = that_count(runs)
    terms, values = workload_terms(runs, inputs)
    spare = len(runs) - 1
    if len(inputs) > 1:  # so many products that some fit any few runs
        spare = max(1, spare // 2)
    expressions = [one.expression for one in terms]
    constant = np.array([isinstance(e, Number) and e.value == 1.0 for e in expressions])
    prices = Prices(
        odd=_ODD_COST * np.array([one.odd for one in terms])
        + _lost(np.array([one.free for one in terms]), len(runs)),
        another=TERM_COST,
        exact=_EXACT_COUNT if whole else _EXACT,
        either=constant & whole,
    )
    target = np.ones(len(runs))
    found = best_sets(values / runs.values, target, prices, min(most_terms, spare))
    likely = shares(found, len(runs))
    kept = int(np.sum(likely[:_MOST_KEPT] >= _LEAST_SHARE * likely[0]))
    growth = [one.growth for one in terms]
    return tuple(
        _candidate(
            [(terms[i].expression, growth[i]) for i in one.terms],
            one.coefficients,
            one.error,
            float(share),
        )
        for one, share in zip(
            found[:kept], likely[:kept] / likely[:kept].sum(), strict=True
        )
    )


def _lost(free: NDArray[np.intp], runs: int) -> Floats:
    """Return by what errors look too small where exponents were fitted, too."""
    return np.asarray(free / np.maximum(runs - 1 - free, 1))


def _candidate(
    terms: Sequence[tuple[Expression, float]],
    coefficients: Sequence[float],
    error: float,
    share: float,
) -> CandidateSum:
    order = sorted(range(len(terms)), key=lambda i: -terms[i][1])
    return CandidateSum(
        tuple(terms[i][0] for i in order),
        tuple(coefficients[i] for i in order),
        error,
        share,
    )
