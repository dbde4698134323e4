"""What each page is made of: asks `skelgen.pipeline`, and `skelgen.web` shows it."""

from __future__ import annotations

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.pipeline import browsing, model_keep, store
from skelgen.pipeline.ask import HowLong, Wondered, how_long
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.kept_picture import kept_picture
from skelgen.pipeline.stored_loads import loads_around
from skelgen.server.settings import Answer, Question, RefusedError, Sent
from skelgen.server.tokens import Right
from skelgen.store import Run
from skelgen.units import format_seconds
from skelgen.web import (
    site_answers,
    site_models,
    site_notices,
    site_predictions,
    site_runs,
)
from skelgen.web.chart_render import render_chart
from skelgen.web.run_loads import run_loads_chart
from skelgen.web.site import inputs_text
from skelgen.web.site_render import icon, script, style_sheet

#: Fields of `/ask`.
ASK_FIELDS = ("app", "model", "at", "hosts", "system", "load")


def may(question: Question, right: Right) -> bool:
    """Say whether who asks may do more than look."""
    visitor = question.visitor
    return visitor is not None and visitor.right >= right


def overview(question: Question) -> Answer:
    """Show what there is, or what to do first."""
    found = browsing.store_overview(question.settings.store)
    jobs = 0 if question.jobs is None else question.jobs.folder.count()
    return site_notices.overview_page(found.applications, found.counts, jobs)


def applications(question: Question) -> Answer:
    """Show all applications."""
    found = browsing.stored_applications(question.settings.store)
    return site_runs.applications_page(found)


def run_query(question: Question) -> browsing.RunQuery:
    """Return which runs are asked for."""
    asked = question.query
    return browsing.RunQuery(
        application=asked.get("app", ""),
        where=asked.get("where", ""),
        system=asked.get("system", ""),
        host=asked.get("host", ""),
        since=asked.get("since", ""),
        until=asked.get("until", ""),
        order=asked.get("order", "") or "-started",
        part=asked.get("part", "1"),
    )


def runs(question: Question) -> Answer:
    """Show a part of the runs that are asked for."""
    found = browsing.browse_runs(question.settings.store, run_query(question))
    return site_runs.runs_page(
        found.runs,
        found.total,
        question.query,
        question.several["column"],
        begin=found.begin,
        before=browsing.before(found),
        after=browsing.after(found),
        damaged=found.damaged,
        may_add=may(question, Right.ADD),
    )


def stored_run(question: Question) -> tuple[str, Run]:
    """Return the run that an address names.

    Raises
    ------
    RefusedError
        When there is none.
    """
    try:
        identity, row = store.store_show(
            question.settings.store, question.path["identity"]
        )
    except (InputError, UsageError) as error:
        raise RefusedError(404, str(error)) from error
    if not isinstance(row, Run):
        raise RefusedError(404, "this is no run; open it from the list of runs")
    return identity, row


def run_loads(question: Question) -> Answer:
    """Draw the loads of the nodes of a run."""
    _, found = stored_run(question)
    series, around = loads_around(question.settings.store, found)
    if not series:
        raise RefusedError(404, "the store has no loads of this run's nodes")
    drawn = render_chart(run_loads_chart(found, series, around))
    return Sent(drawn, "image/svg+xml")


def entry_of(question: Question, kept: KeptModel) -> site_models.ModelEntry:
    """Return a model as pages show it, and whether its runs are still the same."""
    now = model_keep.runs_now(question.settings.store, kept.origin)
    return _entry(kept, None if now is None or now[1] else now[0])


def _entry(kept: KeptModel, runs_now: int | None = None) -> site_models.ModelEntry:
    return site_models.ModelEntry(
        identity=kept.identity,
        name=kept.name,
        application=kept.origin.application,
        author=kept.author,
        fitted=kept.fitted,
        runs=kept.origin.runs,
        runs_now=runs_now,
        fixed=kept.origin.fixed,
        about=kept.origin.about,
        model=kept.model,
    )


