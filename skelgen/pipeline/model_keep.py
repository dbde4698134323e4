"""Keep fitted models in a store, find them again, and keep what they predict."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.models.families.contract import FamilySettings
from skelgen.models.model import Model, ModelPrediction
from skelgen.models.systems import CarriedModel
from skelgen.pipeline.authors import own_name
from skelgen.pipeline.fitted_models import check_fitted, model_in_file
from skelgen.pipeline.keep_predictions import Keeping, ModelAnswer, Subject, keep
from skelgen.pipeline.kept_model import (
    KeptModel,
    ModelOrigin,
    digest_of,
    document_of,
    kept_of,
    origin_of,
)
from skelgen.pipeline.model import (
    COUNT_INPUTS,
    LOADS,
    RunSource,
    check_families,
    good_runs,
    table_of,
)
from skelgen.pipeline.model_parts import model_of_runs
from skelgen.pipeline.model_systems import model_on_system
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.store import Run, Store, open_store, place_of
from skelgen.store import StoredModel as ModelRow
from skelgen.store import StoredModel as Row
from skelgen.store.lines import identity_of
from skelgen.trust import Interval

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model, where its runs are from, and whether a store keeps it.

    Attributes
    ----------
    model : Model
    origin : ModelOrigin or None
        None: of a file that does not say it.
    kept : KeptModel or None
    carried : CarriedModel or None
        What it is made of where other systems gave the form.
    """

    model: Model
    origin: ModelOrigin | None = None
    kept: KeptModel | None = None
    carried: CarriedModel | None = None


def fit_and_keep(
    source: RunSource,
    family: str,
    name: str,
    *,
    progress: Progress,
    author: str = "",
    parts: bool | None = None,
    settings: FamilySettings | None = None,
) -> FittedModel:
    """Fit a model to the runs of a source; a store that is set keeps it.

    Parameters
    ----------
    source : RunSource
    family : str
    name : str
        For the store; empty: that of the application.
    progress : Progress
    author : str
        Who fitted it; empty: the user of this process.
    parts : bool or None
        Fit each part of the runs; None: where all have the same ones.
    settings : FamilySettings, optional
        Of the family, such as the formula of a template.
    """
    found = _fitted(source, family, parts, progress, settings)
    assert found.origin is not None
    usual = f"{found.origin.application}-{source.system}" if source.system else ""
    kept = keep_model(
        source.store, found.model, found.origin, name, usual, author=author
    )
    return replace(found, kept=kept)


def _fitted(
    source: RunSource,
    family: str,
    parts: bool | None,
    progress: Progress,
    settings: FamilySettings | None,
) -> FittedModel:
    """Fit a model to the runs of a source, for one system or for all alike."""
    runs = good_runs(source, progress)
    if not source.system:
        return fit_runs(source, runs, family, parts=parts, settings=settings)
    origin = origin_of(source, runs)
    if parts:
        raise UsageError("--on carries whole runs to a system; leave --parts out")
    if settings:
        raise UsageError(
            "--on carries the form of a family to a system, and --template has a form; "
            "give the facts of the system: --system"
        )
    check_families([family])
    model, carried = model_on_system(runs, source, family)
    return FittedModel(model, origin, carried=carried)


def fit_runs(
    source: RunSource,
    runs: Sequence[Run],
    family: str,
    *,
    parts: bool | None = None,
    settings: FamilySettings | None = None,
) -> FittedModel:
    """Fit a model to runs that a source gave, for all systems alike."""
    table = table_of(runs, source)
    found = model_of_runs(runs, table, family, parts=parts, settings=settings)
    return FittedModel(found, origin_of(source, runs))


def keep_model(
    place: str | None,
    model: Model,
    origin: ModelOrigin,
    name: str = "",
    usual: str = "",
    *,
    author: str = "",
) -> KeptModel | None:
    """Keep a model; without a name only where a store is set.

    It has the `usual` name then, else that of the application.

    A store that does not take it is a warning, unless a name was given for it.
    """
    if not name and not place_of(place).is_set:
        return None
    whose = author or own_name()
    document = document_of(model, whose, origin)
    called = name or usual or origin.application
    row = Row(called, origin.application, time.time(), document)
    try:
        with open_store(place) as store:
            added = store.add([row])
    except (SkelgenError, OSError) as error:
        if name:
            raise
        logger.warning("the model was not kept: %s", error)
        return None
    for refused in added.refused:
        raise InputError(f"the model was not kept: {refused.reason}")
    return KeptModel(identity_of(row), row.name, row.fitted, whose, origin, model)


