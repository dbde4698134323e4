"""What is done with a kept model: fit it again, compare families on its runs."""

from __future__ import annotations

from skelgen.errors import UsageError
from skelgen.pipeline import model_keep, model_refit
from skelgen.pipeline.kept_model import KeptModel
from skelgen.server.job_words import words_of
from skelgen.server.pages import entry_of, may, stored_model
from skelgen.server.pages_jobs import job_page_of, start_job
from skelgen.server.pages_uploads import author_of
from skelgen.server.settings import Answer, GoTo, Question
from skelgen.server.tokens import Right
from skelgen.web import site_models
from skelgen.web.site import address, inputs_text
from skelgen.web.site_refit import RefitShown, refit_blocks


def model(question: Question) -> Answer:
    """Show one model, its picture, and what can be done with it."""
    kept = stored_model(question)
    entry = entry_of(question, kept)
    shown = RefitShown(
        address=address("models", kept.identity),
        application=kept.origin.application,
        system=kept.origin.runs_on,
        fixed=inputs_text(kept.origin.fixed),
        ranks=kept.origin.ranks,
        next_runs=model_refit.runs_to_make(kept),
        commands=model_refit.refit_lines(question.settings.store, kept),
        changed=entry.runs_now is not None,
        may_add=may(question, Right.ADD),
    )
    return site_models.model_page(entry, refit_blocks(shown))


def _options(kept: KeptModel) -> model_refit.Options:
    options = model_refit.refit_options(kept)
    if options is None:
        raise UsageError(
            f"the runs of {kept.name[:60]} were in the file {kept.origin.file[:200]}; "
            "fit it again with skelgen model fit"
        )
    return options


def again(question: Question) -> Answer:
    """Fit a model again to the runs that there are now; large ones are jobs."""
    kept, who = stored_model(question), author_of(question)
    options = _options(kept)
    now = model_keep.runs_now(question.settings.store, kept.origin)
    if now is not None and model_refit.quick_refit(kept, now[0]):
        found = model_refit.refit(question.settings.store, kept, who)
        return GoTo(address("models", found.identity))
    words = words_of("model fit", {**options, "name": kept.name, "author": who})
    about, back = f"Fit {kept.name[:60]} again", address("models", kept.identity)
    return job_page_of(start_job(question, words, about=about, back=back))


def compare(question: Question) -> Answer:
    """Compare families on the runs of a model, as a job."""
    kept = stored_model(question)
    options = {k: v for k, v in _options(kept).items() if k not in ("family", "on")}
    words = words_of("model compare", options)
    about = f"Compare families on the runs of {kept.name[:60]}"
    back = address("models", kept.identity)
    return job_page_of(start_job(question, words, about=about, back=back))
