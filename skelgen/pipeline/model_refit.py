"""Fit a kept model again: to the runs that the store has now."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from skelgen.errors import InputError
from skelgen.models.next_run import NextRun, next_runs
from skelgen.pipeline.fit_request import FitRequest, command_words, is_quick
from skelgen.pipeline.kept_model import KeptModel
from skelgen.pipeline.model_keep import fit_and_keep
from skelgen.pipeline.store_record import shown_store
from skelgen.progress import NO_PROGRESS

#: A model of more inputs is not asked which run to make next while a page is made.
_MOST_INPUTS = 8
#: Runs that are offered to be made next.
_NEXT = 4

Options = dict[str, str | Sequence[str]]


def refit_options(kept: KeptModel) -> Options | None:
    """Return the options of ``model fit`` that gave a model, but its name.

    None where its runs were in a file.
    """
    origin, form = kept.origin, kept.model.template
    if origin.file:
        return None
    options: Options = {
        "app": origin.application,
        "where": origin.where,
        "inputs": ",".join(origin.inputs),
    }
    if form is None:
        options["family"] = kept.model.family
    else:
        options |= {"template": form.text, "fact": form.facts, "system": form.system}
    return options | {"on": origin.system}


def quick_refit(kept: KeptModel, runs: int) -> bool:
    """Say whether fitting a model again to so many runs is quick."""
    return not (kept.model.template or kept.origin.system or kept.origin.file) and (
        is_quick(_request(kept), runs)
    )


def refit(place: str | None, kept: KeptModel, author: str) -> KeptModel:
    """Fit a model again and keep it under its name; it has neither template nor system.

    Parameters
    ----------
    place : str, optional
        Of the store.
    kept : KeptModel
    author : str
        Who does it.

    Raises
    ------
    InputError
        When its runs are gone, or do not determine the model any more.
    """
    request = _request(kept)
    done = fit_and_keep(
        *(request.source(place), request.family, kept.name),
        progress=NO_PROGRESS,
        author=author,
    )
    assert done.kept is not None
    return done.kept


def refit_lines(place: str | None, kept: KeptModel) -> dict[str, str]:
    """Return what does the same in a terminal, by what it does."""
    options = refit_options(kept)
    if options is None:
        return {}
    store = {"store": shown_store(place)} if place else {}
    others = {
        name: one for name, one in options.items() if name not in ("family", "on")
    }
    of_family = {name: one for name, one in options.items() if name != "on"}
    lines = {
        "Fit again": ("model fit", {**options, "name": kept.name, **store}),
        "Which run next": ("model next", {**of_family, **store}),
        "Compare families": ("model compare", {**others, **store}),
    }
    return {what: shlex.join(command_words(*one)) for what, one in lines.items()}


def runs_to_make(kept: KeptModel) -> tuple[NextRun, ...]:
    """Return runs that would narrow the intervals of a model, if it is no large one."""
    if len(kept.model.inputs) > _MOST_INPUTS:
        return ()
    try:
        return tuple(next_runs(kept.model)[:_NEXT])
    except InputError:
        return ()


def _request(kept: KeptModel) -> FitRequest:
    origin = kept.origin
    return FitRequest(
        origin.application, kept.model.family, origin.where, origin.inputs
    )
