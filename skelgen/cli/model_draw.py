"""The command model draw: a picture of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.model_quantity import QuantityName, ReferenceRanks, formula_row
from skelgen.cli.model_runs import (
    Columns,
    FamilyName,
    InputNames,
    Source,
    run_source,
)
from skelgen.cli.model_template import (
    SystemName,
    Template,
    TypedFacts,
    family_choice,
)
from skelgen.cli.options import Force, Json, StorePlace, Verbose
from skelgen.cli.output import print_facts, print_result
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions


def draw(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="SVG file to write.", show_default=False),
    ],
    runs: Source = "",
    at: Annotated[
        str,
        typer.Option(
            metavar="VALUES",
            help="Mark what is predicted here, and draw each curve through it: "
            "n=8000,ranks=64.",
            show_default="the largest run",
        ),
    ] = "",
    family: FamilyName = "",
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
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Draw a model: curves with intervals, the runs, and a surface of two inputs."""
    from skelgen.pipeline.model import asked_values
    from skelgen.pipeline.model_draw import model_draw
    from skelgen.pipeline.model_quantity import asked_quantity

    asked = asked_values(at, "--at") if at else None
    what = asked_quantity(quantity, reference)
    form = family_choice(family, template, fact, system, place)
    source = form.of(run_source(runs, place, app, where, columns, inputs))
    with progress_bar() as progress:
        found = model_draw(
            *(source, form.name, output, asked, what),
            force=force,
            progress=progress,
            settings=form.settings,
        )
    if json:
        from skelgen.results.model_choices import ModelDrawResult

        print_result(ModelDrawResult(picture=output, formula=found.text))
        return
    print_facts([("picture", str(output)), formula_row(found)])
