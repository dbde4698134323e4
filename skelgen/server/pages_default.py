"""A model of all inputs in two steps; the address says all that was chosen."""

from __future__ import annotations

from collections.abc import Mapping

from skelgen.errors import UsageError
from skelgen.pipeline.default_steps import DefaultFound, default_steps
from skelgen.server import fitting
from skelgen.server.fitting import Flow
from skelgen.server.settings import Answer, Question
from skelgen.web.site_default import DEFAULT, default_page

#: Fields of the address; besides, ``low-n``, ``high-n`` and ``to-n`` of each input n.
DEFAULT_FIELDS = ("app", "exe", "fixed")
_OF_INPUTS = ("low-", "high-", "to-")


def _chosen(fields: Mapping[str, str]) -> dict[str, str]:
    return {
        name: one
        for name, one in fields.items()
        if one and (name in DEFAULT_FIELDS or name.startswith(_OF_INPUTS))
    }


def _found(question: Question, chosen: Mapping[str, str]) -> DefaultFound:
    return default_steps(question.settings.store, chosen)


def _flow(question: Question, fields: Mapping[str, str]) -> Flow:
    """Return what was chosen when it is all.

    Raises
    ------
    UsageError
        When something is missing, or does not fit the runs.
    """
    chosen = _chosen(fields)
    found = _found(question, chosen)
    if found.request is None:
        steps = found.steps
        told = f"step {steps.step} is not filled in; open {DEFAULT}"
        raise UsageError(steps.said or told)
    return Flow(DEFAULT, chosen, found.request)


def default(question: Question) -> Answer:
    """Show the steps of a model of all inputs, and the model when they are done."""
    chosen = _chosen(question.query)
    found = _found(question, chosen)
    if found.request is None:
        return default_page(found.steps)
    flow = Flow(DEFAULT, chosen, found.request)
    return default_page(found.steps, fitting.result_blocks(question, flow))


def picture(question: Question) -> Answer:
    """Draw the model over each of its inputs."""
    return fitting.picture(question, _flow(question, question.query))


def residuals(question: Question) -> Answer:
    """Draw by how much runs are above and below the model."""
    return fitting.residual_picture(question, _flow(question, question.query))


def facts(question: Question) -> Answer:
    """Fit a model of all inputs, as model fit and model predict do."""
    return fitting.facts(question, _flow(question, question.query))


def keep(question: Question) -> Answer:
    """Keep the model."""
    name = question.form.get("name", "")
    return fitting.keep(question, _flow(question, question.form), name)


def compare(question: Question) -> Answer:
    """Compare families on its runs."""
    return fitting.compare(question, _flow(question, question.form))
