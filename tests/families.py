"""What every family of models must do, checked on one of them."""

from __future__ import annotations

import math

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families import FamilySettings, FittedFormula, ModelFamily
from skelgen.models.formulas import names, parse, to_text
from skelgen.models.runs import RunTable

NOTHING = FamilySettings()


def fitted(
    family: ModelFamily, runs: RunTable, settings: FamilySettings = NOTHING
) -> FittedFormula | None:
    """Fit a family, or return None when it says in one line why it cannot."""
    try:
        return family.fit(runs, settings)
    except InputError as error:
        assert str(error)
        assert "\n" not in str(error)
        return None


def check_family(
    family: ModelFamily, runs: RunTable, settings: FamilySettings = NOTHING
) -> FittedFormula | None:
    """Check that a family keeps the contract on some runs.

    The formula names inputs only, needs those it says, gives a number for each run
    that it has seen, is read back without loss, and is found again.
    """
    found = fitted(family, runs, settings)
    if found is None:
        return None
    assert found.family == family.name
    known = {one.name for one in runs.inputs}
    assert set(names(found.formula)) <= {one.name for one in found.inputs} <= known
    assert set(found.dropped) <= known
    assert not set(found.dropped) & set(names(found.formula))
    values = found.at(runs.columns)
    assert values.shape == runs.values.shape
    assert np.isfinite(values).all()
    assert all(math.isfinite(value) for _, value in found.coefficients)
    assert parse(to_text(found.formula)) == parse(
        to_text(parse(to_text(found.formula)))
    )
    again = family.fit(runs, settings)
    assert again.formula == found.formula
    return found
