"""The commands of models: fit, ask, compare."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skelgen.cli.bar import progress_bar
from skelgen.cli.model_checking import check
from skelgen.cli.model_coupling import couple
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
    load_facts,
    load_request,
    load_text,
)
from skelgen.cli.model_next import next_
from skelgen.cli.model_parts import ByParts, fitted_parts, part_facts, part_rows
from skelgen.cli.model_quantity import (
    QuantityName,
    ReferenceRanks,
    check_format,
    formula_row,
    interval_text,
    made_facts,
    made_rows,
    python_text,
    quantity_facts,
    quantity_rows,
)
from skelgen.cli.model_runs import (
    Columns,
    FamilyName,
    InputNames,
    Source,
    run_source,
)
from skelgen.cli.model_systems import OnSystem, system_facts
from skelgen.cli.model_template import (
    SystemName,
    Template,
    TypedFacts,
    answer_without_runs,
    family_choice,
    template_facts,
    template_rows,
)
from skelgen.cli.options import AllowCommand, Json, StorePlace, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_json,
    print_table,
    say,
    trust_facts,
)
from skelgen.cli.storing import App, Conditions
from skelgen.pipeline import modelling
from skelgen.pipeline.model_keeping import (
    asked_model,
    fit_and_keep,
    keep_prediction,
)
from skelgen.pipeline.model_quantity import (
    asked_quantity,
    model_of_quantity,
    predict_quantity,
)

if TYPE_CHECKING:
    from skelgen.models.comparing import FamilyScore
    from skelgen.models.model import Model
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
    parts: ByParts = None,
    quantity: QuantityName = "time",
    reference: ReferenceRanks = "",
    on: OnSystem = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Fit a model to runs, and say its formula."""
    form = family_choice(family, template, fact, system, place)
    what = asked_quantity(quantity, reference)
    source = form.of(run_source(runs, place, app, where, columns, inputs, system=on))
    with progress_bar() as progress:
        done = fit_and_keep(
            *(source, form.name, name),
            progress=progress,
            parts=parts,
            settings=form.settings,
        )
    found, shown = done.model, model_of_quantity(done, what)
    from skelgen.models.model_file import model_facts, write_model

    if output is not None:
        write_model(found, output)
    if json:
        file = str(output) if output else None
        facts = template_facts(found.template) | made_facts(shown)
        facts |= {"file": file, "kept": kept_facts(done.kept)}
        facts["system"] = system_facts(done.carried, on)
        print_json(model_facts(found) | facts)
        return
    if format_ is not FormulaFormat.TEXT:
        from skelgen.models.formulas import to_latex

        latex = format_ is FormulaFormat.LATEX
        say((to_latex(shown.formula) if latex else python_text(shown)).rstrip())
        return
    print_facts([*made_rows(shown), *_about(found), *kept_row(done.kept)])
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
    place: StorePlace = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Say how long a run will take that nobody has made, with an interval."""
    asked = modelling.asked_values(at, "--at")
    what = asked_quantity(quantity, reference)
    check_format(format_, what)
    under = load_request(
        *(load, nodes, series, place, run, begin, end),
        *(skeleton, budget, allow_command),
    )
    form = family_choice(family, template, fact, system, place)
    slurm = format_ is AnswerFormat.SLURM
    if form.settings and not (runs or app or model_name):
        with_load = bool(load or nodes or skeleton)
        answer_without_runs(
            form, asked, with_load=with_load, slurm=slurm, json=json, strict=strict
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
    if what.is_time:
        keep_prediction(place, done, answer.prediction, asked, application=app or "")
    said = answer.prediction
    if json:
        print_json(_said(found, answer) | {"system": system_facts(done.carried, on)})
    elif slurm:
        minutes = max(1, math.ceil(said.interval.p95 / 60))
        say(f"--time={minutes // 60:02}:{minutes % 60:02}:00")
        for one in said.doubts:
            say(f"skelgen: warning: do not trust: {one}", err=True)
    else:
        _tell(found, answer)
    check_trust(said.doubts, strict=strict)


def _said(found: Model, answer: LoadedPrediction) -> dict[str, Any]:
    said = answer.prediction
    at = dict(said.at)
    return {
        "at": at,
        "value": said.interval.p50,
        **quantity_facts(found),
        "unit": found.unit,
        "p5": said.interval.p5,
        "p50": said.interval.p50,
        "p95": said.interval.p95,
        **trust_facts(said.doubts),
        "formula": found.text,
        "family": found.family,
        "load": load_facts(answer.load),
        "range": {
            one.input.name: {
                "low": one.low,
                "high": one.high,
                "factor": math.exp(one.beyond(at[one.input.name])),
            }
            for one in found.inputs
        },
        "parts": part_facts(found, at),
        **template_facts(found.template),
    }


def _tell(found: Model, answer: LoadedPrediction) -> None:
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
    what = asked_quantity(quantity, reference)
    told = "template" if "template" in (family or ()) else ""
    form = family_choice(told, template, fact, system, place)
    source = form.of(run_source(runs, place, app, where, columns, inputs))
    formulas = {form.name: form.settings} if form.settings else None
    with progress_bar() as progress:
        scores = modelling.model_compare(
            source, family or (), what, progress=progress, told=formulas
        )
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
model.command(
    epilog="Example: [b]skelgen model couple kernels.csv --at n=64,ranks=2[/b]"
)(couple)
