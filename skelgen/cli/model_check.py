"""The command model check: is a model good enough, and what to add."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.model_quantity import QuantityName, ReferenceRanks
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
from skelgen.cli.options import Json, StorePlace, Strict, Verbose, share
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions

if TYPE_CHECKING:
    from skelgen.models.checking import CheckedConfiguration, ModelCheck

#: Configurations that people see.
_SHOWN = 12


def check(
    runs: Source = "",
    goal: Annotated[
        str, typer.Option(help="Largest error that a configuration may have.")
    ] = "10%",
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
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say which configurations a model misses, and what to add to the runs."""
    from skelgen.pipeline.model_check import model_check
    from skelgen.pipeline.model_quantity import asked_quantity

    largest = share(goal, "--goal")
    what = asked_quantity(quantity, reference)
    form = family_choice(family, template, fact, system, place)
    source = form.of(run_source(runs, place, app, where, columns, inputs))
    with progress_bar() as progress:
        found = model_check(
            *(source, form.name, largest, what),
            progress=progress,
            settings=form.settings,
        )
    if json:
        from skelgen.results.model_choices import ModelCheckResult

        print_result(ModelCheckResult.of(found, str(what.kind)))
    else:
        _tell(found)
    check_trust(found.doubts, strict=strict)


def _tell(found: ModelCheck) -> None:
    whole, off = len(found.configurations), len(found.off)
    print_facts(
        [
            ("goal", f"{found.goal:.0%}, met by {whole - off} of {whole}"),
            ("model", f"{found.formula}  ({found.family})"),
        ]
    )
    shown = found.off[:_SHOWN] or found.configurations[:1]
    head = ["configuration", "runs", "differ by", "error", "what to add"]
    print_table(head, [_row(one) for one in shown])
    if off > _SHOWN:
        say(f"and {off - _SHOWN} more; --json has all")
    for one in found.advice:
        say(one.text)
    print_doubts(found.doubts)


def _row(one: CheckedConfiguration) -> list[str]:
    return [
        ", ".join(f"{name}={value:g}" for name, value in one.at),
        str(one.runs),
        f"{one.spread:.1%}",
        f"{one.error:+.1%}" if math.isfinite(one.error) else "not known",
        one.advice.text if one.advice else "",
    ]
