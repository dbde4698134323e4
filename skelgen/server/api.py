"""The API: the same answers as the commands print with ``--json``."""

from __future__ import annotations

from dataclasses import asdict

from skelgen.pipeline import browsing, model_keep
from skelgen.pipeline.ask import how_long
from skelgen.pipeline.model_facts import kept_model_facts, shown_model_facts
from skelgen.pipeline.store_facts import date_text, row_facts
from skelgen.results.stores import StoreListResult
from skelgen.server.pages import (
    asked_of,
    browsed_predictions,
    run_query,
    stored_model,
    stored_run,
)
from skelgen.server.settings import Answer, Question
from skelgen.store.track_record import TrackRecord


def applications(question: Question) -> Answer:
    """List the applications with their runs, and count the rows of each kind."""
    found = browsing.store_overview(question.settings.store)
    those = [
        {"app": one.name, "runs": one.runs, "last": date_text(one.last) or None}
        for one in found.applications
    ]
    return {"applications": those, "counts": found.counts}


def runs(question: Question) -> Answer:
    """List a part of the runs, as store list does."""
    found = browsing.browse_runs(question.settings.store, run_query(question))
    return StoreListResult.of(
        found.runs, found.total, begin=found.begin, damaged=found.damaged
    )


def run(question: Question) -> Answer:
    """Show one run, as store show does."""
    return row_facts(*stored_run(question))


def models(question: Question) -> Answer:
    """List the models, as model list does."""
    faults: list[str] = []
    found = model_keep.kept_models(
        question.settings.store, question.query.get("app") or None, faults
    )
    return {"models": [kept_model_facts(one) for one in found], "unreadable": faults}


def model(question: Question) -> Answer:
    """Show one model, as model show does."""
    found = stored_model(question)
    now = model_keep.runs_now(question.settings.store, found.origin)
    return shown_model_facts(found, now)


def predictions(question: Question) -> Answer:
    """List a part of the predictions, and how good all were, as store record does."""
    found = browsed_predictions(question)
    return {
        "methods": [asdict(one) for one in found.records],
        "applications": [_record("application", *one) for one in found.applications],
        "months": [_record("month", *one) for one in found.months],
        "predictions": [row_facts(one.identity, one) for one in found.predictions],
        "total": found.total,
        "begin": found.begin,
    }


def _record(kind: str, name: str, record: TrackRecord) -> dict[str, object]:
    return {kind: name, **asdict(record)}


def ask(question: Question) -> Answer:
    """Say how long, as store expect or model predict does, and name the command."""
    found = how_long(question.settings.store, asked_of(question))
    return {**found.facts, "found_by": found.found_by, "command": found.command}
