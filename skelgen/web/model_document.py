"""One self-contained page of a model or a study: answer, formula, pictures, tables."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.models.model import Model, ModelPrediction
from skelgen.models.residuals import residuals_of
from skelgen.models.runs import RunTable
from skelgen.units import format_seconds
from skelgen.web.fill import filled
from skelgen.web.model_picture import render_model
from skelgen.web.residual_picture import render_residuals
from skelgen.web.site import ColumnHead, FormulaShown, SiteTable, cells, value
from skelgen.web.site_fit import residual_table
from skelgen.web.site_formulas import formula_block
from skelgen.web.site_models import model_curves, quantity_text, ranges_table
from skelgen.web.workload_picture import render_workload
from skelgen.workload import Study, WorkloadTime

#: How a page begins that was made here: no other file is replaced by one.
DOCUMENT_BEGINS = re.compile(
    rb'<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*'
    rb'<meta name="generator" content="skelgen">'
)


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """What the page shows.

    Attributes
    ----------
    title, about : str
    headline, verdict : str
        The answer in one sentence; verdict is empty where nothing was asked.
    doubts, notes : tuple of str
    formula : FormulaShown or None
    pictures : tuple of (str, str)
        SVG that was drawn here, and what it shows.
    tables : tuple of SiteTable
    facts : tuple of (str, str)
    """

    title: str
    about: str
    headline: str
    verdict: str
    doubts: tuple[str, ...]
    notes: tuple[str, ...]
    formula: FormulaShown | None
    pictures: tuple[tuple[str, str], ...]
    tables: tuple[SiteTable, ...]
    facts: tuple[tuple[str, str], ...]


def render_model_page(
    model: Model,
    runs: RunTable | None = None,
    said: ModelPrediction | None = None,
    *,
    title: str = "Model",
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a page of a model as HTML that loads nothing.

    Parameters
    ----------
    model : Model
    runs : RunTable, optional
        That it was fitted to, or others: drawn as points, with their errors.
    said : ModelPrediction, optional
        An answer of the model: it stands on top and is marked in the picture.
    title : str
    facts : sequence of (str, str)
        Where it comes from, for the end of the page.

    Raises
    ------
    InputError
        When the model gives no answer somewhere in its picture.
    """
    asked = None if said is None else dict(said.at)
    doubts = model.doubts if said is None else said.doubts
    tables = [ranges_table(model), model_curves(model, asked)]
    picture = f"{model.quantity} over each input, with the 90 % interval and the runs"
    pictures = [(render_model(model, runs, asked), picture)]
    off = () if runs is None else residuals_of(model, runs)
    if off:
        tables.insert(0, residual_table(off, model.unit))
        text = "residuals: by how much runs are above and below the curve"
        pictures.append((render_residuals(off), text))
    page = DocumentPage(
        title=title,
        about=f"A model of {model.scale.runs} runs, family {model.family}",
        headline=_headline(model, said),
        verdict="" if said is None else said.verdict,
        doubts=tuple(map(str, doubts)),
        notes=model.notes,
        formula=formula_block(model.quantity, model.formula, model.unit),
        pictures=tuple(pictures),
        tables=tuple(tables),
        facts=(*_facts(model), *facts),
    )
    return render_document(page)


def render_document(page: DocumentPage) -> str:
    """Lay a page out as one HTML document without outside resources."""
    return filled("document.html.j2", page=page)


def _headline(model: Model, said: ModelPrediction | None) -> str:
    if said is None:
        return f"{model.quantity} = {model.text} [{model.unit}]"
    at = _written(dict(said.at))
    one = said.interval
    middle, low, high = (
        quantity_text(each, model.unit) for each in (one.p50, one.p5, one.p95)
    )
    what = "" if model.unit == "s" else f"{model.quantity} "
    return f"{what}{middle} at {at} ({low} to {high})"


def _facts(model: Model) -> list[tuple[str, str]]:
    error = math.expm1(min(model.scale.noise, 500.0))
    facts = [
        ("family", model.family),
        ("runs", str(model.scale.runs)),
        ("median error of a run", f"{error:.1%}"),
    ]
    if model.dropped:
        facts.append(("left out", ", ".join(model.dropped)))
    return facts


def render_study_page(
    study: Study, found: WorkloadTime, *, title: str, facts: Sequence[tuple[str, str]]
) -> str:
    """Return a page of a workload study with its newest answer, as HTML.

    Parameters
    ----------
    study : Study
    found : WorkloadTime
        Predicted from it.
    title : str
    facts : sequence of (str, str)
    """
    time_s = found.time_s
    times = [format_seconds(one) for one in (time_s.p50, time_s.p5, time_s.p95)]
    picture = "time and weight of each phase over the workload, with recorded points"
    page = DocumentPage(
        title=title,
        about=f"Workload study of {len(study.points)} recorded workloads",
        headline=f"{times[0]} at {_written(found.at)} ({times[1]} to {times[2]})",
        verdict=found.verdict,
        doubts=tuple(map(str, found.doubts)),
        notes=(),
        formula=None,
        pictures=((render_workload(found), picture),),
        tables=(_points(study, found), _phases(found)),
        facts=tuple(facts),
    )
    return render_document(page)


def _points(study: Study, found: WorkloadTime) -> SiteTable:
    """Return the recorded workloads with what the functions say of them."""
    names = sorted({name for one in study.points for name, _ in one.at})
    rows = []
    for point in study.points:
        at = dict(point.at)
        said = [
            float(one.fits.time.at([at])[0] * one.fits.weight.at([at])[0])
            for one in found.parts
            if {*one.fits.time.names, *one.fits.weight.names} <= {*at}
        ]
        total = math.fsum(said) if len(said) == len(found.parts) else math.nan
        whole = math.isfinite(total)
        rows.append(
            cells(
                *(value(at.get(name)) for name in names),
                point.run,
                format_seconds(point.application_s),
                format_seconds(total) if whole else "",
                f"{total / point.application_s - 1:+.1%}" if whole else "",
            )
        )
    head = (
        *(ColumnHead(name, number=True) for name in names),
        ColumnHead("run"),
        ColumnHead("recorded", number=True),
        ColumnHead("functions", number=True),
        ColumnHead("error", number=True),
    )
    return SiteTable("Recorded workloads", head, tuple(rows))


def _phases(found: WorkloadTime) -> SiteTable:
    head = (
        ColumnHead("phase"),
        ColumnHead("weight", number=True),
        ColumnHead("time", number=True),
        ColumnHead("share", number=True),
        ColumnHead("error left out", number=True),
        ColumnHead("time of one [s]"),
        ColumnHead("weight as a function"),
        ColumnHead("calls"),
    )
    rows = tuple(
        cells(
            str(number) if one.part.key else "rest",
            f"{one.weight.interval.p50:.0f}",
            format_seconds(one.time.interval.p50),
            f"{one.total_s / found.time_s.p50:.1%}",
            "" if math.isnan(one.fits.time.error) else f"{one.fits.time.error:.1%}",
            one.fits.time.text,
            one.fits.weight.text,
            " ".join(name.removeprefix("MPI_") for name in one.part.calls[:6]),
        )
        for number, one in enumerate(found.parts, start=1)
    )
    return SiteTable("Phases at the wanted workload", head, rows)


def _written(at: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={number:g}" for name, number in at.items())
