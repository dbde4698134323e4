"""Check whether a model is good enough, and say what to add."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from skelgen.pipeline.modelling import (
    RunSource,
    check_families,
    good_runs,
    numbers_of,
    table_of,
)
from skelgen.progress import Progress

if TYPE_CHECKING:
    from skelgen.models.checking import ModelCheck
    from skelgen.models.families.contract import FamilySettings


def model_check(
    source: RunSource,
    family: str,
    goal: float,
    *,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> ModelCheck:
    """Ask a family for each configuration as if nobody had run it.

    Parameters
    ----------
    source : RunSource
    family : str
    goal : float
        Largest error [1].
    progress : Progress
    settings : FamilySettings, optional

    Raises
    ------
    InputError
    """
    from skelgen.models.checking import check_model

    check_families([family])
    runs = good_runs(source, progress)
    table = table_of(runs, source)
    rows = [numbers_of(one) for one in runs]
    names = {name for row in rows for name in row} - set(table.columns)
    others = {
        name: np.array([row.get(name, math.nan) for row in rows])
        for name in sorted(names)
    }
    return check_model(table, goal, family, others, settings)
