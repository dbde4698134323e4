"""Models of a store: model list and show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from skelgen.pipeline.model_facts import fitted_date
from skelgen.results.base import Result
from skelgen.results.model_fits import ModelFields

if TYPE_CHECKING:
    from skelgen.pipeline.kept_model import KeptModel


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class KeptFields:
    """A model of a store.

    Attributes
    ----------
    id, name, app, author : str
        Identity, name, application, and who fitted it.
    fitted : str or None
        When (ISO, UTC).
    family, formula : str
        Of the model.
    runs : int
        That it was fitted to.
    where : sequence of str
        Conditions on these.
    file : str or None
        That they were read from.
    """

    id: str
    name: str
    app: str
    author: str
    fitted: str | None
    family: str
    formula: str
    runs: int
    where: Sequence[str]
    file: str | None

    @classmethod
    def kept_fields(cls, one: KeptModel) -> dict[str, Any]:
        """Return what is said of a model, by the names of the fields."""
        return {
            "id": one.identity,
            "name": one.name,
            "app": one.origin.application,
            "author": one.author,
            "fitted": fitted_date(one.fitted) or None,
            "family": one.model.family,
            "formula": one.model.text,
            "runs": one.origin.runs,
            "where": one.origin.where,
            "file": one.origin.file or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelListResult(Result):
    """Models of a store.

    Attributes
    ----------
    models : sequence of KeptFields
        Of each name the last one.
    unreadable : sequence of str
        What is wrong with models that cannot be read.
    """

    result: ClassVar[str] = "model-list"

    models: Sequence[KeptFields]
    unreadable: Sequence[str]

    @classmethod
    def of(cls, found: Sequence[KeptModel], faults: Sequence[str]) -> Self:
        """Return the answer to the models that were found."""
        models = tuple(KeptFields(**KeptFields.kept_fields(one)) for one in found)
        return cls(models=models, unreadable=tuple(faults))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShowResult(KeptFields, ModelFields, Result):
    """A model of a store.

    Attributes
    ----------
    fixed : mapping of str to (float or str)
        Inputs that are the same in all its runs.
    runs_now : int or None
        That the store has now; None where that is not known.
    fit_again : bool
        Whether the runs are others now.
    """

    result: ClassVar[str] = "model-show"

    fixed: Mapping[str, float | str]
    runs_now: int | None
    fit_again: bool

    @classmethod
    def of(cls, found: KeptModel, now: tuple[int, bool] | None) -> Self:
        """Return the answer to a model.

        Parameters
        ----------
        found : KeptModel
        now : tuple of (int, bool) or None
            What `skelgen.pipeline.model_keep.runs_now` says.
        """
        return cls(
            **(cls.fields_of(found.model) | cls.kept_fields(found)),
            fixed=dict(found.origin.fixed),
            runs_now=now[0] if now else None,
            fit_again=now is not None and not now[1],
        )
