"""A power of each input: a line through logarithms, by ridge regression."""

from __future__ import annotations

import numpy as np

from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    needs,
)
from skelgen.models.formulas import Expression, Name, Number, Power, Product, Quotient
from skelgen.models.runs import RunTable

#: Where the factor at inputs of 1 is no number, inputs are relative to their middle.
_LARGEST_LOG = 300.0

#: Weight of each squared exponent against the squared error of a run.
_RIDGE = 1e-3


def _fit(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    del settings
    needs(runs, 2, "power")
    varied = runs.varied
    logs = np.log(np.stack([runs.columns[one.name] for one in varied]))
    middle = logs.mean(axis=1)
    x, y = (logs.T - middle), np.log(runs.values)
    weight = _RIDGE * len(runs) * np.eye(len(varied))
    exponents = np.linalg.solve(x.T @ x + weight, x.T @ (y - y.mean()))
    at_one = float(y.mean() - exponents @ middle)
    known = abs(at_one) < _LARGEST_LOG
    factor = float(np.exp(at_one if known else y.mean()))
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


FAMILY = Family(
    "power",
    source="",
    assumes="each input acts as a power of its own, whatever the others are",
    fit=_fit,
)
