"""The commands of models: fit, ask, compare."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skelgen.cli.bar import progress_bar
from skelgen.cli.model_checking import check
from skelgen.cli.model_drawing import draw
from skelgen.cli.model_kept import (
    AskedName,
    KeptName,
    kept_facts,
    kept_row,
    list_,
    show,
)
from skelgen.cli.model_loads import (
    Begin,
    End,
    Load,
    LoadNodes,
    LoadSeries,
    LoadSkeleton,
    PastRun,
    SkeletonBudget,
    load_request,
    load_text,
)
from skelgen.cli.model_next import next_
from skelgen.cli.model_parts import ByParts, fitted_parts, part_rows
from skelgen.cli.model_runs import (
    Columns,
    FamilyName,
    InputNames,
    Source,
    run_source,
)
from skelgen.cli.options import AllowCommand, Json, StorePlace, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_json,
    print_table,
    say,
)
from skelgen.cli.storing import App, Conditions
from skelgen.pipeline import modelling
from skelgen.pipeline.model_facts import prediction_facts
from skelgen.pipeline.model_keeping import (
    asked_model,
    fit_and_keep,
    keep_prediction,
)
from skelgen.pipeline.model_loads import predict_under_load
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.comparing import FamilyScore
    from skelgen.models.model import Model
    from skelgen.pipeline.model_loads import LoadedPrediction


class FormulaFormat(StrEnum):
    """How fit writes a model."""

    TEXT = "text"
    LATEX = "latex"
    PYTHON = "python"


class AnswerFormat(StrEnum):
    """How predict writes its answer."""

    TEXT = "text"
    SLURM = "slurm"


model = typer.Typer(
    help="How long sizes, ranks and loads take that nobody has run.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@model.command(
    epilog="Example: [b]skelgen model fit runs.csv --columns time=t -o heat.json[/b]"
)
def fit(
    runs: Source = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="File for the model, for model predict."),
    ] = None,
    family: FamilyName = "default",
    format_: Annotated[
        FormulaFormat,
        typer.Option(
            "--format", help="Print the formula only: for LaTeX, or as Python."
        ),
    ] = FormulaFormat.TEXT,
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    name: KeptName = "",
    parts: ByParts = None,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Fit a model to runs, and say its formula."""
    source = run_source(runs, place, app, where, columns, inputs)
    with progress_bar() as progress:
        done = fit_and_keep(source, family, name, progress=progress, parts=parts)
    found = done.model
    from skelgen.models.model_file import model_facts, write_model

    if output is not None:
        write_model(found, output)
    if json:
        file = str(output) if output else None
        print_json(model_facts(found) | {"file": file, "kept": kept_facts(done.kept)})
        return
    if format_ is not FormulaFormat.TEXT:
        from skelgen.models.formulas import to_latex, to_python

        latex = format_ is FormulaFormat.LATEX
        say((to_latex if latex else to_python)(found.formula).rstrip())
        return
    print_facts([*_about(found), *kept_row(done.kept)])
    for note in found.notes:
        say(note)
    print_doubts(found.doubts)


def _about(found: Model) -> list[tuple[str, str]]:
    """Return what people are told of a model."""
    error = math.expm1(found.scale.noise)
    ranges = ", ".join(
        f"{one.input.name} {one.low:g} to {one.high:g}" for one in found.inputs
    )
    rows = [
        (found.quantity, f"{found.text}  [{found.unit}]"),
        ("family", found.family),
        ("runs", f"{found.scale.runs}: {ranges}"),
        ("error", f"{error:.1%} of a run, half of them are nearer"),
    ]
    rows += fitted_parts(found)
    if found.dropped:
        rows.append(
            (
                "left out",
                f"{', '.join(found.dropped)} (the same in all runs, or of no use)",
            )
        )
    return rows


