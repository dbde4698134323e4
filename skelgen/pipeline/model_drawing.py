"""Draw a model and the runs that it learnt from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.launch.folders import new_file
from skelgen.pipeline.model_templates import no_template
from skelgen.pipeline.modelling import (
    RunSource,
    check_asked,
    model_in_file,
    runs_to_learn_from,
)
from skelgen.progress import Progress

if TYPE_CHECKING:
    from skelgen.models.families.contract import FamilySettings
    from skelgen.models.model import Model


def model_draw(
    source: RunSource,
    family: str,
    picture: Path,
    at: Mapping[str, float] | None = None,
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
    from skelgen.models.model import fit_model
    from skelgen.web import PICTURE_BEGINS, render_model

    runs, model = None, model_in_file(source)
    if model is not None:
        no_template(settings, source.file)
    else:
        runs = runs_to_learn_from(source, progress)
        model = fit_model(runs, family, settings)
    check_asked(model, at or {})
    text = render_model(model, runs, at)
    with new_file(picture, PICTURE_BEGINS, force=force) as beside:
        beside.write_text(text, encoding="utf-8")
    return model
