"""The command model next: which run tells most for its cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

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
from skelgen.cli.options import Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import print_doubts, print_facts, print_result, print_table, say
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.next_run import NextRun

#: Other runs that are listed.
_OTHERS = 5


def next_(
    runs: Source = "",
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="What can be run: a range, or values n=1000,2000. Can be repeated.",
            show_default="what was run, up to twice the largest",
        ),
    ] = None,
    ranks: Annotated[
        str,
        typer.Option(
            metavar="RANKS",
            help="Numbers of ranks that can be run: 4,8,16.",
            show_default="those that were run, and twice as many",
        ),
    ] = "",
    at: Annotated[
        str,
        typer.Option(
            metavar="VALUES",
            help="What the model is for: n=8000,ranks=64.",
            show_default="all that can be run",
        ),
    ] = "",
    longest: Annotated[
        str,
        typer.Option(help="No run may take longer: 1h.", show_default="no limit"),
    ] = "",
    family: FamilyName = "",
    template: Template = "",
    fact: TypedFacts = None,
    system: SystemName = "",
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say which run to make next: it narrows intervals most for its cost."""
    from skelgen.pipeline.model import asked_values
    from skelgen.pipeline.model_next import model_next, values_to_run

    values = values_to_run(ranges or (), ranks)
    asked = asked_values(at, "--at") if at else None
    longest_s = duration_s(longest, "--longest") if longest else math.inf
    form = family_choice(family, template, fact, system, place)
    source = form.of(run_source(runs, place, app, where, columns, inputs))
    with progress_bar() as progress:
        model, found = model_next(
            *(source, form.name, values, asked),
            longest_s=longest_s,
            progress=progress,
            settings=form.settings,
        )
    if json:
        from skelgen.results.model_choices import ModelNextResult

        print_result(ModelNextResult.of(model, found[: 1 + _OTHERS]))
        return
    if not found:
        say("no run that is allowed would narrow an interval; allow larger ones")
        return
    _tell(found)
    print_doubts(model.doubts)


def _shown(one: NextRun) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in one.run.items())


def _tell(found: list[NextRun]) -> None:
    best = found[0]
    after = best.before - best.gain
    print_facts(
        [
            ("run next", _shown(best)),
            ("because", best.reason),
            ("interval", f"±{best.before:.0%} now, about ±{after:.0%} then"),
            ("takes", f"{format_seconds(best.time_s)} ({_cost(best)})"),
        ]
    )
    rows = [
        [
            _shown(one),
            f"±{one.before - one.gain:.0%}",
            format_seconds(one.time_s),
            _cost(one),
        ]
        for one in found[1 : 1 + _OTHERS]
    ]
    if rows:
        print_table(["or", "interval then", "time", "cost"], rows)


def _cost(one: NextRun) -> str:
    return f"{format_seconds(one.cost_s)} on all ranks"
