"""The API of templates and kernels: what their commands print with ``--json``."""

from __future__ import annotations

from dataclasses import replace

from skelgen.documents.text_of_bytes import listed
from skelgen.errors import UsageError
from skelgen.pipeline import kernels
from skelgen.pipeline.fit_process import fitted_apart
from skelgen.pipeline.kept_templates import kept_templates
from skelgen.pipeline.template_curves import (
    TemplateQuestion,
    read_range,
    template_answer,
)
from skelgen.results.model_answers import ModelTemplateResult
from skelgen.results.model_couplings import ModelCoupleResult
from skelgen.results.reading import from_json
from skelgen.results.server_answers import ServerTemplatesResult
from skelgen.server.pages_templates import fact_texts_of
from skelgen.server.settings import Answer, Question

#: What can be asked of a template, and of kernels.
TEMPLATE_ASKED = ("template", "at", "app", "system", "facts")
COUPLING = ("app", "where", "at", "chain", "family", "template")


def templates(question: Question) -> Answer:
    """List the templates: rows of their own, and those of models."""
    return ServerTemplatesResult.of(kept_templates(question.settings.store))


def template(question: Question) -> Answer:
    """Say what a template says, as model predict does; ranges: n=1000:8000,ranks=4."""
    asked = question.query
    values = []
    for one in listed(asked.get("at", "")):
        name, equals, text = one.rpartition("=")
        if not (name and equals):
            raise UsageError(
                f"at: read {one[:40]!r}, expected a name and a number or a range, such "
                "as n=1000:8000"
            )
        values.append(read_range(name.strip(), text))
    wanted = TemplateQuestion(
        question.settings.store,
        asked.get("template", ""),
        asked.get("system", ""),
        fact_texts_of(asked.get("facts", "")),
        tuple(values),
        asked.get("app", ""),
    )
    return ModelTemplateResult.of(template_answer(wanted, fitted_apart))


def coupling(question: Question) -> Answer:
    """Say how long a loop takes by its kernels, as model couple does."""
    asked = question.query
    if not asked.get("app"):
        raise UsageError("which application? give app")
    wanted = kernels.CouplingQuestion(
        question.settings.store,
        asked["app"],
        tuple(listed(asked.get("where", ""))),
        asked.get("at", ""),
        kernels.chain_length(asked.get("chain", "")),
        tuple(listed(asked.get("family", ""))),
        fact_texts_of(asked.get("template", "")),
    )
    found = from_json(ModelCoupleResult, kernels.coupled_apart(wanted))
    return replace(found, command=kernels.coupling_command(wanted))
