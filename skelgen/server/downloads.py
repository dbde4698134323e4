"""Files to keep: runs, models, pictures, predictions, as commands take them."""

from __future__ import annotations

import json

from skelgen.documents import sealed_json
from skelgen.models.model_file import model_facts
from skelgen.pipeline import download
from skelgen.pipeline.kept_picture import kept_picture
from skelgen.pipeline.model_pages import kept_model_page
from skelgen.server.pages import run_query, stored_model, stored_run
from skelgen.server.settings import Answer, Question, Sent, Streamed
from skelgen.store.formats.csv_text import csv_text
from skelgen.store.lines import to_line

_LINES, _TABLE, _JSON = "application/jsonl", "text/csv", "application/json"
_SHORT = 12


def runs_as_lines(question: Question) -> Answer:
    """Send the runs that are asked for as lines that store add takes."""
    parts = download.run_lines(question.settings.store, run_query(question))
    return Streamed(parts, _LINES, "runs.jsonl")


def runs_as_table(question: Question) -> Answer:
    """Send the runs that are asked for as CSV that store add takes."""
    parts = download.run_table(question.settings.store, run_query(question))
    return Streamed(parts, _TABLE, "runs.csv")


def run_as_line(question: Question) -> Answer:
    """Send one run as a line."""
    identity, row = stored_run(question)
    text = json.dumps(to_line(row), allow_nan=False)
    name = f"run-{identity[:_SHORT]}.jsonl"
    return Sent(f"{text}\n".encode("ascii"), _LINES, name)


def run_as_table(question: Question) -> Answer:
    """Send one run as CSV."""
    identity, row = stored_run(question)
    content = csv_text([row]).encode("utf-8", "replace")
    return Sent(content, _TABLE, f"run-{identity[:_SHORT]}.csv")


def model_file(question: Question) -> Answer:
    """Send a model as a file that model predict takes."""
    found = stored_model(question)
    text = sealed_json(model_facts(found.model))
    return Sent(text.encode(), _JSON, f"{found.name}.json")


def model_picture(question: Question) -> Answer:
    """Send the picture of a model."""
    found = stored_model(question)
    text = kept_picture(question.settings.store, found)
    return Sent(text.encode("utf-8", "replace"), "image/svg+xml", f"{found.name}.svg")


def model_page(question: Question) -> Answer:
    """Send the page of a model as one HTML file that needs nothing else."""
    found = stored_model(question)
    text = kept_model_page(question.settings.store, found)
    return Sent(text.encode("utf-8", "replace"), "text/html", f"{found.name}.html")


def predictions_as_lines(question: Question) -> Answer:
    """Send past predictions with what happened as lines."""
    parts = download.prediction_lines(
        question.settings.store, question.query.get("app", "")
    )
    return Streamed(parts, _LINES, "predictions.jsonl")