def kept_models(
    place: str | None,
    application: str | None = None,
    faults: list[str] | None = None,
) -> list[KeptModel]:
    """Return the models of a store, of each name the last one, by name.

    Parameters
    ----------
    place, application : str, optional
    faults : list of str, optional
        Gets why models cannot be read, which are left out.

    Raises
    ------
    InputError
        When one cannot be read and there are no `faults`.
    """
    with open_store(place, make=False) as store:
        rows = store.models(application)
    last = {(row.name, row.application): row for row in rows}
    found = []
    for _, row in sorted(last.items()):
        try:
            found.append(kept_of(identity_of(row), row))
        except InputError as error:
            if faults is None:
                raise
            faults.append(str(error))
    return found


def kept_model(
    place: str | None, name: str, application: str | None = None
) -> KeptModel:
    """Return the last model of a name, or the one whose identity begins so.

    Raises
    ------
    InputError
        When there is none, or applications have models of that name.
    """
    with open_store(place, make=False) as store:
        rows = store.models(application, name)
        whose = sorted({row.application for row in rows})
        if len(whose) > 1:
            raise InputError(
                f"{name}: {', '.join(whose[:5])} have a model of that name; choose one "
                "with --app"
            )
        if rows:
            return kept_of(identity_of(rows[-1]), rows[-1])
        return kept_of(*_by_identity(store, name))


def _by_identity(store: Store, begin: str) -> tuple[str, ModelRow]:
    rows = {identity_of(row): row for row in store.models()}
    found = [one for one in rows if begin and one.startswith(begin)]
    if len(found) != 1:
        known = ", ".join(sorted({row.name for row in rows.values()})[:8]) or "none"
        what = f"{len(found)} models begin so" if found else "there is no such model"
        raise InputError(
            f"{begin[:60]}: {what} in the store; its models: {known}; skelgen model "
            "list shows them"
        )
    row = rows[found[0]]
    assert isinstance(row, Row)
    return found[0], row


def runs_now(place: str | None, origin: ModelOrigin) -> tuple[int, bool] | None:
    """Say how many runs the store has for a model now, and whether they are the same.

    None where its runs were read from a file.
    """
    if origin.file:
        return None
    source = RunSource(store=place, application=origin.application, where=origin.where)
    try:
        runs = good_runs(source, NO_PROGRESS)
    except InputError:  # all of them were removed
        return 0, False
    return len(runs), digest_of(runs) == origin.digest


def asked_model(
    source: RunSource,
    family: str,
    name: str,
    *,
    progress: Progress,
    settings: FamilySettings | None = None,
) -> FittedModel:
    """Return the model to ask: a kept one, that of a file, or one fitted to runs."""
    if name:
        check_fitted(name[:60], source, settings)
        found = kept_model(source.store, name, source.application or None)
        return FittedModel(found.model, found.origin, found)
    if (model := model_in_file(source, settings)) is not None:
        return FittedModel(model)
    return _fitted(source, family, None, progress, settings)


def keep_prediction(
    place: str | None,
    asked: FittedModel,
    said: ModelPrediction,
    at: dict[str, float],
    *,
    application: str = "",
) -> None:
    """Keep what a model predicts, if a store is set and a time is predicted.

    Parameters
    ----------
    place : str, optional
    asked : FittedModel
    said : ModelPrediction
    at : dict of str to float
        What was asked for, with inputs that the model does not need.
    application : str
        For a model that does not say of which it is.
    """
    origin = asked.origin or ModelOrigin(application)
    if asked.model.quantity != "time" or not origin.application:
        return
    scale = _SECONDS.get(asked.model.unit)
    if scale is None:
        return
    values = {**dict(said.at), **at}
    ranks = values.get("ranks") or values.get("nodes", 0.0) * values.get(
        "ranks_per_node", 0.0
    )
    inputs = {
        name: value
        for name, value in values.items()
        if name not in (*COUNT_INPUTS, *LOADS)
    }
    p5, p50, p95 = (
        scale * one for one in (said.interval.p5, said.interval.p50, said.interval.p95)
    )
    subject = Subject(
        method="model",
        application=origin.application,
        recorded="",
        recorded_s=0.0,
        ranks=round(ranks) or origin.ranks,
        mpi="",
        source=Path(asked.kept.name if asked.kept else origin.file or "model"),
        inputs=tuple(sorted({**dict(origin.fixed), **inputs}.items())),
        family=asked.model.family,
    )
    answer = ModelAnswer(Interval(p5, p50, p95), Interval(p50, p50, p50), said.doubts)
    keep(Keeping(place), subject, [answer])


#: Units of times [s].
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
