"""Options of a formula that a user gives, and what people are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
)
from skelgen.errors import UsageError
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.families.contract import TemplateForm
    from skelgen.models.model import Model
    from skelgen.pipeline.model_templates import ChosenFamily

Template = Annotated[
    str,
    typer.Option(
        metavar="FORMULA|FILE|NAME",
        help="Formula of the model, such as 'ADDM*n^3/ranks + a'; or a file with one; "
        "or the name of a template or a model in the store. Names that are neither "
        "inputs nor facts are coefficients, and are fitted.",
        show_default="--family finds one",
    ),
]
TypedFacts = Annotated[
    list[str] | None,
    typer.Option(
        "--fact",
        metavar="NAME=VALUE",
        help="Value of a name in --template: 'L=1024 bytes', 'ADDM=48 ns', "
        "'SR(L)=16 us + 2 ns*L'. Can be repeated.",
        show_default="facts of --system",
    ),
]
SystemName = Annotated[
    str,
    typer.Option(
        "--system",
        metavar="HOST",
        help="Host or system of the store: its facts are names in --template, such as "
        "ADDM, SR(L) and BC(L).",
        show_default=False,
    ),
]


def family_choice(
    family: str,
    template: str,
    facts: list[str] | None,
    system: str,
    place: str | None,
) -> ChosenFamily:
    """Return the family of a command, with its formula and its facts.

    Raises
    ------
    UsageError
        When the options do not belong together.
    """
    from skelgen.pipeline.model_templates import TemplateRequest, chosen_family

    request = TemplateRequest(template, tuple(facts or ()), system, place)
    return chosen_family(family, request)


def template_rows(model: Model) -> list[tuple[str, str]]:
    """Return what people are told of the template of a model and its coefficients."""
    rows = form_rows(model.template)
    fitted = ", ".join(f"{name} = {value:.4g}" for name, value in model.coefficients)
    return [*rows, ("fitted", fitted)] if rows and fitted else rows


def form_rows(form: TemplateForm | None) -> list[tuple[str, str]]:
    """Return what people are told of a template; nothing where there is none."""
    from skelgen.models.formulas import to_text

    if form is None:
        return []
    facts = ", ".join(map(_shown, form.facts))
    of = f"  (system {form.system})" if form.system else ""
    rows = [("template", form.text), ("substituted", to_text(form.substituted, 4))]
    return [*rows, ("facts", f"{facts}{of}")] if facts or of else rows


def _shown(fact: str) -> str:
    """Write a fact for people: formulas of sizes by their name only."""
    name, _, value = fact.partition("=")
    if "(" in name:
        return name
    number, _, unit = value.partition(" ")
    return f"{name} = {float(number):.4g} {unit}".rstrip()


def answer_without_runs(
    chosen: ChosenFamily,
    at: dict[str, float],
    needs_runs: Mapping[str, object],
    *,
    json: bool,
    strict: bool,
) -> None:
    """Say what a template computes where no run was made.

    Raises
    ------
    UsageError
        When something is asked for that only runs can tell.
    """
    from skelgen.pipeline.model_templates import computed

    if given := [name for name, one in needs_runs.items() if one]:
        needs = "need" if " and " in given[0] else "needs"
        raise UsageError(
            f"{given[0]} {needs} runs: a template alone has no interval; give a CSV "
            "file of runs, or --app"
        )
    found = computed(chosen, at)
    if json:
        from skelgen.results.model_answers import ModelPredictResult

        print_result(ModelPredictResult.of_template(found))
    else:
        at_text = ", ".join(f"{name}={value:g}" for name, value in found.at)
        rows = [("time", f"{format_seconds(found.value)}  (no interval: no runs)")]
        rows += [("at", at_text), *form_rows(found.form)]
        print_facts([*rows, ("verdict", "do not trust")])
        print_doubts(found.doubts)
    check_trust(found.doubts, strict=strict)
