"""Draw a model and the runs that it learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import InputError
from skelgen.launch.folders import new_file
from skelgen.pipeline.model_templates import no_template
from skelgen.pipeline.modelling import (
    RunSource,
    check_asked,
    good_runs,
    model_in_file,
    other_numbers,
    table_of,
)
from skelgen.progress import Progress

if TYPE_CHECKING:
    from skelgen.models.families.contract import FamilySettings
    from skelgen.models.model import Model
    from skelgen.models.quantities import Quantity
    from skelgen.models.runs import Floats, RunTable


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
    from skelgen.models.derived import check_times, derive
    from skelgen.models.model import fit_model
    from skelgen.models.quantities import Quantity
    from skelgen.web import PICTURE_BEGINS, render_model

    what, known = quantity or Quantity(), {}
    table, model = None, model_in_file(source)
    if model is not None:
        no_template(settings, source.file)
    else:
        runs = good_runs(source, progress)
        table = table_of(runs, source)
        model = fit_model(table, family, settings)
        others = other_numbers(runs, table)
        known = {name: float(v[0]) for name, v in others.items() if (v == v[0]).all()}
        table = _with_quantity(table, what, others)
    check_asked(model, at or {})
    drawn = derive(model, what, known)
    largest = {one.input.name: one.high for one in model.inputs}
    check_times(drawn, {**largest, **(at or {})})
    text = render_model(drawn, table, at)
    with new_file(picture, PICTURE_BEGINS, force=force) as beside:
        beside.write_text(text, encoding="utf-8")
    return drawn


def _with_quantity(
    table: RunTable, quantity: Quantity, others: Mapping[str, Floats]
) -> RunTable | None:
    """Return the runs that have a quantity, with it; None where none has a speedup."""
    import numpy as np

    from skelgen.models.run_quantities import of_runs

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
