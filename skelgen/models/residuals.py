"""By how much a model is off at the runs that it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skelgen.models.model import Model
from skelgen.models.runs import RunTable


@dataclass(frozen=True, slots=True)
class Residual:
    """A run, and by how much a model is off there.

    Attributes
    ----------
    at : tuple of (str, float)
    measured, said : float
        In the unit of the model.
    error : float
        Measured over said, less 1 [1].
    """

    at: tuple[tuple[str, float], ...]
    measured: float
    said: float
    error: float


def residuals_of(model: Model, runs: RunTable) -> tuple[Residual, ...]:
    """Return by how much a model is off at runs; not where it says nothing.

    Parameters
    ----------
    model : Model
    runs : RunTable
        Of the quantity of the model.
    """
    columns = runs.columns
    with np.errstate(all="ignore"):
        said = np.broadcast_to(model.at(columns), (len(runs),))
        errors = runs.values / said - 1.0
    return tuple(
        Residual(
            tuple((name, float(values[i])) for name, values in columns.items()),
            float(runs.values[i]),
            float(said[i]),
            float(errors[i]),
        )
        for i in range(len(runs))
        if np.isfinite(errors[i])
    )
