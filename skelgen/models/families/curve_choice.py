"""The choice among the curves of the paper, by runs that the curves have not seen.

The paper takes the curve with the least residual. That is mostly the one of the highest
degree, which bends away beyond the runs. Here each curve is fitted to the runs behind
and asked for those ahead of them.

References
----------
Wu, Taylor, Paris 2005, section 3.1, type "unknown".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models import runs_ahead
from skelgen.models.families.contract import (
    FamilySettings,
    FittedFormula,
    ModelFamily,
)
from skelgen.models.families.polynomials import fitted_curves
from skelgen.models.runs import Floats, RunTable
from skelgen.models.thresholds import HIGHER_DEGREE_GAIN, LARGEST_CURVE_ERROR

#: What a higher degree gains at least, so that it is no rounding [1].
_ROUNDING = 1e-9


def _least_error(runs: RunTable, settings: FamilySettings) -> FittedFormula:
    """Return the curve that is least off at runs ahead of those it was fitted to."""
    (first, best), *others = fitted_curves(runs, settings, "least-error")
    least = _errors_ahead(first, runs, settings)
    for one, found in others:
        errors = _errors_ahead(one, runs, settings)
        if _better(errors, least):
            best, least = found, errors
    tested = least[np.isfinite(least)]
    if len(tested):
        note = f"the curve with the least error at runs ahead is {best.family} "
        note += f"({100 * tested.mean():.3g} % off)"
    else:
        note = (
            f"{best.family} is taken: too few sizes ran to test a curve ahead of them"
        )
    return replace(best, family="least-error", notes=(*best.notes, note))


def _better(errors: Floats, least: Floats) -> bool:
    """Say whether a curve is better than a lower one where both were asked."""
    both = np.isfinite(errors) & np.isfinite(least)
    if not both.any():
        return False
    return bool(
        errors[both].mean() < least[both].mean() * (1 - HIGHER_DEGREE_GAIN) - _ROUNDING
    )


def _errors_ahead(
    family: ModelFamily, runs: RunTable, settings: FamilySettings
) -> Floats:
    """Return the mean relative error at the runs ahead, for each fold [1].

    nan where the runs behind do not determine the curve.
    """
    found = []
    for behind, rest in runs_ahead.folds(runs):
        asked = runs.only(rest)
        try:
            said = family.fit(runs.only(behind), settings).at(asked.columns)
        except InputError:
            found.append(np.nan)
            continue
        with np.errstate(all="ignore"):
            off = np.abs(said / asked.values - 1.0)
        off = np.where(
            np.isfinite(off), np.minimum(off, LARGEST_CURVE_ERROR), LARGEST_CURVE_ERROR
        )
        found.append(float(off.mean()))
    return np.array(found)


LEAST_ERROR = ModelFamily(
    "least-error",
    source="curves of Wu, Taylor, Paris 2005, section 3.1; the choice is ours",
    assumes="the polynomial, of inputs or of their inverses, least off at runs ahead",
    fit=_least_error,
)
