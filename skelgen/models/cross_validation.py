"""Configurations of runs, and what a family says of those that it has not seen.

A configuration is a value of each input that a user chooses: runs of one differ by
their loads and by noise only.
"""

from __future__ import annotations

import numpy as np

from skelgen.errors import InputError
from skelgen.models import runs_ahead
from skelgen.models.families import FamilySettings, FittedFormula, ModelFamily
from skelgen.models.runs import Floats, RunTable

#: With more configurations several are left out at a time.
_MOST_FITS = 20

_NOTHING = FamilySettings()


def configurations(runs: RunTable) -> list[runs_ahead.Indices]:
    """Return the runs of each configuration, the ones farthest ahead last."""
    chosen = [i for i, one in enumerate(runs.inputs) if not one.meaning.available]
    _, which = np.unique(runs.at[:, chosen], axis=0, return_inverse=True)
    by_setting = [np.flatnonzero(which.ravel() == i) for i in np.unique(which)]
    far = runs_ahead.order(runs)
    return sorted(by_setting, key=lambda indices: float(far[indices[0]]))


def left_out(
    family: ModelFamily,
    found: FittedFormula,
    runs: RunTable,
    settings: FamilySettings | None = None,
) -> Floats:
    """Return what a family says of each run without the runs of its configuration.

    With many configurations some that are not neighbours are left out together.

    Parameters
    ----------
    family : ModelFamily
    found : FittedFormula
        Of all these runs.
    runs : RunTable
    settings : FamilySettings, optional
        With which the formula was found.

    Returns
    -------
    (runs,) float64 array
        nan where the other runs determine no model.
    """
    said = np.full(len(runs), np.nan)
    by_setting = configurations(runs)
    for first in range(min(len(by_setting), _MOST_FITS)):
        rest = np.concatenate(by_setting[first::_MOST_FITS])
        said[rest] = _without(family, found, runs, rest, settings or _NOTHING)
    return said


def _without(
    family: ModelFamily,
    found: FittedFormula,
    runs: RunTable,
    rest: runs_ahead.Indices,
    settings: FamilySettings,
) -> Floats:
    """Return what a fit to the other runs says of some."""
    others = runs.only(np.setdiff1d(np.arange(len(runs)), rest))
    nothing = np.full(len(rest), np.nan)
    if len(others.varied) < len(runs.varied):
        return nothing
    try:
        if family.again is not None:  # what takes long is not searched again
            fitted = family.again(others, settings, found)
        else:
            fitted = family.fit(others, settings)
    except InputError:
        return nothing
    with np.errstate(all="ignore"):
        said = fitted.at(runs.only(rest).columns)
    return np.where(np.isfinite(said) & (said > 0.0), said, np.nan)
