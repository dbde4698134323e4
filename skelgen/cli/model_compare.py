"""The command that compares families of models on the user's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.model_quantity import QuantityName, ReferenceRanks
from skelgen.cli.model_runs import Columns, InputNames, Source, run_source
from skelgen.cli.model_template import SystemName, Template, TypedFacts, family_choice
from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_result, print_table
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions

if TYPE_CHECKING:
    from skelgen.models.comparing import FamilyScore


def compare(
    runs: Source = "",
    family: Annotated[
        list[str] | None,
        typer.Option("--family", help="Only this one; can be repeated."),
    ] = None,
    template: Template = "",
    fact: TypedFacts = None,
    system: SystemName = "",
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    quantity: QuantityName = "time",
    reference: ReferenceRanks = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Let each family predict the larger runs from the smaller ones."""
    from skelgen.pipeline.model_compare import model_compare
    from skelgen.pipeline.model_quantity import asked_quantity

    what = asked_quantity(quantity, reference)
    told = "template" if "template" in (family or ()) else ""
    form = family_choice(told, template, fact, system, place)
    source = form.of(run_source(runs, place, app, where, columns, inputs))
    formulas = {form.name: form.settings} if form.settings else None
    with progress_bar() as progress:
        scores = model_compare(
            source, family or (), what, progress=progress, told=formulas
        )
    if json:
        from skelgen.results.model_choices import ModelCompareResult

        print_result(ModelCompareResult.of(scores, str(what.kind)))
        return
    head = ["family", "median error", "worst", "inside", "half width", "s", "formula"]
    print_table(head, [_score_row(one) for one in scores])


def _score_row(one: FamilyScore) -> list[str]:
    if one.failed:
        return [one.family, "-", "-", "-", "-", f"{one.seconds:.2f}", one.failed]
    return [
        one.family,
        f"{one.median_error:.1%}",
        f"{one.worst_error:.1%}",
        f"{one.coverage:.0%}",
        f"{one.half_width:.0%}",
        f"{one.seconds:.2f}",
        one.formula,
    ]
