"""What is asked of models by all who tell of them."""

from __future__ import annotations

from skelgen.documents.dates import date_of
from skelgen.models.derived import DerivedModel
from skelgen.models.model import Model


def made_of_times(model: Model) -> DerivedModel | None:
    """Return a model of another quantity than times as what it is; else None."""
    return model if isinstance(model, DerivedModel) else None


def fitted_date(moment: float) -> str:
    """Return when a model was fitted; empty where no calendar has it."""
    found = date_of(moment)
    return "" if found is None else found.strftime("%Y-%m-%dT%H:%M:%SZ")
