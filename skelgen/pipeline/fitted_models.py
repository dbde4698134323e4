"""Models that are fitted already: of a file, or known by a name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skelgen.documents import json_field
from skelgen.documents.files import as_text, read_bytes
from skelgen.errors import InputError, UsageError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.model import Model
from skelgen.models.model_file import is_model, model_of
from skelgen.pipeline.model import RunSource, model_fit
from skelgen.progress import Progress


def model_in_file(
    source: RunSource, settings: FamilySettings | None = None
) -> Model | None:
    """Return the model that a file holds; None where it holds runs.

    Raises
    ------
    UsageError
        When options are given that are for runs.
    """
    path = Path(source.file)
    if path.suffix != ".json" or not path.is_file():
        return None
    content = json_field(as_text(path, read_bytes(path)), path)
    if not is_model(content):
        return None
    check_fitted(source.file, source, settings)
    return model_of(content)


def check_fitted(
    model: str, source: RunSource, settings: FamilySettings | None = None
) -> None:
    """Refuse options for runs where a model is asked that is fitted already.

    Raises
    ------
    UsageError
    """
    given = {
        "--family": source.family,
        "--template": settings is not None and settings.template is not None,
        "--where": source.where,
        "--columns": source.columns,
        "--inputs": source.inputs,
        "--on": source.system,
    }
    for option in [name for name, one in given.items() if one]:
        raise UsageError(
            f"{model} is a model that is fitted already; leave {option} out, or "
            "give runs"
        )


def known_model(
    source: RunSource,
    family: str,
    *,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> Model:
    """Return the model that a file holds, or one fitted to runs."""
    if (model := model_in_file(source, settings)) is not None:
        return model
    return model_fit(source, family, progress=progress, settings=settings)


def check_asked(model: Model, at: Mapping[str, float]) -> None:
    """Refuse values of inputs that a model does not have.

    Raises
    ------
    InputError
    """
    known = {one.input.name for one in model.inputs} | set(model.dropped)
    if unknown := [name for name in at if name not in known]:
        raise InputError(
            f"the model has no input {unknown[0]}; it has "
            f"{', '.join(one.input.name for one in model.inputs)}"
        )
