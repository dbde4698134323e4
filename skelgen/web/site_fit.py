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
    Cell,
    Column,
    CommandLine,
    FactList,
    Heading,
    Prose,
    SitePicture,
    SiteTable,
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
        Addresses.
    keep, compare : str
        Addresses that keep it and compare families.
    chosen : tuple of (str, str)
        What these are sent.
    name : str
        Proposed for the model.
    application : str
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
    residual_picture: str
    keep: str
    compare: str
    chosen: tuple[tuple[str, str], ...]
    name: str
    application: str
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
    blocks.append(
        SitePicture(
            one.picture,
            f"{model.quantity}: curve, 90 % interval and runs",
            model_curves(model, dict(one.asked)),
            picture_size(model, marked=bool(one.asked)),
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
    blocks.append(FactList(_facts(one)))
    blocks += _next(one)
    blocks += _buttons(one)
    blocks.append(Heading("The same in a terminal"))
    for what, command in one.commands.items():
        blocks += [Prose(f"{what}:"), CommandLine(command)]
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


def _facts(one: FitShown) -> tuple[tuple[str, Cell], ...]:
    rows = (
        ("family", one.model.family),
        ("runs", str(one.runs)),
        ("error of a run, half are nearer", model_error(one.times)),
        ("the same in all runs", one.fixed),
        (
            "coefficients",
            ", ".join(f"{name} {v:.6g}" for name, v in one.times.coefficients),
        ),
    )
    return tuple((name, Cell(text)) for name, text in rows if text)


def residual_table(residuals: Sequence[Residual], unit: str) -> SiteTable:
    """Return by how much runs are off a model, those most off first."""
    names = [name for name, _ in residuals[0].at]
    head = (
        *(Column(name, True) for name in names),
        Column("measured", True),
        Column("model", True),
        Column("off", True),
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
    head = (
        Column("run"),
        *(Column(t, True) for t in ("interval now", "then", "takes")),
        Column("because"),
    )
    rows = tuple(
        cells(
            inputs_text(tuple(each.run.items())),
            f"±{share(each.before)}",
            f"±{share(each.before - each.gain)}",
            format_seconds(each.time_s),
            each.reason,
        )
        for each in one.next_runs
    )
    blocks: list[Block] = [
        Heading("A run that would tell most"),
        SiteTable("The run that narrows intervals most for its cost", head, rows),
    ]
    return [*blocks, _add_here(one)] if one.may_add else blocks


def _add_here(one: FitShown) -> StepForm:
    best = dict(one.next_runs[0].run)
    ranks = best.pop("ranks", float(one.ranks))
    best.pop("nodes", None)
    best.pop("ranks_per_node", None)
    inputs = [one.fixed] if one.fixed else []
    inputs += [f"{name}={v:g}" for name, v in best.items()]
    fields = (
        StepField("inputs", "Inputs", ",".join(inputs).replace(", ", ",")),
        StepField("ranks", "Ranks", f"{ranks:g}" if ranks else ""),
        StepField("time", "It took", "", "12.5s, 3min"),
    )
    hidden = (("app", one.application), ("status", "ok"))
    return StepForm(
        "/runs", "Add this run", "When you have made it", fields, hidden, changes=True
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
