"""Curve fitting in three steps; the address says all that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

from skelgen.errors import UsageError
from skelgen.pipeline.curve_steps import CurveFound, curve_steps
from skelgen.server import fitting
from skelgen.server.fitting import Flow
from skelgen.server.settings import Answer, Question
from skelgen.web.modelling_steps import CurveAsked
from skelgen.web.site_curve import CURVE, curve_page

#: Fields of the address.
CURVE_FIELDS = tuple(one.name for one in fields(CurveAsked))


def _found(question: Question, chosen: Mapping[str, str]) -> CurveFound:
    asked = CurveAsked(**{name: chosen.get(name, "") for name in CURVE_FIELDS})
    return curve_steps(question.settings.store, asked)


def _flow(found: CurveFound) -> Flow:
    """Return what was chosen when it is all.

    Raises
    ------
    UsageError
        When something is missing, or does not fit the runs.
    """
    if found.request is None:
        steps = found.steps
        raise UsageError(
            steps.said or f"step {steps.step} is not filled in; open {CURVE}"
        )
    chosen = {name: one for name, one in asdict(found.steps.asked).items() if one}
    return Flow(CURVE, chosen, found.request)


def curve(question: Question) -> Answer:
    """Show the steps of curve fitting, and the curve when all are filled in."""
    found = _found(question, question.query)
    if found.request is None:
        return curve_page(found.steps)
    return curve_page(found.steps, fitting.result_blocks(question, _flow(found)))


def picture(question: Question) -> Answer:
    """Draw the curve with its runs and its interval."""
    return fitting.picture(question, _flow(_found(question, question.query)))


def residuals(question: Question) -> Answer:
    """Draw by how much runs are above and below the curve."""
    return fitting.residual_picture(question, _flow(_found(question, question.query)))


def facts(question: Question) -> Answer:
    """Fit a curve, as model fit and model predict do; nothing is kept."""
    return fitting.facts(question, _flow(_found(question, question.query)))


def keep(question: Question) -> Answer:
    """Keep a curve as a model."""
    flow = _flow(_found(question, question.form))
    return fitting.keep(question, flow, question.form.get("name", ""))


def compare(question: Question) -> Answer:
    """Compare families on the runs of a curve."""
    return fitting.compare(question, _flow(_found(question, question.form)))
