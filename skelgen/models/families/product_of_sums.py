"""A product of sums: each input contributes a factor A_0 + A_1 z.

Alternating least squares: with all factors but one known, that one is linear. As the
result depends on the start, several are tried. Factors that do not help are left out.

References
----------
Delgado et al. 2010, sections II-A and II-E, eq. 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.factors import Factor, factors_of, merged
from skelgen.models.families.formula_parts import (
    columns_of,
    power,
    product,
    times,
    total,
    used,
)
from skelgen.models.families.least_squares import plain
from skelgen.models.families.nonlinear import minimise
from skelgen.models.formulas import Expression, Number
from skelgen.models.runs import Floats, RunTable
from skelgen.trust import Doubt

#: Starts that are tried, rounds of each, and the gain at which it ends; rounds from
#: what is known already.
_STARTS, _ROUNDS, _GAIN, _FEW_ROUNDS = 5, 60, 1e-10, 10

#: Relative errors below are rounding.
_EXACT = 1e-9

_NAME = "product-of-sums"


@dataclass(frozen=True, slots=True)
class _Product:
    """Factors with their coefficients, and how far off the product is.

    Attributes
    ----------
    factors : tuple of Factor
    coefficients : tuple of (degree + 1,) float64 array
        Of powers of z over its largest value; the product is of values over the
        largest one.
    error : float
        Sum of squares.
    """

    factors: tuple[Factor, ...]
    coefficients: tuple[Floats, ...]
    error: float


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be fitted, scaled."""

    z: dict[Factor, Floats]
    values: Floats
    non_negative: bool

    @property
    def weights(self) -> Floats:
        """What errors are divided by."""
        return self.values if self.non_negative else np.ones(len(self.values))

    def powers(self, factor: Factor) -> Floats:
        """Return 1, z, z^2 and so on at the runs."""
        z = self.z[factor.base]
        return np.asarray(z[:, None] ** np.arange(factor.degree + 1))

    def residuals(self, factors: tuple[Factor, ...], each: list[Floats]) -> Floats:
        """Return how far off a product is in each run."""
        whole = np.ones(len(self.values))
        for factor, own in zip(factors, each, strict=True):
            whole = whole * (self.powers(factor) @ own)
        return np.asarray((whole - self.values) / self.weights)


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    factors, same = merged(factors_of(runs, settings), runs)
    if not factors:
        raise InputError(
            f"{_NAME} needs an input that varies, and in these runs none does; add "
            "runs of other sizes, nodes or cores per node"
        )
    needs(runs, 1 + sum(one.degree for one in factors), _NAME)
    columns = columns_of([one.z for one in factors], runs)
    largest = np.max(np.abs(columns), axis=0)
    scaled = (columns / largest).T
    task = _Task(
        {f.base: z for f, z in zip(factors, scaled, strict=True)},
        runs.values / runs.values.max(),
        settings.non_negative,
    )
    best = _simplified(task, _alternate(task, tuple(factors)))
    best = _polished(task, best)
    scales = {f.base: z for f, z in zip(factors, largest, strict=True)}
    return finite(_written(best, task, scales, (runs, same, factors)), runs)