def models(question: Question) -> Answer:
    """Show all models, of each name the last one."""
    faults: list[str] = []
    found = model_keep.kept_models(question.settings.store, faults=faults)
    return site_models.models_page([_entry(one) for one in found], faults)


def stored_model(question: Question) -> KeptModel:
    """Return the model that an address names.

    Raises
    ------
    RefusedError
        When there is none.
    """
    try:
        return model_keep.kept_model(question.settings.store, question.path["identity"])
    except InputError as error:
        raise RefusedError(404, str(error)) from error


def picture(question: Question) -> Answer:
    """Draw one model."""
    text = kept_picture(question.settings.store, stored_model(question))
    return Sent(text.encode("utf-8", "replace"), "image/svg+xml")


def predictions(question: Question) -> Answer:
    """Show past predictions, and what happened."""
    found = browsed_predictions(question)
    return site_predictions.predictions_page(
        found.predictions,
        {
            name: question.query.get(name, "")
            for name in site_predictions.PREDICTION_FIELDS
        },
        site_predictions.HowGood(
            found.records,
            found.applications,
            found.months,
            found.methods,
            found.known,
        ),
        text=browsing.part_text(found),
        before=browsing.before(found),
        after=browsing.after(found),
    )


def browsed_predictions(question: Question) -> browsing.PredictionPart:
    """Return the predictions that are asked for."""
    asked = question.query
    return browsing.browse_predictions(
        question.settings.store,
        asked.get("app", ""),
        asked.get("part", "1"),
        method=asked.get("method", ""),
        verdict=asked.get("verdict", ""),
    )


def predictions_picture(question: Question) -> Answer:
    """Draw predicted against measured times."""
    drawn = site_predictions.predictions_chart(browsed_predictions(question).known)
    return Sent(render_chart(drawn), "image/svg+xml")


def asked_of(question: Question) -> Wondered:
    """Return what somebody wants to know."""
    asked = question.query
    return Wondered(
        application=asked.get("app", ""),
        model=asked.get("model", ""),
        at=asked.get("at", ""),
        hosts=asked.get("hosts", ""),
        system=asked.get("system", ""),
        load=asked.get("load", ""),
    )


def ask(question: Question) -> Answer:
    """Answer "how long on that machine?"."""
    place = question.settings.store
    asked = {name: question.query.get(name, "") for name in ASK_FIELDS}
    names = list(browsing.application_names(place))
    kept = sorted({one.name for one in model_keep.kept_models(place, faults=[])})
    answer, problem = None, ""
    if any(name in question.query for name in ASK_FIELDS):
        try:
            answer = shown_answer(how_long(place, asked_of(question)))
        except SkelgenError as error:
            problem = str(error)
    return site_answers.ask_page(asked, names, kept, answer, problem)


def shown_answer(found: HowLong) -> site_answers.AnswerShown:
    """Return an answer as pages show it."""
    return site_answers.AnswerShown(
        interval=found.interval,
        unit=found.unit,
        found_by=found.found_by,
        command=found.command,
        doubts=found.doubts,
        nearest=tuple(
            (
                inputs_text(one.inputs),
                str(one.ranks or ""),
                str(one.runs),
                format_seconds(one.time_s),
            )
            for one in found.nearest
        ),
    )


def style(question: Question) -> Answer:
    """Send the style of all pages."""
    return Sent(style_sheet(), "text/css")


def page_script(question: Question) -> Answer:
    """Send the script of the pages that have one."""
    return Sent(script(), "text/javascript")


def tab_icon(question: Question) -> Answer:
    """Send the picture for a browser's tab."""
    return Sent(icon(), "image/svg+xml")


def health(question: Question) -> Answer:
    """Say that the server runs, and no more."""
    return Sent(b'{"status": "ok"}', "application/json")
