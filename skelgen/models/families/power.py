"""A power of each input: a line through logarithms, by ridge regression."""

from __future__ import annotations

import numpy as np

from skelgen.models.families.contract import (
    Family,
    FamilySettings,
    FittedFormula,
    needs,
)
from skelgen.models.formulas import Expression, Name, Number, Power, Product
from skelgen.models.runs import RunTable

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
    factor = float(np.exp(y.mean() - exponents @ middle))
    powers: list[Expression] = [
        Power(Name(one.name), Number(float(exponent)))
        for one, exponent in zip(varied, exponents, strict=True)
    ]
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
