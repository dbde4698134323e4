"""A cubic polynomial over a function of both loads: what curve-fitting packages offer.

T = (a n^3 + b n^2 + c n + d) / g, where g is 1 + e cpu + f bandwidth (type 1), or
1 + e cpu bandwidth (type 2).

References
----------
Yagnik, Sanjay, Vadhiyar 2006, eq. 6 to 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
    needs,
)
from skelgen.models.families.formula_parts import (
    columns_of,
    power,
    product,
    times,
    total,
    used,
)
from skelgen.models.families.least_squares import independent, solve
from skelgen.models.families.nonlinear import minimise
from skelgen.models.formulas import Expression, Name, Number, Quotient
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable, When
from skelgen.trust import Doubt

#: Angles tried for each direction of g, and so many of the best are followed.
_ANGLES, _STARTS = 60, 4

#: Where g is so much of loads the 1 in it is nothing.
_LARGEST = 1e9


def _fit(runs: RunTable, settings: FamilySettings, *, name: str) -> FittedFormula:
    del settings
    loads = _loads(runs, name)
    terms = _numerator(runs, name)
    needs(runs, len(terms) + len(loads), name)
    columns = columns_of(terms, runs)
    scale = np.max(np.abs(columns), axis=0)
    search = _Search(
        (columns / scale)[:, independent(columns / scale)],
        runs.values / runs.values.max(),
        columns_of(loads, runs),
    )
    factors = search.best()
    below = 1.0 + search.loads @ factors
    found = solve(columns / below[:, None], runs.values)
    formula = Quotient(
        total(
            [
                times(float(value), term)
                for i, (value, term) in enumerate(
                    zip(found.coefficients, terms, strict=True)
                )
                if i in found.kept
            ]
        ),
        total([Number(1.0), *map(times, map(float, factors), loads)]),
    )
    inputs, dropped = used(formula, runs)
    named = dict(zip(("e", "f"), map(float, factors), strict=False))
    return finite(
        FittedFormula(
            name,
            formula,
            inputs,
            dropped,
            doubts=_pole(factors),
            coefficients=(*_named(terms, found.coefficients), *named.items()),
        ),
        runs,
    )


def _named(terms: list[Expression], values: Floats) -> list[tuple[str, float]]:
    """Return coefficients by the paper's letters, where there is one size."""
    letters = "abcd" if len(terms) == 4 else [f"a{i + 1}" for i in range(len(terms))]
    return [(letter, float(v)) for letter, v in zip(letters, values, strict=True)]


def _loads(runs: RunTable, name: str) -> list[Expression]:
    """Return what g depends on: each load, or their product."""
    found = [
        runs.load(meaning, When.AVERAGE) for meaning in (Meaning.CPU, Meaning.BANDWIDTH)
    ]
    varied = [Name(one.name) for one in found if one in runs.varied]
    if not varied:
        raise InputError(
            f"{name} divides by a function of available CPU and bandwidth, and neither "
            "varies in these runs; add runs under other loads"
        )
    return [product(*varied)] if name == "multivariate-2" else list(varied)


def _numerator(runs: RunTable, name: str) -> list[Expression]:
    """Return the terms of eq. 6: a cubic of each input that varies, and a constant."""
    inputs = [
        one
        for one in runs.varied
        if one.meaning is Meaning.SIZE
        or one.meaning.parallel
        or one.meaning is Meaning.FACT
    ]
    terms: list[Expression] = []
    for one in inputs:
        terms += [power(Name(one.name), d) for d in range(_degree(runs, one), 0, -1)]
    return [*terms, Number(1.0)]


def _degree(runs: RunTable, one: ModelInput) -> int:
    return min(3, len(np.unique(runs.columns[one.name])) - 1)