def _alternate(task: _Task, factors: tuple[Factor, ...]) -> _Product:
    """Fit one factor after the other, from several starts; keep the best."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(_STARTS):
        slopes = [random.uniform(0.0, 2.0, one.degree) for one in factors]
        start = [np.array([1.0, *own]) for own in slopes]
        found.append(_rounds(task, factors, start))
    return min(found, key=lambda one: one.error)


def _without_one(task: _Task, found: _Product) -> list[_Product]:
    """Return what is left without each factor, or with a lower degree of it."""
    simpler = []
    for i, factor in enumerate(found.factors):
        lower = (replace(factor, degree=factor.degree - 1),)[: factor.degree - 1]
        kept = (*found.factors[:i], *lower, *found.factors[i + 1 :])
        if kept:
            start = _start_near(found, kept)
            simpler.append(_rounds(task, kept, start, _FEW_ROUNDS))
    return simpler


def _start_near(near: _Product, factors: tuple[Factor, ...]) -> list[Floats]:
    known = {
        factor.base: own
        for factor, own in zip(near.factors, near.coefficients, strict=True)
    }
    return [known[f.base][: f.degree + 1].copy() for f in factors]


def _rounds(
    task: _Task, factors: tuple[Factor, ...], start: list[Floats], rounds: int = _ROUNDS
) -> _Product:
    powers = [task.powers(factor) for factor in factors]
    each = list(start)
    parts = [a @ own for a, own in zip(powers, each, strict=True)]
    last, target = np.inf, task.values / task.weights
    for _ in range(rounds):
        for i, a in enumerate(powers):
            others = np.ones(len(task.values))
            for j, part in enumerate(parts):
                others = others * part if j != i else others
            each[i] = plain(
                (others / task.weights)[:, None] * a,
                target,
                non_negative=task.non_negative,
            )
            parts[i] = a @ each[i]
        rest = task.residuals(factors, each)
        error = float(rest @ rest)
        if not error < last * (1.0 - _GAIN):
            break
        last = error
    return _Product(factors, tuple(each), min(error, last))


def _simplified(task: _Task, found: _Product) -> _Product:
    """Leave out factors, and lower degrees, as long as the rest explains as much."""
    while True:
        simpler = _without_one(task, found)
        best = min(simpler, key=lambda one: _score(task, one), default=None)
        if best is None or _score(task, best) > _score(task, found):
            return found
        again = _alternate(task, best.factors)
        found = min(best, again, key=lambda one: one.error)


def _score(task: _Task, found: _Product) -> float:
    """Return the corrected criterion of Akaike: smaller is better."""
    runs, count = len(task.values), 1 + sum(one.degree for one in found.factors)
    if runs - count - 1 <= 0:
        return np.inf
    mean = np.mean((task.values / task.weights) ** 2)
    error = found.error / runs + _EXACT**2 * mean
    spare = 2.0 * count * (count + 1) / (runs - count - 1)
    return float(runs * np.log(error) + 2.0 * count + spare)


def _polished(task: _Task, found: _Product) -> _Product:
    """Go on from where alternating steps became small, with all factors at a time."""
    if task.non_negative:
        return found
    sizes = np.cumsum([one.degree + 1 for one in found.factors])[:-1]

    def residuals(at: Floats) -> Floats:
        return task.residuals(found.factors, np.split(at, sizes))

    even = _normalised(task, found)
    at = minimise(residuals, np.concatenate(even))
    rest = residuals(at)
    error = float(rest @ rest)
    if not error <= found.error:
        return found
    return _Product(found.factors, tuple(np.split(at, sizes)), error)


def _normalised(task: _Task, found: _Product) -> list[Floats]:
    """Return coefficients of factors of mean 1, the first with what is left over."""
    each, left = [], 1.0
    for factor, own in zip(found.factors, found.coefficients, strict=True):
        values = task.powers(factor) @ own
        size = float(values.mean())
        if abs(size) < 1e-6 * np.max(np.abs(values)) or size == 0.0:
            size = float(np.max(np.abs(values))) or 1.0
        each.append(own / size)
        left *= size
    return [left * each[0], *each[1:]]


def _written(
    found: _Product,
    task: _Task,
    scales: dict[Factor, float],
    what: tuple[RunTable, list[list[str]], list[Factor]],
) -> FittedFormula:
    runs, same, factors = what
    each = _normalised(task, found)
    size = float(np.mean(task.powers(found.factors[0]) @ each[0]))
    size = size if size > 0.0 else 1.0
    each[0] = each[0] / size
    constant = size * float(runs.values.max())
    sums: list[Expression] = []
    coefficients = [("factor", constant)]
    for factor, own in zip(found.factors, each, strict=True):
        raw = own / scales[factor.base] ** np.arange(factor.degree + 1)
        terms = [power(factor.z, float(i)) for i in range(len(raw))]
        sums.append(
            total([times(float(c), t) for c, t in zip(raw, terms, strict=True)])
        )
        if factor.letter:
            coefficients += [
                (f"{factor.letter}_{i}", float(value)) for i, value in enumerate(raw)
            ]
    formula = product(Number(constant), *sums)
    inputs, dropped = used(formula, runs)
    kept = {one.base for one in found.factors}
    lost = [one.name for one in factors if one.base not in kept]
    return FittedFormula(
        _NAME,
        formula,
        inputs,
        dropped=dropped,
        doubts=tuple(map(_doubt, same)),
        notes=(f"did not help, and left out: {'; '.join(lost)}",) if lost else (),
        coefficients=tuple(coefficients),
    )


def _doubt(alike: list[str]) -> Doubt:
    return Doubt(
        "not-separable",
        f"one function in these runs, so that only their product is known: "
        f"{', '.join(alike)}",
        "add runs on a system where they differ",
    )


PRODUCT_OF_SUMS = ModelFamily(
    _NAME,
    source="Delgado et al. 2010, eq. 1 and 2",
    assumes="each input multiplies the time by a factor of its own, whatever the "
    "others are",
    fit=_fit,
)
