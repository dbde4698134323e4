"""The picture of a model that a store keeps."""

from __future__ import annotations

from skelgen.errors import InputError
from skelgen.models.runs import RunTable
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.model import RunSource, runs_to_learn_from
from skelgen.progress import NO_PROGRESS
from skelgen.web.model_picture import render_model


def kept_picture(place: str | None, kept: KeptModel) -> str:
    """Draw a model with the runs of the store that it was fitted to, as SVG.

    Runs that were in a file, or are gone, are not drawn.
    """
    return render_model(kept.model, runs_of_kept(place, kept))


def runs_of_kept(place: str | None, kept: KeptModel) -> RunTable | None:
    """Return the runs of the store that a model was fitted to, where they are there."""
    if kept.origin.file:
        return None
    names = tuple(one.input.name for one in kept.model.inputs)
    source = RunSource(
        store=place,
        application=kept.origin.application,
        where=kept.origin.where,
        inputs=names,
    )
    try:
        found = runs_to_learn_from(source, NO_PROGRESS)
    except InputError:
        return None
    return found if {one.name for one in found.inputs} == {*names} else None