@dataclass(frozen=True, slots=True)
class _Search:
    """The least squares over g, with the best numerator for each g.

    g is written as cos(t) + sin(t) (cos(u) cpu + sin(u) bandwidth): as far as the
    residuals go a factor of all of it is nothing, and e and f may be infinite.

    Attributes
    ----------
    columns : (runs, terms) float64 array
        Of the numerator, independent, of the order of 1.
    values : (runs,) float64 array
        At most 1.
    loads : (runs, 1 or 2) float64 array
    """

    columns: Floats
    values: Floats
    loads: Floats

    def best(self) -> Floats:
        """Return e and f."""
        grid = np.linspace(-np.pi / 2, np.pi / 2, _ANGLES, endpoint=False)
        angles = grid[:, None]
        if self.loads.shape[1] == 2:
            angles = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
        errors = self._errors(angles)
        starts = angles[np.argsort(errors, kind="stable")[:_STARTS]]
        ends = np.array([minimise(self._residuals, start) for start in starts])
        return self._factors(ends[int(np.argmin(self._errors(ends)))])

    def _below(self, angles: Floats) -> Floats:
        """Return g at the runs for each row of angles; nan where it changes sign."""
        t = angles[:, :1]
        direction = np.ones((len(angles), 1))
        if angles.shape[1] == 2:
            u = angles[:, 1:]
            direction = np.concatenate([np.cos(u), np.sin(u)], axis=1)
        below = np.cos(t) + np.sin(t) * (direction @ self.loads.T)
        smallest = np.min(below * np.sign(below[:, :1]), axis=1, keepdims=True)
        return np.where(smallest > 1e-9, below, np.nan)

    def _errors(self, angles: Floats) -> Floats:
        """Return the sum of squares for each row of angles; infinite for none."""
        below = self._below(angles)
        sensible = np.isfinite(below[:, 0])
        errors = np.full(len(angles), np.inf)
        if sensible.any():
            a = self.columns[None] / below[sensible][:, :, None]
            q, _ = np.linalg.qr(a)
            own = np.einsum("gij,i->gj", q, self.values)
            rest = self.values - np.einsum("gij,gj->gi", q, own)
            errors[sensible] = np.sum(rest**2, axis=1)
        return errors

    def _residuals(self, angles: Floats) -> Floats:
        below = self._below(angles[None])[0]
        if not np.isfinite(below).all():
            return np.full(len(self.values), np.nan)
        q, _ = np.linalg.qr(self.columns / below[:, None])
        return np.asarray(self.values - q @ (q.T @ self.values))

    def _factors(self, angles: Floats) -> Floats:
        t = float(angles[0])
        cosine = np.copysign(max(abs(np.cos(t)), 1.0 / _LARGEST), np.cos(t))
        length = float(np.sin(t) / cosine)
        if len(angles) == 1:
            return np.array([length])
        return length * np.array([np.cos(angles[1]), np.sin(angles[1])])


def _pole(factors: Floats) -> tuple[Doubt, ...]:
    """Doubt a formula that divides by 0 at a load between none and all."""
    ends = 1.0 + np.array([0.0, *factors, factors.sum()])
    if (ends > 0.0).all():
        return ()
    return (
        Doubt(
            "divides-by-zero",
            "the formula divides by 0 at some load: 1 + "
            + " + ".join(f"{value:.3g} * load" for value in factors),
            "add runs under other loads, or choose another family",
        ),
    )


_SOURCE = "Yagnik, Sanjay, Vadhiyar 2006, eq. 6 and"

MULTIVARIATES = (
    ModelFamily(
        "multivariate-1",
        source=f"{_SOURCE} 7",
        assumes="a cubic polynomial, all of it divided by 1 + e cpu + f bandwidth",
        fit=partial(_fit, name="multivariate-1"),
    ),
    ModelFamily(
        "multivariate-2",
        source=f"{_SOURCE} 8",
        assumes="a cubic polynomial, all of it divided by 1 + e cpu bandwidth",
        fit=partial(_fit, name="multivariate-2"),
    ),
)
