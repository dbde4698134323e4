"""The API: the same answers as the commands print with ``--json``."""

from __future__ import annotations

from skelgen.pipeline import browsing, model_keep
from skelgen.pipeline.ask import how_long
from skelgen.pipeline.store_expect import Expected
from skelgen.results.model_answers import ModelPredictResult
from skelgen.results.models_listed import ModelListResult, ModelShowResult
from skelgen.results.server_answers import (
    ServerApplicationsResult,
    ServerPredictionsResult,
)
from skelgen.results.stored_runs import StoreShowResult
from skelgen.results.stores import StoreExpectResult, StoreListResult
from skelgen.server.pages import (
    asked_of,
    browsed_predictions,
    run_query,
    stored_model,
    stored_run,
)
from skelgen.server.settings import Answer, Question


def applications(question: Question) -> Answer:
    """List the applications with their runs, and count the rows of each kind."""
    found = browsing.store_overview(question.settings.store)
    return ServerApplicationsResult.of(found)


def runs(question: Question) -> Answer:
    """List a part of the runs, as store list does."""
    found = browsing.browse_runs(question.settings.store, run_query(question))
    return StoreListResult.of(
        found.runs, found.total, begin=found.begin, damaged=found.damaged
    )


def run(question: Question) -> Answer:
    """Show one run, as store show does."""
    identity, found = stored_run(question)
    return StoreShowResult.of_run(found, identity)


def models(question: Question) -> Answer:
    """List the models, as model list does."""
    faults: list[str] = []
    found = model_keep.kept_models(
        question.settings.store, question.query.get("app") or None, faults
    )
    return ModelListResult.of(found, faults)


def model(question: Question) -> Answer:
    """Show one model, as model show does."""
    found = stored_model(question)
    now = model_keep.runs_now(question.settings.store, found.origin)
    return ModelShowResult.of(found, now)


def predictions(question: Question) -> Answer:
    """List a part of the predictions, and how good all were, as store record does."""
    return ServerPredictionsResult.of(browsed_predictions(question))


def ask(question: Question) -> Answer:
    """Say how long, as store expect or model predict does, and name the command."""
    found = how_long(question.settings.store, asked_of(question))
    how = {"found_by": found.found_by, "command": found.command}
    if isinstance(found.said, Expected):
        return StoreExpectResult.of(found.said, **how)
    kept, said = found.said
    return ModelPredictResult.of(kept.model, said, **how)
