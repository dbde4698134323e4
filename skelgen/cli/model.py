"""The commands of models: fit, ask, compare."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.model_check import check
from skelgen.cli.model_compare import compare
from skelgen.cli.model_couple import couple
from skelgen.cli.model_draw import draw
from skelgen.cli.model_list import (
    AskedName,
    KeptAuthor,
    KeptName,
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
from skelgen.cli.model_page import PageFile, page_row
from skelgen.cli.model_parts import ByParts, fitted_parts, part_rows
from skelgen.cli.model_quantity import (
    QuantityName,
    ReferenceRanks,
    check_format,
    formula_row,
    interval_text,
    made_rows,
    python_text,
    quantity_rows,
)
from skelgen.cli.model_runs import (
    Columns,
    FamilyName,
    InputNames,
    Source,
    run_source,
)
from skelgen.cli.model_systems import OnSystem
from skelgen.cli.model_template import (
    SystemName,
    Template,
    TypedFacts,
    answer_without_runs,
    family_choice,
    template_rows,
)
from skelgen.cli.options import AllowCommand, Json, StorePlace, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store import App, Conditions

if TYPE_CHECKING:
    from skelgen.models.model import Model, ModelPrediction
    from skelgen.pipeline.model_loads import LoadedPrediction

#: Larger errors of a fit are all the same to people [1].
_MOST_SHOWN = 10.0


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
    family: FamilyName = "",
    template: Template = "",
    fact: TypedFacts = None,
    system: SystemName = "",
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
    author: KeptAuthor = "",
    parts: ByParts = None,
    quantity: QuantityName = "time",
    reference: ReferenceRanks = "",
    on: OnSystem = "",
    page: PageFile = None,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Fit a model to runs, and say its formula."""
    from skelgen.pipeline.model_keep import fit_and_keep
    from skelgen.pipeline.model_pages import check_page, write_model_page
    from skelgen.pipeline.model_quantity import asked_quantity, model_of_quantity

    check_page(page)
    form = family_choice(family, template, fact, system, place)
    what = asked_quantity(quantity, reference)
    source = form.of(run_source(runs, place, app, where, columns, inputs, system=on))
    with progress_bar() as progress:
        done = fit_and_keep(
            *(source, form.name, name),
            author=author,
            progress=progress,
            parts=parts,
            settings=form.settings,
        )
    found, shown = done.model, model_of_quantity(done, what)
    if output is not None:
        from skelgen.models.model_file import write_model

        write_model(found, output)
    if page is not None:
        write_model_page(page, done, shown, source, what)
    if json:
        from skelgen.results.model_details import OtherSystems
        from skelgen.results.model_fits import ModelFitResult

        others = OtherSystems.of(done.carried, on)
        print_result(ModelFitResult.of_fit(done, shown, file=output, system=others))
        return
    if format_ is not FormulaFormat.TEXT:
        from skelgen.models.formulas import to_latex

        latex = format_ is FormulaFormat.LATEX
        say((to_latex(shown.formula) if latex else python_text(shown)).rstrip())
        return
    print_facts(
        [*made_rows(shown), *_about(found), *kept_row(done.kept), *page_row(page)]
    )
    for note in found.notes:
        say(note)
    print_doubts(shown.doubts)


def _about(found: Model) -> list[tuple[str, str]]:
    """Return what people are told of a model."""
    noise = math.expm1(found.scale.noise)
    error = f"{noise:.1%}" if noise < _MOST_SHOWN else f"above {_MOST_SHOWN:.0%}"
    ranges = ", ".join(
        f"{one.input.name} {one.low:g} to {one.high:g}" for one in found.inputs
    )
    rows = [
        (found.quantity, f"{found.text}  [{found.unit}]"),
        ("family", found.family),
        ("runs", f"{found.scale.runs}: {ranges}"),
        ("error", f"{error} of a run, half of them are nearer"),
    ]
    rows += [*template_rows(found), *fitted_parts(found)]
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
    family: FamilyName = "",
    template: Template = "",
    fact: TypedFacts = None,
    system: SystemName = "",
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
    quantity: QuantityName = "time",
    reference: ReferenceRanks = "",
    on: OnSystem = "",
    page: PageFile = None,
    place: StorePlace = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say how long a run will take that nobody has made, with an interval."""
    from skelgen.pipeline.model import asked_values
    from skelgen.pipeline.model_keep import asked_model, keep_prediction
    from skelgen.pipeline.model_pages import check_page, write_model_page
    from skelgen.pipeline.model_places import doubted_elsewhere, places_of
    from skelgen.pipeline.model_quantity import asked_quantity, predict_quantity

    check_page(page)
    asked = asked_values(at, "--at")
    what = asked_quantity(quantity, reference)
    check_format(format_, what)
    under = load_request(
        *(load, nodes, series, place, run, begin, end),
        *(skeleton, budget, allow_command),
        of_kept=bool(model_name),
    )
    form = family_choice(family, template, fact, system, place)
    slurm = format_ is AnswerFormat.SLURM
    if form.settings and not (runs or app or model_name):
        answer_without_runs(
            form,
            asked,
            {
                "--load and --skeleton": load or nodes or skeleton,
                "--format slurm": slurm,
                "--quantity": not what.is_time,
                "--on": on,
                "--page": page,
                "--where": where,
            },
            json=json,
            strict=strict,
        )
        return
    source = form.of(
        run_source(runs, place, app, where, columns, inputs, model_name, system=on)
    )
    with progress_bar() as progress:
        done = asked_model(
            *(source, form.name, model_name), progress=progress, settings=form.settings
        )
        given = predict_quantity(done, asked, what, under, progress=progress)
    found, answer = given.model, given.answer
    if done.kept is not None and under.names:
        places = places_of(place, done.kept.origin)
        answer = doubted_elsewhere(answer, places, under.names)
    if what.is_time and not on:  # predictions are not paired by system
        keep_prediction(place, done, answer.prediction, asked, application=app or "")
    said = answer.prediction
    if page is not None:
        write_model_page(page, done, found, source, what, said)
    if json:
        from skelgen.results.model_answers import ModelPredictResult
        from skelgen.results.model_details import OtherSystems

        others = OtherSystems.of(done.carried, on)
        print_result(ModelPredictResult.of(found, answer, system=others))
    elif slurm:
        _tell_sbatch(said)
    else:
        _tell(found, answer, page)
    check_trust(said.doubts, strict=strict)


def _tell_sbatch(said: ModelPrediction) -> None:
    """Print the option of sbatch: the end of the interval, in whole minutes."""
    minutes = max(1, math.ceil(said.interval.p95 / 60))
    say(f"--time={minutes // 60:02}:{minutes % 60:02}:00")
    for one in said.doubts:
        say(f"skelgen: warning: do not trust: {one}", err=True)


def _tell(found: Model, answer: LoadedPrediction, page: Path | None) -> None:
    said = answer.prediction
    at = ", ".join(f"{name}={value:g}" for name, value in said.at)
    rows = [
        (found.quantity, interval_text(found, said.interval)),
        ("at", at),
        *quantity_rows(found),
        ("load", load_text(found, answer.load)),
        formula_row(found),
        *template_rows(found),
        ("verdict", said.verdict),
        *page_row(page),
    ]
    print_facts([*rows, *part_rows(found, dict(said.at))])
    for note in found.notes:
        say(note)
    print_doubts(said.doubts)


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
model.command(
    epilog="Example: [b]skelgen model couple kernels.csv --at n=64,ranks=2[/b]"
)(couple)
model.command(epilog="Example: [b]skelgen model compare runs.csv[/b]")(compare)
