"""A power of each input: a line through logarithms, by ridge regression.

Runs that are far off, and those that are unsteady, count less.
"""

from __future__ import annotations

import functools

import numpy as np

from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    needs,
)
from skelgen.models.families.weighing import weights
from skelgen.models.formulas import Expression, Name, Number, Power, Product, Quotient
from skelgen.models.runs import Floats, RunTable

#: Where the factor at inputs of 1 is no number, inputs are relative to their middle.
_LARGEST_LOG = 300.0

#: Weight of each squared exponent against the squared error of a run.
_RIDGE = 1e-4

#: So often runs are weighed by how far off they were.
_ROUNDS = 5

#: So many are kept: folds of the same runs ask for them again.
_MOST_KEPT = 16


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    del settings
    return _found(runs)


@functools.lru_cache(maxsize=_MOST_KEPT)
def _found(runs: RunTable) -> FittedFormula:
    needs(runs, 2, "power")
    varied = runs.varied
    logs = np.log(np.stack([runs.columns[one.name] for one in varied]))
    middle, centre_log, exponents = _line(logs.T, np.log(runs.values))
    at_one = float(centre_log - exponents @ middle)
    known = abs(at_one) < _LARGEST_LOG
    factor = float(np.exp(at_one if known else centre_log))
    powers: list[Expression] = []
    for one, exponent, centre in zip(varied, exponents, middle, strict=True):
        name = Name(one.name)
        base = name if known else Quotient(name, Number(float(np.exp(centre))))
        powers.append(Power(base, Number(float(exponent))))
    return FittedFormula(
        "power",
        Product((Number(factor), *powers)),
        varied,
        dropped=tuple(one.name for one in runs.inputs if one not in varied),
        coefficients=(
            ("factor", factor),
            *((one.name, float(e)) for one, e in zip(varied, exponents, strict=True)),
        ),
    )


def _line(x: Floats, y: Floats) -> tuple[Floats, float, Floats]:
    """Return the weighted means of both, and the slopes."""
    counted = np.ones(len(y))
    ridge = _RIDGE * len(y) * np.eye(x.shape[1])
    for _ in range(_ROUNDS):
        squares = counted**2 / np.sum(counted**2)
        middle, height = squares @ x, float(squares @ y)
        rows, target = (x - middle) * counted[:, None], (y - height) * counted
        slopes = np.linalg.solve(rows.T @ rows + ridge, rows.T @ target)
        fitted = height + (x - middle) @ slopes
        counted = weights(y - fitted, fitted)
    return middle, height, np.asarray(slopes)


POWER_FAMILY = ModelFamily(
    "power",
    source="",
    assumes="each input acts as a power of its own, whatever the others are",
    fit=_fit,
)
