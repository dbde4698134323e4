"""The sets of few terms that fit best, by their errors at runs left out.

What a set with one more term misses follows from the set without it: only the part of
the term that is new to the set counts. So each set is judged by its error at runs left
out, residual / (1 - leverage), for the price of a product of matrices, however many
terms there are to choose from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.models.combinations import solve
from skelgen.models.runs import Floats

#: So many of the best sets get one more term, and so many of those that would fit best
#: if coefficients could be negative.
_BEAM, _OTHERS = 40, 20

#: Sets that are kept.
_KEPT = 40

#: Error at a run without which the others do not determine the set.
_UNKNOWN = 1e9

#: A term of which less than this is new is a sum of the others [1].
_NEW = 1e-7

#: Numbers that are held at a time.
_AT_ONCE = 500_000

_Sets = NDArray[np.intp]
_Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prices:
    """What errors are multiplied with before they are compared.

    Attributes
    ----------
    odd : (terms,) float64 array
        What each term adds.
    another : float
        What each further term adds for each run that is left over.
    exact : float
        Error that counts as none [1].
    either : (terms,) bool array
        Terms whose coefficient may be negative.
    """

    odd: Floats
    another: float
    exact: float
    either: _Truths

    def of(self, errors: Floats, sets: _Sets, runs: int) -> Floats:
        """Return the prices of sets, smaller ones being better.

        There are more sets of more terms, so the best of them is better by chance, the
        more so the fewer runs are left over.
        """
        count = sets.shape[-1]
        price = 1.0 + self.another * (count - 1) * runs / max(runs - count, 1)
        return np.asarray((errors + self.exact) * (price + self.odd[sets].sum(axis=-1)))


@dataclass(frozen=True, slots=True)
class FittedSet:
    """Terms with coefficients.

    Attributes
    ----------
    price : float
        By which it is compared with others.
    terms : tuple of int
    coefficients : tuple of float
    error : float
        Root mean square of the relative errors at runs left out [1].
    """

    price: float
    terms: tuple[int, ...]
    coefficients: tuple[float, ...]
    error: float


def best_sets(
    columns: Floats, target: Floats, prices: Prices, most_terms: int
) -> tuple[FittedSet, ...]:
    """Find sets of terms whose sum comes near to a target.

    Parameters
    ----------
    columns : (terms, runs) float64 array
        Terms at the runs, divided by what was measured.
    target : (runs,) float64 array
        What the sum should be: 1, or 0 where nothing was measured.
    prices : Prices
    most_terms : int
        In a set, at least 1.

    Returns
    -------
    tuple of FittedSet
        The best first; empty when no set has coefficients that are allowed.
    """
    found: list[FittedSet] = []
    sets: _Sets = np.zeros((1, 0), dtype=np.intp)
    for _ in range(most_terms):
        wider, errors, allowed = _wider(columns, target, sets, prices.either)
        score = prices.of(errors, wider, len(target))
        kept = _first(np.where(allowed, score, np.inf), wider, _KEPT)
        found += _fitted(columns, target, wider[kept], prices)
        others = _first(np.where(allowed, np.inf, score), wider, _OTHERS)
        sets = np.concatenate([wider[kept][:_BEAM], wider[others]])
        if not len(sets):
            break
    return tuple(sorted(found, key=lambda one: one.price)[:_KEPT])


def _first(score: Floats, sets: _Sets, count: int) -> NDArray[np.intp]:
    """Return the places of the best sets, each set once."""
    if len(score) > 8 * count:  # each set comes at most as often as it has terms
        some = np.argpartition(score, 8 * count)[: 8 * count]
        some = some[np.lexsort((some, score[some]))]
    else:
        some = np.argsort(score, kind="stable")
    seen: dict[tuple[int, ...], int] = {}
    some = some[np.isfinite(score[some])]
    for i, chosen in zip(some.tolist(), sets[some].tolist(), strict=True):
        seen.setdefault(tuple(chosen), i)
        if len(seen) == count:
            break
    return np.array(list(seen.values()), dtype=np.intp)


def _wider(
    columns: Floats, target: Floats, sets: _Sets, either: _Truths
) -> tuple[_Sets, Floats, _Truths]:
    """Return sets with each further term, their errors, and which are allowed."""
    count = len(columns)
    norms = np.linalg.norm(columns, axis=1)
    unit = columns / np.where(norms > 0.0, norms, 1.0)[:, None]
    some = max(1, _AT_ONCE // columns.size)
    errors, allowed = [], []
    for at in range(0, len(sets), some):
        error, positive = _extended(unit, target, sets[at : at + some], either)
        errors.append(error)
        allowed.append(positive)
    wider = np.column_stack(
        [np.repeat(sets, count, axis=0), np.tile(np.arange(count), len(sets))]
    )
    wider.sort(axis=1)
    new = np.concatenate(errors).reshape(-1)
    return wider, new, np.concatenate(allowed).reshape(-1) & (new < _UNKNOWN)


def _extended(
    unit: Floats, target: Floats, sets: _Sets, either: _Truths
) -> tuple[Floats, _Truths]:
    """Return errors of sets with each term, and whether coefficients are allowed.

    Parameters
    ----------
    unit : (terms, runs) float64 array
        Terms of length 1.

    Returns
    -------
    (sets, terms) float64 array
        Infinite where the term is nothing new.
    (sets, terms) bool array
    """
    q, r = np.linalg.qr(np.swapaxes(unit[sets], 1, 2))
    inside = np.swapaxes(q, 1, 2) @ unit.T  # (sets, own, terms)
    rest = np.swapaxes(inside, 1, 2) @ np.swapaxes(q, 1, 2)
    np.subtract(unit, rest, out=rest)
    length = np.sqrt(np.einsum("str,str->st", rest, rest))
    new = length > _NEW
    length = np.where(new, length, 1.0)
    rest /= length[:, :, None]
    along = rest @ target
    known = np.swapaxes(q, 1, 2) @ target  # (sets, own)
    free = rest * rest
    np.subtract((1.0 - np.sum(q**2, axis=2))[:, None, :], free, out=free)
    rest *= along[:, :, None]
    rest += ((q @ known[:, :, None])[:, :, 0] - target)[:, None, :]
    known_elsewhere = free > 1e-9
    rest /= np.maximum(free, 1e-9, out=free)
    if not known_elsewhere.all():
        rest[~known_elsewhere] = _UNKNOWN
    errors = np.sqrt(np.einsum("str,str->st", rest, rest) / len(target))
    last = along / length
    allowed = new & ((last > 0.0) | either)
    if sets.shape[1]:
        own = known[:, :, None] - inside * last[:, None, :]
        coefficients = np.linalg.solve(r, own)
        allowed &= ((coefficients > 0.0) | either[sets][:, :, None]).all(axis=1)
    return np.where(new, errors, np.inf), allowed


def _fitted(
    columns: Floats, target: Floats, sets: _Sets, prices: Prices
) -> Iterator[FittedSet]:
    """Solve sets once more, with coefficients."""
    if not len(sets):
        return
    solved = solve(columns, target, sets)
    score = prices.of(solved.errors, sets, len(target))
    usable = ((solved.coefficients > 0.0) | prices.either[sets]).all(axis=1)
    usable &= np.isfinite(solved.coefficients).all(axis=1)
    each = (score, sets, solved.coefficients, solved.errors)
    for price, terms, coefficients, error in zip(
        *(one[usable].tolist() for one in each), strict=True
    ):
        yield FittedSet(price, tuple(terms), tuple(coefficients), error)


def shares(found: Sequence[FittedSet], runs: int) -> Floats:
    """Return how likely each set is; their sum is 1."""
    prices = np.array([one.price for one in found])
    chance = (prices[0] / prices) ** (runs / 2)
    return np.asarray(chance / chance.sum())
