"""Curve fitting as Prophesy does it: polynomials in an input, or in its inverse.

The paper plots a run time over one input, a size or a number of processors. Here
several may vary: each has a polynomial of its own, and these are added. Loads are not
inputs: a polynomial has their average effect in its coefficients.

References
----------
Wu, Taylor, Paris 2005, section 3.1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.polynomial import Polynomial

from skelgen.errors import InputError
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
    finite,
)
from skelgen.models.families.least_squares import solve
from skelgen.models.formulas import (
    Expression,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
)
from skelgen.models.runs import Floats, Meaning, ModelInput, RunTable
from skelgen.trust import Doubt

_SOURCE = "Wu, Taylor, Paris 2005, section 3.1"

#: Name, degree, and whether it is of 1/x; in the order of the paper.
_FORMS = (
    *((name, i, False) for i, name in enumerate(("linear", "quadratic", "cubic"), 1)),
    *((f"poly{degree}", degree, False) for degree in (4, 5, 6)),
    *((f"inverse-{degree}", degree, True) for degree in range(1, 7)),
)

#: A formula in powers of the input itself may be off by this part of the values.
_ROUNDING = 1e-9

#: Residuals of less than this part of the values are rounding, and compare as equal.
_EXACT = 1e-9

#: A polynomial of one input: coefficients from the constant on, and where it was found.
_Part = tuple[ModelInput, Polynomial]


def _fit(
    runs: RunTable, settings: FamilySettings, *, name: str, degree: int, inverse: bool
) -> FittedFormula:
    del settings
    inputs = _varied(runs, name, degree)
    at = [_argument(runs, one, inverse) for one in inputs]
    windows = [(float(x.min()), float(x.max())) for x in at]
    columns = np.column_stack(
        [np.ones(len(runs))]
        + [_scaled(x) ** power for power in range(1, degree + 1) for x in at]
    )
    found = solve(columns, runs.values)
    constant, rest = found.coefficients[0], found.coefficients[1:]
    of_input = rest.reshape(degree, len(inputs)).T
    parts = [
        (one, Polynomial([0.0, *own], domain=window))
        for one, own, window in zip(inputs, of_input, windows, strict=True)
    ]
    same = [i for i in range(columns.shape[1]) if i not in found.kept]
    unused = tuple(one.name for one in runs.inputs if one not in inputs)
    doubts = (_not_separable(inputs, same),) if same else ()
    return _written(
        FittedFormula(name, Number(0.0), inputs, unused, doubts),
        runs,
        (float(constant), parts, inverse),
        columns @ found.coefficients,
    )


def _varied(runs: RunTable, name: str, degree: int) -> tuple[ModelInput, ...]:
    """Return the inputs of the curve, or say which has too few values for it."""
    loads = (Meaning.CPU, Meaning.BANDWIDTH, Meaning.LATENCY)
    inputs = tuple(one for one in runs.varied if one.meaning not in loads)
    if not inputs:
        raise InputError(
            f"{name} is a curve over sizes or processes, and in these runs none "
            "varies; add runs of other sizes"
        )
    for one in inputs:
        different = len(np.unique(runs.columns[one.name]))
        if different <= degree:
            raise InputError(
                f"{name} needs {degree + 1} different values of {one.name}, and there "
                f"are {different}; add runs, or choose a lower degree"
            )
    return inputs


def _argument(runs: RunTable, one: ModelInput, inverse: bool) -> Floats:
    x = runs.columns[one.name]
    return 1.0 / x if inverse else x


def _scaled(x: Floats) -> Floats:
    """Return values from -1 to 1, where powers are as different as they can be."""
    low, high = float(x.min()), float(x.max())
    return np.asarray((x - (low + high) / 2) / ((high - low) / 2))


def _not_separable(inputs: tuple[ModelInput, ...], columns: list[int]) -> Doubt:
    terms = ", ".join(
        f"{inputs[(i - 1) % len(inputs)].name}^{(i - 1) // len(inputs) + 1}"
        for i in columns
    )
    return Doubt(
        "not-separable",
        f"not separable in these runs, and left out: {terms}",
        "add runs where one input varies and the others do not",
    )


def _written(
    found: FittedFormula,
    runs: RunTable,
    what: tuple[float, list[_Part], bool],
    values: Floats,
) -> FittedFormula:
    """Write the formula in powers of the inputs, unless that loses digits."""
    plain, scaled = _plain(found, *what), _in_windows(found, *what)
    off = np.abs(plain.at(runs.columns) - values)
    numbers = np.isfinite([value for _, value in plain.coefficients]).all()
    if numbers and np.all(off <= _ROUNDING * np.max(np.abs(values))):  # nan is not
        return plain
    return finite(scaled, runs)


def _plain(
    found: FittedFormula, constant: float, parts: list[_Part], inverse: bool
) -> FittedFormula:
    terms: list[Expression] = []
    coefficients = []
    with np.errstate(all="ignore"):
        for one, polynomial in parts:
            own = polynomial.convert().coef
            constant += float(own[0])
            for power, value in enumerate(own[1:], 1):
                exponent = -power if inverse else power
                base = Name(one.name)
                terms.append(
                    Product(
                        (
                            Number(float(value)),
                            base if exponent == 1 else Power(base, Number(exponent)),
                        )
                    )
                )
                coefficients.append((f"{one.name}^{exponent}", float(value)))
    return _with(found, [*terms[::-1], Number(constant)], constant, coefficients)


def _in_windows(
    found: FittedFormula, constant: float, parts: list[_Part], inverse: bool
) -> FittedFormula:
    """Write powers of (x - middle)/half, which are from -1 to 1 at the runs."""
    terms: list[Expression] = []
    coefficients = []
    for one, polynomial in parts:
        low, high = map(float, polynomial.domain)
        x: Expression = Name(one.name)
        x = Quotient(Number(1.0), x) if inverse else x
        centred = Sum((x, Number(-(low + high) / 2)))
        z = Quotient(centred, Number((high - low) / 2))
        for power, value in enumerate(polynomial.coef[1:], 1):
            terms.append(
                Product((Number(float(value)), Power(z, Number(float(power)))))
            )
            coefficients.append((f"scaled {one.name}^{power}", float(value)))
    return _with(found, [*terms[::-1], Number(constant)], constant, coefficients)


def _with(
    found: FittedFormula,
    terms: list[Expression],
    constant: float,
    coefficients: list[tuple[str, float]],
) -> FittedFormula:
    return replace(
        found,
        formula=Sum(tuple(terms)),
        coefficients=(("constant", constant), *coefficients),
    )


def fitted_curves(
    runs: RunTable, settings: FamilySettings, name: str
) -> list[tuple[ModelFamily, FittedFormula]]:
    """Return the curves that the runs determine, each fitted to them.

    Parameters
    ----------
    runs : RunTable
    settings : FamilySettings
    name : str
        The family that chooses among them.

    Raises
    ------
    InputError
        When there is none: what the first of them lacks.
    """
    found, refused = [], ""
    for one in _CURVES:
        try:
            found.append((one, one.fit(runs, settings)))
        except InputError as error:
            refused = refused or str(error)
    if not found:
        raise InputError(f"{name} found no curve; {refused}")
    return found


def _least_residual(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    """Return the curve with the least norm of residuals: the paper's "unknown"."""

    def norm(one: FittedFormula) -> float:
        residuals = (one.at(runs.columns) - runs.values) / np.max(runs.values)
        found = max(float(np.linalg.norm(residuals)), _EXACT)
        return np.inf if np.isnan(found) else found

    curves = fitted_curves(runs, settings, "least-residual")
    best = min((fitted for _, fitted in curves), key=norm)
    if np.isinf(norm(best)):
        raise InputError("least-residual found no curve; none has finite values")
    note = f"the curve with the least residual is {best.family}"
    return replace(best, family="least-residual", notes=(*best.notes, note))


def _curve(name: str, degree: int, inverse: bool) -> ModelFamily:
    of = "one over each input" if inverse else "each input"
    return ModelFamily(
        name,
        source=_SOURCE,
        assumes=f"a polynomial of degree {degree} in {of}, added up; loads do not vary",
        fit=partial(_fit, name=name, degree=degree, inverse=inverse),
    )


#: The curves of the paper, in its order.
_CURVES = tuple(_curve(*form) for form in _FORMS)

#: All curves of the paper, and the choice among them.
POLYNOMIALS = (
    *_CURVES,
    ModelFamily(
        "least-residual",
        source=f'{_SOURCE}, type "unknown"',
        assumes="the polynomial, of inputs or of their inverses, that fits best",
        fit=_least_residual,
    ),
)
