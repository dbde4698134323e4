"""Check whether a model is good enough, and say what to add."""

from __future__ import annotations

from skelgen.models.checking import ModelCheck, check_model
from skelgen.models.families.contract import FamilySettings
from skelgen.models.quantities import Quantity
from skelgen.pipeline.model import (
    RunSource,
    check_families,
    good_runs,
    other_numbers,
    table_of,
)
from skelgen.progress import Progress


def model_check(
    source: RunSource,
    family: str,
    goal: float,
    quantity: Quantity,
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
    quantity : Quantity
        What the errors are of.
    progress : Progress
    settings : FamilySettings, optional

    Raises
    ------
    InputError
    """
    check_families([family])
    runs = good_runs(source, progress)
    table = table_of(runs, source)
    others = other_numbers(runs, table)
    return check_model(table, goal, family, others, settings, quantity)
