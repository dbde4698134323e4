"""Pages of templates, and the one that computes a template over its inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.models.facts import read_facts
from skelgen.models.formulas import parse
from skelgen.pipeline.browsing import application_names
from skelgen.pipeline.fit_process import fitted_apart
from skelgen.pipeline.kept_templates import (
    KeptTemplate,
    TemplateNames,
    asked_names,
    input_ranges,
    kept_template,
    kept_templates,
    names_of_template,
    system_rows,
    typed_template,
)
from skelgen.pipeline.known_systems import SystemRows, known_systems
from skelgen.pipeline.template_curves import (
    TemplateAnswer,
    TemplateQuestion,
    read_range,
    template_answer,
)
from skelgen.pipeline.template_runs import runs_where
from skelgen.server.job_words import words_of
from skelgen.server.pages import may
from skelgen.server.pages_jobs import job_page_of, start_job
from skelgen.server.pages_uploads import author_of
from skelgen.server.settings import Answer, Question, RefusedError
from skelgen.server.tokens import Right
from skelgen.web import site_parameters, site_templates
from skelgen.web.curve import CurveSpot
from skelgen.web.site import address
from skelgen.web.site_parameters import (
    AT,
    TEMPLATE_PAGE,
    SurfaceNumbers,
    TemplateResult,
    TemplateSteps,
)
from skelgen.web.site_steps import StepField, StepForm

#: Fields of `/model/template`, besides a value of each name.
TEMPLATE_FIELDS = ("kept", "template", "app", "system", "facts")
#: Names of a formula that get a field: a longer form is sent by nobody.
_MOST_NAMES = 30


def templates(question: Question) -> Answer:
    """Show all templates."""
    found = kept_templates(question.settings.store)
    return site_templates.templates_page([shown_template(one) for one in found])


def template(question: Question) -> Answer:
    """Show one template."""
    try:
        found = kept_template(question.settings.store, question.path["identity"])
    except InputError as error:
        raise RefusedError(404, str(error)) from error
    return site_templates.template_page(shown_template(found))


def shown_template(
    one: KeptTemplate,
    inputs: tuple[str, ...] | None = None,
    rows: SystemRows | None = None,
) -> site_templates.TemplateShown:
    """Return a template as pages show it.

    Parameters
    ----------
    one : KeptTemplate
    inputs : tuple of str, optional
        Names that are inputs; else those that it says itself.
    rows : SystemRows, optional
        Of the system whose facts it uses.
    """
    names = TemplateNames((), (), ())
    if one.formula is not None:
        known = one.inputs if inputs is None else inputs
        names = names_of_template(one.formula, known, rows)
    return site_templates.TemplateShown(
        *(one.identity, one.name, one.application, one.text, one.formula),
        fault=one.fault or names.fault,
        inputs=names.inputs,
        free=names.free,
        facts=names.facts,
        unit=names.unit,
        model=one.model.identity if one.model else "",
        author=one.model.author if one.model else "",
        fitted=one.model.fitted if one.model else math.nan,
    )


def model_template(question: Question) -> Answer:
    """Show the steps of a template over its inputs, and what it says."""
    steps = _begin(question)
    result = None
    try:
        steps = _chosen(question, steps)
        steps = _wanted(question, steps)
        if _is_sent(steps):
            result = _result(question, steps)
    except SkelgenError as error:
        steps = replace(steps, problem=str(error))
    return site_parameters.parameters_page(steps, result)


def _is_sent(steps: TemplateSteps) -> bool:
    """Say whether the form of values was sent.

    Raises
    ------
    UsageError
        When a value is missing.
    """
    sent = {n: v for n, v in steps.chosen.items() if n.startswith(AT)}
    if not (steps.wanted and sent):
        return False
    names = [name for name, _ in steps.wanted]
    if missing := [one for one in names if not sent.get(f"{AT}{one}", "").strip()]:
        raise UsageError(
            f"no value of {', '.join(one[:40] for one in missing)}; give a number, "
            "such as 8000, or a range, such as 1000:8000"
        )
    return True


def _begin(question: Question) -> TemplateSteps:
    """Return the first step with all that can be chosen."""
    place, asked = question.settings.store, dict(question.query)
    rows = known_systems(store=place)
    systems = sorted({*rows.hosts, *(one.system for one in rows.facts if one.system)})
    kept = [(one.identity, _called(one)) for one in kept_templates(place)]
    back = {name: asked.get(name, "") for name in TEMPLATE_FIELDS[:4]}
    return TemplateSteps(
        chosen=asked,
        applications=application_names(place),
        systems=tuple(systems),
        templates=tuple(kept),
        back=address("model", "template", **back, step="1"),
    )


def _called(one: KeptTemplate) -> str:
    return f"{one.name} of {one.application}: {one.text[:60]}"


def _chosen(question: Question, steps: TemplateSteps) -> TemplateSteps:
    """Return the steps with the template, where one is chosen."""
    asked, place = steps.chosen, question.settings.store
    typed, kept = asked.get("template", "").strip(), asked.get("kept", "")
    if asked.get("step") == "1" or not (typed or kept):
        return steps
    application = asked.get("app", "")
    text = typed or kept_template(place, kept).text
    found = typed_template(text, application)
    if found.formula is None:
        raise InputError(found.fault)
    steps = replace(steps, chosen={**asked, "template": text, "kept": ""})
    system = asked.get("system", "")
    rows = system_rows(place, system) if system else None
    facts = read_facts(fact_texts_of(asked.get("facts", ""))).names
    known = None
    if application:
        known = input_ranges(place, application, runs_where(place, application, system))
    inputs = asked_names(found.formula, known, rows, facts)
    return replace(steps, shown=shown_template(found, inputs, rows))


def _wanted(question: Question, steps: TemplateSteps) -> TemplateSteps:
    """Return the steps with the names that need a value."""
    if steps.shown is None:
        return steps
    application = steps.chosen.get("app", "")
    place, system = question.settings.store, steps.chosen.get("system", "")
    where = runs_where(place, application, system)
    found = input_ranges(place, application, where) if application else {}
    wanted = []
    for name in steps.shown.inputs:
        low, high = found.get(name, (math.nan, math.nan))
        wanted.append((name, f"runs: {low:g} to {high:g}" if name in found else ""))
    if not wanted:
        raise UsageError(
            "the formula has no input; name one, such as n or ranks, or leave out the "
            "fact that gives it a value"
        )
    if len(wanted) > _MOST_NAMES:
        raise UsageError(
            f"the formula has {len(wanted)} inputs; at most {_MOST_NAMES} are computed "
            "here, the command line takes more"
        )
    return replace(steps, wanted=tuple(wanted))


def asked_template(question: Question, names: Sequence[str]) -> TemplateQuestion:
    """Return what is asked of a template, with a value of each name."""
    asked = question.query
    return TemplateQuestion(
        store=question.settings.store,
        template=asked.get("template", ""),
        system=asked.get("system", ""),
        facts=fact_texts_of(asked.get("facts", "")),
        values=tuple(read_range(one, asked.get(f"{AT}{one}", "")) for one in names),
        application=asked.get("app", ""),
    )


def fact_texts_of(text: str) -> tuple[str, ...]:
    """Return facts that are typed with semicolons between them."""
    return tuple(one for part in text.split(";") if (one := part.strip()))


def _result(question: Question, steps: TemplateSteps) -> TemplateResult:
    whole = replace(question, query=steps.chosen)
    asked = asked_template(whole, [name for name, _ in steps.wanted])
    found = template_answer(asked, fitted_apart)
    return shown_result(asked, found, _keep_form(whole))


def shown_result(
    asked: TemplateQuestion, found: TemplateAnswer, keep: StepForm | None
) -> TemplateResult:
    """Return what a template says as the page shows it."""
    surface = found.surface
    return TemplateResult(
        *(found.form, found.model, tuple(asked.ends.items())),
        over=asked.ranges[0].name if len(asked.ranges) == 1 else "",
        value=found.value,
        interval=found.interval,
        unit=found.unit,
        command=found.command,
        doubts=found.doubts,
        spots=tuple(
            CurveSpot(one.at, one.value, one.interval.p5, one.interval.p95)
            if one.interval
            else CurveSpot(one.at, one.value)
            for one in found.curve
        ),
        surface=None
        if surface is None
        else SurfaceNumbers(surface.names, surface.x, surface.y, surface.values),
        keep=keep,
    )


def _keep_form(question: Question) -> StepForm | None:
    """Return the form that keeps the model, for who may and where there is one."""
    asked = question.query
    if not asked.get("app") or not may(question, Right.ADD):
        return None
    names = ("app", "template", "system", "facts")
    return StepForm(
        f"{TEMPLATE_PAGE}/keep",
        "Fit and keep",
        fields=(StepField("name", "Name", asked["app"]),),
        hidden=tuple((name, asked.get(name, "")) for name in names),
        changes=True,
    )


def keep_template(question: Question) -> Answer:
    """Fit a template outside of the request, and keep it as a model."""
    typed = question.form
    if not typed.get("app"):
        raise UsageError("of which application? a model is fitted to runs")
    parse(typed.get("template", ""))  # a formula, and no file
    words = words_of(
        "model fit",
        {
            "app": typed["app"],
            "where": runs_where(
                question.settings.store, typed["app"], typed.get("system", "")
            ),
            "template": typed["template"].strip(),
            "system": typed.get("system", ""),
            "fact": fact_texts_of(typed.get("facts", "")),
            "name": typed.get("name", "").strip() or typed["app"],
            "author": author_of(question),
        },
    )
    back = {name: typed.get(name, "") for name in ("app", "template", "system")}
    about = f"fit a template to {typed['app']}"
    link = address("model", "template", **back)
    return job_page_of(start_job(question, words, about=about, back=link))
