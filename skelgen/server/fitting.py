"""What pages of modelling have in common: fit, keep, compare, draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from skelgen.errors import SkelgenError, UsageError
from skelgen.models.model import ModelPrediction
from skelgen.pipeline import fit_request
from skelgen.pipeline.fit_request import FitAnswer, FitRequest
from skelgen.pipeline.model_keep import fit_and_keep
from skelgen.progress import NO_PROGRESS
from skelgen.results.model_curves import ModelCurveResult
from skelgen.server.job_words import words_of
from skelgen.server.pages import may
from skelgen.server.pages_jobs import job_page_of, start_job
from skelgen.server.pages_uploads import author_of
from skelgen.server.settings import Answer, GoTo, Question, RefusedError, Sent
from skelgen.server.tokens import Right
from skelgen.web.residual_picture import render_residuals
from skelgen.web.site import Block, Prose, address, inputs_text
from skelgen.web.site_fit import FitShown, fit_blocks, too_long_blocks
from skelgen.web.site_steps import StepField, StepForm


@dataclass(frozen=True, slots=True)
class Flow:
    """One of the ways of modelling in steps.

    Attributes
    ----------
    path : str
        Its address, such as ``/model/curve``.
    chosen : mapping of str to str
        What was chosen, as it is in the address.
    request : FitRequest
        What that means.
    """

    path: str
    chosen: Mapping[str, str]
    request: FitRequest

    def at(self, *more: str) -> str:
        """Return an address below it, with all that was chosen."""
        return address(*self.path.strip("/").split("/"), *more, **self.chosen)

    @property
    def name(self) -> str:
        """Return what the model is called, where nobody says it."""
        inputs = "-".join(self.request.inputs[:3])
        parts = (self.request.application, inputs, self.request.family)
        return "-".join(one for one in parts if one)[:100]


def result_blocks(question: Question, flow: Flow) -> list[Block]:
    """Return the model that the steps lead to, or why there is none."""
    place, request = question.settings.store, flow.request
    try:
        runs = fit_request.wanted_runs(place, request)
        if not fit_request.is_quick(request, len(runs)):
            return too_long_blocks(_keep_form(flow), len(runs))
        found = fit_request.fit_answer(place, request, runs)
    except SkelgenError as error:
        return [Prose(str(error), "doubt")]
    return fit_blocks(_shown(question, flow, found))


def _keep_form(flow: Flow) -> StepForm:
    return StepForm(
        f"{flow.path}/keep",
        "Fit it as a job",
        "",
        (StepField("name", "Name", flow.name),),
        tuple(flow.chosen.items()),
        changes=True,
    )


def _shown(question: Question, flow: Flow, found: FitAnswer) -> FitShown:
    origin = found.fitted.origin
    assert origin is not None
    return FitShown(
        model=found.shown,
        times=found.fitted.model,
        runs=origin.runs,
        asked=found.request.at,
        said=_prediction(found),
        problem=found.problem,
        residuals=found.residuals,
        next_runs=found.next_runs,
        fixed=inputs_text(origin.fixed),
        ranks=origin.ranks,
        commands=fit_request.command_lines(
            question.settings.store, found.request, flow.name
        ),
        picture=flow.at("picture.svg") if found.picture else "",
        marked=found.marked,
        residual_picture=flow.at("residuals.svg"),
        keep=f"{flow.path}/keep",
        compare=f"{flow.path}/compare",
        chosen=tuple(flow.chosen.items()),
        name=flow.name,
        application=found.request.application,
        system=origin.runs_on,
        may_add=may(question, Right.ADD),
    )


def _prediction(found: FitAnswer) -> ModelPrediction | None:
    return None if found.said is None else found.said.prediction


def answer_of(question: Question, flow: Flow) -> FitAnswer:
    """Return the model that the steps lead to.

    Raises
    ------
    RefusedError
        When it takes longer than a request may.
    SkelgenError
        When there is none.
    """
    place, request = question.settings.store, flow.request
    runs = fit_request.wanted_runs(place, request)
    if not fit_request.is_quick(request, len(runs)):
        raise RefusedError(
            422, f"fitting {len(runs)} runs takes long; start it as a job: /api/jobs"
        )
    return fit_request.fit_answer(place, request, runs)


def picture(question: Question, flow: Flow) -> Answer:
    """Draw the model with its runs, its interval, and what is asked."""
    found = answer_of(question, flow)
    if not found.picture:
        raise RefusedError(422, "the model gives hardly any answer: nothing to draw")
    return Sent(found.picture.encode("utf-8", "replace"), "image/svg+xml")


def residual_picture(question: Question, flow: Flow) -> Answer:
    """Draw by how much runs are above and below the model."""
    text = render_residuals(answer_of(question, flow).residuals)
    return Sent(text.encode("utf-8", "replace"), "image/svg+xml")


def facts(question: Question, flow: Flow) -> Answer:
    """Say what ``model fit`` and ``model predict`` say of it."""
    found = answer_of(question, flow)
    commands = fit_request.command_lines(
        question.settings.store, found.request, flow.name
    )
    return ModelCurveResult.of(found, commands)


def keep(question: Question, flow: Flow, name: str) -> Answer:
    """Keep the model under a name, with who did it; large ones are jobs."""
    place, request, who = question.settings.store, flow.request, author_of(question)
    called = name.strip() or flow.name
    if len(called) > 200:
        raise UsageError("the name is longer than 200 characters; choose a shorter one")
    runs = fit_request.wanted_runs(place, request)
    if fit_request.is_quick(request, len(runs)):
        done = fit_and_keep(
            *(request.source(place), request.family, called),
            progress=NO_PROGRESS,
            author=who,
        )
        assert done.kept is not None
        return GoTo(address("models", done.kept.identity))
    words = words_of("model fit", {**request.options, "name": called, "author": who})
    about = f"Fit {request.family} to {request.application[:60]}"
    return job_page_of(start_job(question, words, about=about, back=flow.at()))


def compare(question: Question, flow: Flow) -> Answer:
    """Compare all families on the runs, as a job."""
    request = replace(flow.request, family="")
    words = words_of("model compare", {**request.options, **request.of_quantity})
    about = f"Compare families on {request.application[:60]}"
    return job_page_of(start_job(question, words, about=about, back=flow.at()))
