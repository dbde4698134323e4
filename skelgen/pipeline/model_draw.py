"""Draw a model and the runs that it learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from skelgen.errors import InputError
from skelgen.launch.folders import new_file
from skelgen.models.derived import check_times, derive
from skelgen.models.families.contract import FamilySettings
from skelgen.models.model import Model, fit_model
from skelgen.models.quantities import Quantity
from skelgen.models.run_quantities import of_runs
from skelgen.models.runs import Floats, RunTable
from skelgen.pipeline.fitted_models import check_asked, model_in_file
from skelgen.pipeline.model import (
    RunSource,
    good_runs,
    other_numbers,
    table_of,
)
from skelgen.progress import Progress
from skelgen.store import Run
from skelgen.web.fill import PICTURE_BEGINS
from skelgen.web.model_picture import render_model


def model_draw(
    source: RunSource,
    family: str,
    picture: Path,
    at: Mapping[str, float] | None = None,
    quantity: Quantity | None = None,
    *,
    force: bool = False,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> Model:
    """Write a picture of a model.

    Parameters
    ----------
    source : RunSource
        Runs, or the file of a model: it has no runs, so none are drawn.
    family : str
    picture : Path
        SVG file.
    at : mapping of str to float, optional
        What is asked for: marked, and the other inputs of each curve have these values.
    quantity : Quantity, optional
        What is drawn over the inputs; None: times.
    force : bool
        Replace a picture that exists.
    progress : Progress
    settings : FamilySettings, optional

    Raises
    ------
    InputError
        When the model gives no answer somewhere in the picture, or an input of `at`
        is missing.
    """
    what = quantity or Quantity()
    drawn, runs = _model_and_runs(source, family, what, progress, settings)
    check_asked(drawn, at or {})
    largest = {one.input.name: one.high for one in drawn.inputs}
    check_times(drawn, {**largest, **(at or {})})
    text = render_model(drawn, runs, at)
    with new_file(picture, PICTURE_BEGINS, force=force) as beside:
        beside.write_text(text, encoding="utf-8")
    return drawn


def _model_and_runs(
    source: RunSource,
    family: str,
    quantity: Quantity,
    progress: Progress,
    settings: FamilySettings | None,
) -> tuple[Model, RunTable | None]:
    """Return a model of a quantity, and the runs that have it where there are any."""
    if (model := model_in_file(source, settings)) is not None:
        return derive(model, quantity), None
    runs = good_runs(source, progress)
    table = table_of(runs, source)
    others = other_numbers(runs, table)
    known = {name: float(v[0]) for name, v in others.items() if (v == v[0]).all()}
    drawn = derive(fit_model(table, family, settings), quantity, known)
    return drawn, with_quantity(table, quantity, others)


def runs_with_quantity(
    runs: Sequence[Run], source: RunSource, quantity: Quantity
) -> RunTable | None:
    """Return runs as a table of a quantity; None where none has a speedup."""
    table = table_of(runs, source)
    return with_quantity(table, quantity, other_numbers(runs, table))


def with_quantity(
    table: RunTable, quantity: Quantity, others: Mapping[str, Floats]
) -> RunTable | None:
    """Return the runs that have a quantity, with it; None where none has a speedup."""
    try:
        values = of_runs(table, quantity, others).of(table.values)
    except InputError:  # the model has one all the same
        if quantity.kind.compares:
            return None
        raise
    known = np.isfinite(values)
    unit = quantity.unit(table.unit)
    found = replace(table, values=values, quantity=str(quantity.kind), unit=unit)
    return found.only(known)
