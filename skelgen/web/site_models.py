"""Pages of models that a store keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError
from skelgen.models.model import InputRange, Model, predict_with
from skelgen.store.rows import Inputs
from skelgen.units import format_seconds
from skelgen.web.model_links import model_links, model_questions
from skelgen.web.model_picture import picture_size
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Prose,
    SitePage,
    SitePicture,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    inputs_text,
    value,
)
from skelgen.web.site_formulas import formula_block

#: Values of each input in the table next to the picture.
_VALUES = 9


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model of a store.

    Attributes
    ----------
    identity, name, application, author : str
    fitted : float
        Seconds since 1970 in UTC [s].
    runs : int
        That it was fitted to.
    runs_now : int or None
        Runs of the store now, where these are not the same; None: they are, or nobody
        knows.
    fixed : tuple of (str, float or str)
        Inputs that were the same in all of them.
    about : str
        What these runs have in common: a system, or conditions.
    model : Model
    """

    identity: str
    name: str
    application: str
    author: str
    fitted: float
    runs: int
    runs_now: int | None
    fixed: Inputs
    about: str
    model: Model


def quantity_text(number: float, unit: str) -> str:
    """Return a value of a model for people."""
    return format_seconds(number) if unit == "s" else f"{number:.4g} {unit}".strip()


def models_page(found: Sequence[ModelEntry], faults: Sequence[str] = ()) -> SitePage:
    """Return the page of all models, and why some cannot be shown."""
    doubts: list[Block] = [model_links("/models"), model_questions()]
    doubts += [Prose(one, "doubt") for one in faults]
    if not (found or faults):
        advice: tuple[Block, ...] = (
            *doubts,
            Prose("Fit one to the runs of an application, and keep it:"),
            CommandLine("skelgen model fit --app heat --name heat"),
        )
        return SitePage("Models", advice, "/models", "There are no models yet.")
    head = (
        ColumnHead("model"),
        ColumnHead("application"),
        ColumnHead("of"),
        ColumnHead("family"),
        ColumnHead("runs", number=True),
        ColumnHead("fitted"),
        ColumnHead("by"),
        ColumnHead("formula"),
    )
    rows = tuple(
        (
            TableCell(one.name, address("models", one.identity)),
            *cells(one.application, one.about, one.model.family, str(one.runs)),
            *cells(date(one.fitted), one.author, one.model.text),
        )
        for one in found
    )
    return SitePage("Models", (*doubts, SiteTable("Models", head, rows)), "/models")


def model_page(one: ModelEntry, more: Sequence[Block] = ()) -> SitePage:
    """Return the page of a model: formula, ranges, picture, doubts.

    Parameters
    ----------
    one : ModelEntry
    more : sequence of Block
        What can be done with it.
    """
    model = one.model
    blocks: list[Block] = [formula_block(model.quantity, model.formula, model.unit)]
    if one.runs_now is not None:
        blocks.append(
            Prose(
                f"Fit it again: the store has {one.runs_now} runs now, it was fitted "
                f"to {one.runs}.",
                "doubt",
            )
        )
    blocks += [Prose(f"Do not trust: {each}", "doubt") for each in model.doubts]
    blocks += [Prose(each) for each in model.notes]
    blocks.append(FactList(_facts(one)))
    blocks.append(ranges_table(model))
    blocks.append(
        SitePicture(
            address("models", one.identity, "picture.svg"),
            f"{model.quantity} over each input, with the 90 % interval and the runs",
            model_curves(model),
            picture_size(model),
        )
    )
    fields = (
        FormField("model", "Model", one.name),
        FormField("app", "Application", one.application),
        FormField("at", "At", _example(model)),
        FormField("load", "Load that others leave", "", "cpu=0.5,bandwidth=0.8"),
    )
    blocks += [Heading("Ask it"), Form("/ask", fields, "Ask"), *more]
    blocks += [Heading("Files"), _files(one)]
    lead = f"A model of {one.application}, fitted to {one.runs} runs."
    return SitePage(f"Model {one.name}", tuple(blocks), "/models", lead)


def _files(one: ModelEntry) -> FactList:
    """Return links to the model as files."""
    return FactList(
        tuple(
            (what, TableCell(name, address("models", one.identity, name)))
            for what, name in (
                ("for skelgen model predict", "model.json"),
                ("a page of one file", "model.html"),
                ("the picture", "model.svg"),
            )
        )
    )


def _facts(one: ModelEntry) -> tuple[tuple[str, TableCell], ...]:
    rows = (
        ("application", one.application, address("runs", app=one.application)),
        ("of", one.about or "all runs", ""),
        ("family", one.model.family, ""),
        ("median error of a run", model_error(one.model), ""),
        ("fitted", date(one.fitted), ""),
        ("by", one.author, ""),
        ("the same in all runs", inputs_text(one.fixed), ""),
        ("id", one.identity, ""),
    )
    return tuple((name, TableCell(text, link)) for name, text, link in rows if text)


def model_error(model: Model) -> str:
    """Return the error of a run that half of them are below, for people."""
    return f"{math.expm1(min(model.scale.noise, 500.0)):.1%}"


def ranges_table(model: Model) -> SiteTable:
    """Return the table of the inputs and the range of the runs."""
    head = (
        ColumnHead("input"),
        ColumnHead("from", True),
        ColumnHead("to", True),
        ColumnHead("meaning"),
    )
    rows = tuple(
        cells(one.input.name, value(one.low), value(one.high), str(one.input.meaning))
        for one in model.inputs
    )
    return SiteTable("Range of the runs", head, rows)


def model_curves(model: Model, asked: Mapping[str, float] | None = None) -> SiteTable:
    """Return what a model says over each of its inputs, as a table.

    Parameters
    ----------
    model : Model
    asked : mapping of str to float, optional
        Values of the inputs that do not vary, and ends beyond the runs.
    """
    head = (
        ColumnHead("input"),
        ColumnHead("value", True),
        ColumnHead(model.quantity, True),
        ColumnHead("5 %", True),
        ColumnHead("95 %", True),
    )
    rows = tuple(row for one in model.inputs for row in _curve(model, one, asked or {}))
    told = "the value that is asked" if asked else "their largest value"
    several = f"; other inputs have {told}" if len(model.inputs) > 1 else ""
    return SiteTable(f"The curve{several}", head, rows)


def _curve(
    model: Model, one: InputRange, asked: Mapping[str, float]
) -> list[tuple[TableCell, ...]]:
    fixed = {each.input.name: each.high for each in model.inputs} | dict(asked)
    found = []
    end = max(one.high, asked.get(one.input.name, one.high))
    for number in np.unique(np.linspace(one.low, end, _VALUES)).tolist():
        try:
            said = predict_with(model, {**fixed, one.input.name: number}).interval
        except InputError:  # the formula gives no answer there
            continue
        texts = (
            quantity_text(each, model.unit) for each in (said.p50, said.p5, said.p95)
        )
        found.append(cells(one.input.name, value(number), *texts))
    return found


def _example(model: Model) -> str:
    extents = [one for one in model.inputs if not one.input.meaning.available]
    return ",".join(f"{one.input.name}={one.high:g}" for one in extents)
