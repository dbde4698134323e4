"""What is shown of a model that was fitted and is not kept yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.models.model import Model, ModelPrediction
from skelgen.models.next_run import NextRun
from skelgen.models.residuals import Residual
from skelgen.trust import verdict_of
from skelgen.units import format_seconds
from skelgen.web.model_picture import picture_size
from skelgen.web.residual_picture import residual_size
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Heading,
    Prose,
    SitePicture,
    SiteTable,
    TableCell,
    cells,
    inputs_text,
    share,
    value,
)
from skelgen.web.site_formulas import formula_block
from skelgen.web.site_models import model_curves, model_error, quantity_text
from skelgen.web.site_steps import StepField, StepForm

#: Rows of the table of residuals, those that are most off first.
_MOST_RESIDUALS = 100
#: A run that takes less is one of which the formula says nothing [s].
_LEAST_S = 1e-9


@dataclass(frozen=True, slots=True)
class FitShown:
    """A model that was fitted, and what may be done with it.

    Attributes
    ----------
    model : Model
        Of the quantity.
    times : Model
        That it is made of: what is kept.
    runs : int
    asked : tuple of (str, float)
        What is predicted.
    said : ModelPrediction or None
    problem : str
        Why there is no prediction.
    residuals : tuple of Residual
    next_runs : sequence of NextRun
    fixed : str
        Inputs that are the same in all runs, as people type them.
    ranks : int
        Likewise; 0: they differ, or nobody knows.
    commands : mapping of str to str
        What gives the same in a terminal, by what it does.
    picture, residual_picture : str
        Addresses; the first is empty where there is nothing to draw.
    marked : bool
        Whether what is asked is in the picture.
    keep, compare : str
        Addresses that keep it and compare families.
    chosen : tuple of (str, str)
        What these are sent.
    name : str
        Proposed for the model.
    application, system : str
        The second is empty where the runs are not of one.
    may_add : bool
    """

    model: Model
    times: Model
    runs: int
    asked: tuple[tuple[str, float], ...]
    said: ModelPrediction | None
    problem: str
    residuals: tuple[Residual, ...]
    next_runs: Sequence[NextRun]
    fixed: str
    ranks: int
    commands: Mapping[str, str]
    picture: str
    marked: bool
    residual_picture: str
    keep: str
    compare: str
    chosen: tuple[tuple[str, str], ...]
    name: str
    application: str
    system: str
    may_add: bool


def fit_blocks(one: FitShown) -> list[Block]:
    """Return the result of the steps of modelling."""
    model = one.model
    blocks: list[Block] = [Heading("Result"), *_said(one)]
    blocks.append(formula_block(model.quantity, model.formula, model.unit))
    if model.quantity != one.times.quantity:
        blocks.append(Prose("It is made of the model of times:"))
        blocks.append(formula_block("time", one.times.formula, one.times.unit))
    doubts = one.said.doubts if one.said else model.doubts
    blocks += [Prose(f"Do not trust: {each}", "doubt") for each in doubts]
    blocks += [Prose(each) for each in model.notes]
    blocks += _pictures(one)
    blocks.append(FactList(_facts(one)))
    blocks += _next(one)
    blocks += _buttons(one)
    blocks.append(Heading("The same in a terminal"))
    for what, command in one.commands.items():
        blocks += [Prose(f"{what}:"), CommandLine(command)]
    return blocks


def _pictures(one: FitShown) -> list[Block]:
    model = one.model
    blocks: list[Block] = []
    if one.picture:
        blocks.append(
            SitePicture(
                one.picture,
                f"{model.quantity}: curve, 90 % interval and runs",
                model_curves(model, dict(one.asked)),
                picture_size(model, marked=one.marked),
            )
        )
    if one.residuals:
        blocks.append(
            SitePicture(
                one.residual_picture,
                "residuals: by how much runs are above and below the curve",
                residual_table(one.residuals, model.unit),
                residual_size(one.residuals),
            )
        )
    return blocks


def _said(one: FitShown) -> list[Block]:
    if one.said is None:
        return [Prose(one.problem, "doubt")] if one.problem else []
    interval = one.said.interval
    middle, low, high = (
        quantity_text(each, one.model.unit)
        for each in (interval.p50, interval.p5, interval.p95)
    )
    told = f"At {inputs_text(one.asked)}: {middle} (90 %: {low} to {high}); "
    return [
        Prose(
            f"{told}{verdict_of(one.said.doubts)}.",
            "doubt" if one.said.doubts else "good",
        )
    ]


def _facts(one: FitShown) -> tuple[tuple[str, TableCell], ...]:
    rows = (
        ("family", one.model.family),
        ("runs", str(one.runs)),
        ("median error of a run", model_error(one.times)),
        ("the same in all runs", one.fixed),
        (
            "coefficients",
            ", ".join(f"{name} {v:.6g}" for name, v in one.times.coefficients),
        ),
    )
    return tuple((name, TableCell(text)) for name, text in rows if text)


def residual_table(residuals: Sequence[Residual], unit: str) -> SiteTable:
    """Return by how much runs are off a model, those most off first."""
    names = [name for name, _ in residuals[0].at]
    head = (
        *(ColumnHead(name, True) for name in names),
        ColumnHead("measured", True),
        ColumnHead("model", True),
        ColumnHead("off", True),
    )
    found = sorted(residuals, key=lambda each: -abs(each.error))
    rows = tuple(
        cells(
            *(value(v) for _, v in each.at),
            quantity_text(each.measured, unit),
            quantity_text(each.said, unit),
            f"{each.error:+.1%}",
        )
        for each in found[:_MOST_RESIDUALS]
    )
    caption = "Runs, those that are most off first"
    if len(found) > _MOST_RESIDUALS:
        caption += f" ({_MOST_RESIDUALS} of {len(found)})"
    return SiteTable(caption, head, rows)


def _next(one: FitShown) -> list[Block]:
    """Return the run to make next, and where to type it when it is made."""
    if not one.next_runs:
        return []
    blocks = next_runs_block(one.next_runs)
    if not one.may_add:
        return blocks
    best = one.next_runs[0].run
    form = add_here(best, one.application, one.fixed, one.ranks, one.system)
    return [*blocks, form]


def next_runs_block(found: Sequence[NextRun]) -> list[Block]:
    """Return runs that would narrow intervals, as a table with a heading."""
    head = (
        ColumnHead("run"),
        *(ColumnHead(t, True) for t in ("interval now", "then", "takes")),
        ColumnHead("because"),
    )
    rows = tuple(
        cells(
            inputs_text(tuple(each.run.items())),
            f"±{share(each.before)}",
            f"±{share(each.before - each.gain)}",
            format_seconds(each.time_s) if each.time_s > _LEAST_S else "not known",
            each.reason,
        )
        for each in found
    )
    return [
        Heading("The most useful next run"),
        SiteTable(
            "The run that narrows the interval most for its cost comes first",
            head,
            rows,
        ),
    ]


def add_here(
    run: Mapping[str, float], application: str, fixed: str, ranks: int, system: str
) -> StepForm:
    """Return the form for a run when it is made.

    Parameters
    ----------
    run : mapping of str to float
        Its inputs.
    application : str
    fixed : str
        Further inputs, as people type them.
    ranks : int
        Where `run` does not say it; 0: not known.
    system : str
        That it is made on; empty: not known.
    """
    best = dict(run)
    number = best.pop("ranks", float(ranks))
    for name in ("nodes", "ranks_per_node"):
        best.pop(name, None)
    inputs = [fixed.replace(", ", ",")] if fixed else []
    inputs += [f"{name}={v:g}" for name, v in best.items()]
    fields: tuple[StepField, ...] = (
        StepField("inputs", "Inputs", ",".join(inputs)),
        StepField("ranks", "Ranks", f"{number:g}" if number else ""),
        StepField("time", "It took", "", "12.5s, 3min"),
    )
    if system:
        fields = (*fields, StepField("system", "System", system))
    hidden = (("app", application), ("status", "ok"))
    return StepForm(
        "/runs", "Add this run", "After you made it", fields, hidden, changes=True
    )


def _buttons(one: FitShown) -> list[Block]:
    if not one.may_add:
        return []
    name = StepField("name", "Name", one.name)
    kept = "Keep it: it is found under Models, and can be asked from anywhere."
    if one.model.quantity != one.times.quantity:
        kept += " What is kept is the model of times."
    return [
        StepForm(
            one.keep, "Keep as a model", "Keep", (name,), one.chosen, left=kept,
            changes=True,
        ),
        StepForm(
            one.compare, "Compare families", "Is another family better?", (),
            one.chosen, changes=True,
            left="Each family predicts the larger runs from the smaller ones: a job.",
        ),
    ]  # fmt: skip


def too_long_blocks(one: StepForm, runs: int) -> list[Block]:
    """Return what is shown in the place of a result that takes long."""
    told = (
        f"Fitting {runs} runs takes longer than a page may: keep the model, which is "
    )
    return [Heading("Result"), Prose(f"{told}done as a job."), one]