@model.command(
    epilog="Example: [b]skelgen model predict runs.csv --at n=8000,ranks=64[/b]"
)
def predict(
    at: Annotated[
        str,
        typer.Option(
            metavar="VALUES",
            help="What to predict: n=8000,ranks=64.",
            show_default=False,
        ),
    ],
    runs: Annotated[
        str,
        typer.Argument(
            metavar="[RUNS]",
            help="A CSV file of runs, a model that model fit wrote, or what else store "
            "add reads.",
            show_default="the runs of --app in the store",
        ),
    ] = "",
    model_name: AskedName = "",
    load: Load = "",
    nodes: LoadNodes = "",
    series: LoadSeries = None,
    run: PastRun = "",
    begin: Begin = "",
    end: End = "",
    skeleton: LoadSkeleton = None,
    budget: SkeletonBudget = "60s",
    allow_command: AllowCommand = False,
    family: FamilyName = "default",
    format_: Annotated[
        AnswerFormat,
        typer.Option(
            "--format",
            help="slurm prints --time for sbatch: the end of the interval, in minutes.",
        ),
    ] = AnswerFormat.TEXT,
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    place: StorePlace = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say how long a run will take that nobody has made, with an interval."""
    asked = modelling.asked_values(at, "--at")
    under = load_request(
        *(load, nodes, series, place, run, begin, end),
        *(skeleton, budget, allow_command),
    )
    source = run_source(runs, place, app, where, columns, inputs, model_name)
    with progress_bar() as progress:
        done = asked_model(source, family, model_name, progress=progress)
        found = done.model
        answer = predict_under_load(found, asked, under, progress=progress)
    keep_prediction(place, done, answer.prediction, asked, application=app or "")
    said = answer.prediction
    if json:
        print_json(prediction_facts(found, answer))
    elif format_ is AnswerFormat.SLURM:
        minutes = max(1, math.ceil(said.interval.p95 / 60))
        say(f"--time={minutes // 60:02}:{minutes % 60:02}:00")
        for one in said.doubts:
            say(f"skelgen: warning: do not trust: {one}", err=True)
    else:
        _tell(found, answer)
    check_trust(said.doubts, strict=strict)


def _tell(found: Model, answer: LoadedPrediction) -> None:
    said = answer.prediction
    shown = format_seconds if found.unit == "s" else "{:.4g}".format
    low, middle, high = map(
        shown, (said.interval.p5, said.interval.p50, said.interval.p95)
    )
    at = ", ".join(f"{name}={value:g}" for name, value in said.at)
    rows = [
        (found.quantity, f"{middle}  (90 %: {low} to {high})"),
        ("at", at),
        ("load", load_text(found, answer.load)),
        ("model", f"{found.text}  ({found.family})"),
        ("verdict", said.verdict),
    ]
    print_facts([*rows, *part_rows(found, dict(said.at))])
    for note in found.notes:
        say(note)
    print_doubts(said.doubts)


@model.command(epilog="Example: [b]skelgen model compare runs.csv[/b]")
def compare(
    runs: Source = "",
    family: Annotated[
        list[str] | None,
        typer.Option("--family", help="Only this one; can be repeated."),
    ] = None,
    app: App = None,
    where: Conditions = None,
    columns: Columns = "",
    inputs: InputNames = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Let each family predict the larger runs from the smaller ones."""
    source = run_source(runs, place, app, where, columns, inputs)
    with progress_bar() as progress:
        scores = modelling.model_compare(source, family or (), progress=progress)
    if json:
        print_json({"families": [*map(_score_facts, scores)], "default": "default"})
        return
    head = ["family", "median error", "worst", "inside", "half width", "s", "formula"]
    print_table(head, [_score_row(one) for one in scores])


def _score_facts(one: FamilyScore) -> dict[str, Any]:
    return {
        "family": one.family,
        "median_error": one.median_error,
        "worst_error": one.worst_error,
        "coverage": one.coverage,
        "half_width": one.half_width,
        "formula": one.formula,
        "seconds": one.seconds,
        "failed": one.failed or None,
    }


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


model.command(
    epilog="Example: [b]skelgen model draw runs.csv --at n=8000 -o heat.svg[/b]"
)(draw)
model.command(
    "next",
    epilog="Example: [b]skelgen model next runs.csv --at n=8000,ranks=64[/b]",
)(next_)
model.command("list", epilog="Example: [b]skelgen model list --app heat[/b]")(list_)
model.command(epilog="Example: [b]skelgen model show heat[/b]")(show)
model.command(epilog="Example: [b]skelgen model check runs.csv --goal 10%[/b]")(check)
