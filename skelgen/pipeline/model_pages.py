"""Pages of models and of workload studies: one HTML file each."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from skelgen import __version__
from skelgen.errors import InputError, SkelgenError
from skelgen.launch.folders import new_file
from skelgen.launch.replaceable_output import check_file
from skelgen.models.model import Model, ModelPrediction
from skelgen.models.quantities import Quantity
from skelgen.models.runs import RunTable
from skelgen.pipeline.fitted_models import model_in_file
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.kept_picture import runs_of_kept
from skelgen.pipeline.model import (
    RunSource,
    good_runs,
)
from skelgen.pipeline.model_draw import runs_with_quantity
from skelgen.pipeline.model_keep import FittedModel
from skelgen.progress import NO_PROGRESS
from skelgen.web.model_document import (
    DOCUMENT_BEGINS,
    render_model_page,
    render_study_page,
)
from skelgen.workload import Study, WorkloadTime

logger = logging.getLogger(__name__)


def check_page(path: Path | None) -> None:
    """Refuse to replace a file by a page, unless it is a page as well.

    Raises
    ------
    UsageError
        When it may not be replaced.
    """
    if path is not None:
        check_file(path, DOCUMENT_BEGINS, force=True)


def write_model_page(
    path: Path,
    asked: FittedModel,
    shown: Model,
    source: RunSource,
    quantity: Quantity,
    said: ModelPrediction | None = None,
) -> None:
    """Write a page of a model with the runs that it was fitted to.

    Parameters
    ----------
    path : Path
        In the place of a page that was there before.
    asked : FittedModel
    shown : Model
        The model of what was asked for: a time, or what follows from it.
    source : RunSource
    quantity : Quantity
    said : ModelPrediction, optional
        Its answer.

    Raises
    ------
    InputError
        When the model gives no answer somewhere in its picture.
    """
    origin = asked.origin
    name = origin.application if origin is not None else ""
    text = render_model_page(
        shown,
        _runs(asked, shown, source, quantity),
        said,
        title=f"Model of {name}" if name else "Model",
        facts=_facts(asked, source),
    )
    with new_file(path, DOCUMENT_BEGINS, force=True) as beside:
        beside.write_text(text, encoding="utf-8")


def kept_model_page(place: str | None, kept: KeptModel) -> str:
    """Return the page of a model that a store keeps, with its runs, as one HTML file.

    Raises
    ------
    InputError
        When the model gives no answer somewhere in its picture.
    """
    asked = FittedModel(kept.model, kept.origin, kept)
    return render_model_page(
        kept.model,
        runs_of_kept(place, kept),
        None,
        title=f"Model {kept.name}",
        facts=_facts(asked, RunSource(store=place, where=kept.origin.where)),
    )


def _runs(
    asked: FittedModel, shown: Model, source: RunSource, quantity: Quantity
) -> RunTable | None:
    """Return the runs of a model; None where they are not known any more."""
    try:
        if asked.kept is not None and not source.file:
            table = runs_of_kept(source.store, asked.kept) if quantity.is_time else None
        elif model_in_file(source) is not None:
            return None
        else:
            table = runs_with_quantity(good_runs(source, NO_PROGRESS), source, quantity)
    except InputError as error:
        logger.info("the page shows no runs: %s", error)
        return None
    names = {one.input.name for one in shown.inputs}
    return table if table is not None and names <= {*table.columns} else None


def _facts(asked: FittedModel, source: RunSource) -> Sequence[tuple[str, str]]:
    origin, kept = asked.origin, asked.kept
    rows = [
        ("application", origin.application if origin is not None else ""),
        ("runs from", source.file or (origin.file if origin is not None else "")),
        ("where", ", ".join(source.where)),
        ("kept as", kept.name if kept is not None else ""),
        ("fitted by", kept.author if kept is not None else ""),
        ("page written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")),
        ("skelgen", __version__),
    ]
    return [(name, text) for name, text in rows if text]


def write_study_page(file: Path, study: Study, found: WorkloadTime) -> Path | None:
    """Write the page of a study beside it; say in the log why it cannot be written.

    Parameters
    ----------
    file : Path
        Of the study.
    study : Study
    found : WorkloadTime
        The newest answer.

    Returns
    -------
    Path or None
        Of the page; None where another file has its name, or nothing can be written.
    """
    path = file.with_suffix(".html")
    facts = [
        ("study", str(file)),
        ("command", " ".join(study.command)),
        ("page written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")),
        ("skelgen", __version__),
    ]
    try:
        text = render_study_page(
            study,
            found,
            title=file.stem,
            facts=[(name, value) for name, value in facts if value],
        )
        with new_file(path, DOCUMENT_BEGINS, force=True) as beside:
            beside.write_text(text, encoding="utf-8")
    except (SkelgenError, OSError) as error:
        logger.warning("the page of the study was not written: %s", error)
        return None
    return path
