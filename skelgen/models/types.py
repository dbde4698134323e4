"""Types of the models: functions of a workload, fits, flags and predictions.

All of them hold plain numbers, text and tuples: ``dataclasses.asdict`` of any gives
what JSON and YAML can take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Value of each dimension: numbers, or arrays of one shape for many workloads.
Values = Mapping[str, Any]


def written(workload: Mapping[str, float]) -> str:
    """Write a workload as it is given: ``n=2500, iterations=200``."""
    return ", ".join(f"{name}={value:g}" for name, value in workload.items())


class FlagKind(StrEnum):
    """What can be wrong with a fit or a prediction: codes of doubts."""

    EXTRAPOLATION = "extrapolation"
    FEW_POINTS = "few-points"
    KNEE = "knee"
    SWITCH = "algorithm-switch"
    MISFIT = "misfit"
    NOT_VALIDATED = "not-validated"
    NOT_WHOLE = "not-whole"
    NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class Flag:
    """Something the reader of a number has to know.

    Attributes
    ----------
    kind : FlagKind
    text : str
        One sentence with the numbers and the remedy.
    dimension : str or None
        Dimension of the workload it concerns.
    between : (float, float) or None
        The two recorded values of that dimension between which it lies.
    """

    kind: FlagKind
    text: str
    dimension: str | None = None
    between: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Factor:
    """``n^power log^logs(n) base^n (n!)``, a part of a term, never negative.

    Below 1 the logarithm counts as 0, so that no term is negative anywhere.
    """

    dimension: str
    power: float = 0.0
    logs: int = 0
    base: float = 1.0
    factorial: bool = False

    def at(self, values: Values) -> Floats:
        """Evaluate it at the values of its dimension."""
        n = np.asarray(values[self.dimension], dtype=np.float64)
        result: Floats = n**self.power
        if self.logs:
            result = result * np.log(np.maximum(n, 1.0)) ** self.logs
        if self.base != 1.0:
            result = result * self.base**n
        if self.factorial:
            result = result * np.vectorize(_factorial, otypes=[float])(n)
        return result

    @property
    def text(self) -> str:
        """What stands in a formula, such as ``n^2.5 log^2 n``."""
        name, parts = self.dimension, []
        if self.power:
            parts.append(name if self.power == 1 else f"{name}^{self.power:g}")
        if self.logs:
            parts.append(f"log {name}" if self.logs == 1 else f"log^2 {name}")
        if self.base != 1.0:
            parts.append(f"{self.base:.6g}^{name}")
        if self.factorial:
            parts.append(f"{name}!")
        return " ".join(parts)


def _factorial(n: float) -> float:
    """Return n!, infinite where it is no longer a number."""
    return math.gamma(n + 1.0) if n <= 170.0 else math.inf


#: A product of factors of different dimensions; without factors the constant 1.
Term = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A sum of terms with coefficients.

    >>> line = Function(((Factor("n", 1.0, 1),), ()), (3.1e-4, 0.02))
    >>> line.text
    '0.00031 n log n + 0.02'
    >>> float(line.at({"n": 1.0}))
    0.02
    """

    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]

    def columns(self, values: Values) -> Floats:
        """Evaluate the terms: a (terms, ...) array."""
        shape = np.broadcast(*(np.asarray(v) for v in values.values())).shape
        return np.stack([column(term, values, shape) for term in self.terms])

    def at(self, values: Values) -> Floats:
        """Evaluate the function at a workload, or at arrays of workloads."""
        return np.asarray(np.tensordot(self.coefficients, self.columns(values), axes=1))

    @property
    def text(self) -> str:
        """The formula, such as ``3.1e-4 n log n + 0.02``."""
        parts = []
        for term, coefficient in zip(self.terms, self.coefficients, strict=True):
            factors = [factor.text for factor in term]
            parts.append(" ".join([f"{coefficient:.4g}", *factors]))
        return " + ".join(parts).replace("+ -", "- ")


def column(term: Term, values: Values, shape: tuple[int, ...]) -> Floats:
    """Evaluate a term at workloads."""
    result = np.ones(shape)
    for factor in term:
        result = result * factor.at(values)
    return result


@dataclass(frozen=True, slots=True)
class Candidate:
    """A function that still fits the points.

    Attributes
    ----------
    function : Function
    error : float
        Root mean square of its relative errors at points it was not fitted to [1].
    probability : float
        Its share of belief among the candidates of a fit [1].
    covariance : tuple of tuple of float
        Of the coefficients.
    """

    function: Function
    error: float
    probability: float
    covariance: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A value at a workload.

    Attributes
    ----------
    value : float
        In the unit of the fitted values.
    p5, p95 : float
        Ends of the 90 % interval for the true function there.
    flags : tuple of Flag
        Those of the fit and those of this workload.
    """

    value: float
    p5: float
    p95: float
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model: phase time or weight as a function of the workload.

    Attributes
    ----------
    method : str
        How the function was chosen.
    dimensions : tuple of str
    points : tuple of tuple of float
        The recorded workloads, one value for each dimension, each workload once.
    values : tuple of float
        What was measured at each of them.
    candidates : tuple of Candidate
        The chosen function first, then others that fit about as well.
    whole : bool
        Whether values are counts: predictions are then rounded.
    flags : tuple of Flag
    elsewhere : tuple of tuple of float
        Workloads of another machine, on which the terms were chosen.
    """

    method: str
    dimensions: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    candidates: tuple[Candidate, ...]
    whole: bool
    flags: tuple[Flag, ...]
    elsewhere: tuple[tuple[float, ...], ...] = ()

    @property
    def function(self) -> Function:
        """The chosen function."""
        return self.candidates[0].function

    @property
    def error(self) -> float:
        """Relative error of the chosen function at points left out [1]."""
        return self.candidates[0].error
