"""The page of a template over its inputs: two steps, and what it says.

References
----------
Wu, Taylor, Paris 2005, section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from skelgen.models.families.contract import TemplateForm
from skelgen.models.model import Model
from skelgen.trust import Doubt, Interval, verdict_of
from skelgen.web import curve, turned_surface
from skelgen.web.model_links import model_links
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    DrawingShown,
    FactList,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    cells,
    value,
)
from skelgen.web.site_formulas import formula_block, short_fact
from skelgen.web.site_models import quantity_text
from skelgen.web.site_steps import Option, StepDone, StepField, StepForm
from skelgen.web.site_templates import TemplateShown, template_blocks

#: The page, and rows of tables next to its pictures.
TEMPLATE_PAGE = "/model/template"
_ROWS = 6
#: What fields of values are called.
AT = "at."


@dataclass(frozen=True, slots=True)
class TemplateSteps:
    """What was chosen, and what can be.

    Attributes
    ----------
    chosen : dict of str to str
        Fields of the address.
    applications, systems : tuple of str
    templates : tuple of (str, str)
        Identity and name of those that are kept.
    shown : TemplateShown or None
        The template, where one is chosen.
    wanted : tuple of (str, str)
        Names that need a value, and what their runs have.
    back : str
        The address of step 1 with what was chosen.
    problem : str
        What is wrong, and what to do.
    """

    chosen: dict[str, str]
    applications: tuple[str, ...]
    systems: tuple[str, ...]
    templates: tuple[tuple[str, str], ...]
    shown: TemplateShown | None = None
    wanted: tuple[tuple[str, str], ...] = ()
    back: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SurfaceNumbers:
    """What a template says over two inputs: a row for each y, nan where no time is."""

    names: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class TemplateResult:
    """What a template says, as the page shows it.

    Attributes
    ----------
    form : TemplateForm
    model : Model or None
        Fitted to runs; None: it was computed.
    at : tuple of (str, float)
        Where its value is from.
    over : str
        The input that has a range, where there is one only.
    value : float
    interval : Interval or None
    unit, command : str
    doubts : tuple of Doubt
    spots : tuple of CurveSpot
    surface : SurfaceNumbers or None
    keep : StepForm or None
        Keeps the model, for who may.
    """

    form: TemplateForm
    model: Model | None
    at: tuple[tuple[str, float], ...]
    over: str
    value: float
    interval: Interval | None
    unit: str
    command: str
    doubts: tuple[Doubt, ...]
    spots: tuple[curve.CurveSpot, ...] = ()
    surface: SurfaceNumbers | None = None
    keep: StepForm | None = field(default=None)


def parameters_page(steps: TemplateSteps, result: TemplateResult | None) -> SitePage:
    """Return the page: the steps that are done, the next one, and what came of them."""
    blocks: list[Block] = [model_links(TEMPLATE_PAGE)]
    if steps.shown is None or steps.shown.formula is None:
        blocks.append(_first(steps))
        return _page(blocks)
    blocks.append(_first_done(steps))
    blocks += template_blocks(steps.shown)
    blocks.append(_second(steps))
    if result is not None:
        blocks += _result(result)
    return _page(blocks, turns=result is not None and result.surface is not None)


def _page(blocks: list[Block], *, turns: bool = False) -> SitePage:
    lead = (
        "A formula with the facts of a system says how long a program takes at sizes "
        "and numbers of ranks."
    )
    return SitePage("Model by a template", tuple(blocks), "/models", lead, script=turns)


def _first(steps: TemplateSteps) -> StepForm:
    chosen = steps.chosen
    none = Option("", "none: compute it from facts alone")
    fields = (
        StepField(
            "kept",
            "Template of the store",
            chosen.get("kept", ""),
            choices=(
                Option("", "none, I type one"),
                *(Option(*one) for one in steps.templates),
            ),
        ),
        StepField(
            "template",
            "or a formula",
            chosen.get("template", ""),
            "ADDM*n^3/ranks + a*n; names that are no inputs and no facts are fitted",
        ),
        StepField(
            "app",
            "Fit it to the runs of",
            chosen.get("app", ""),
            choices=(none, *(Option(one, one) for one in steps.applications)),
        ),
        StepField(
            "system",
            "Facts of the system",
            chosen.get("system", ""),
            "such as ADDM, SR(L) and BC(L); only runs on it count",
            (Option("", "none"), *(Option(one, one) for one in steps.systems)),
        ),
    )
    return StepForm(
        TEMPLATE_PAGE, "Next", "1. Template and system", fields, said=steps.problem
    )


def _first_done(steps: TemplateSteps) -> StepDone:
    chosen = steps.chosen
    app = chosen.get("app", "")
    rows = (
        ("template", chosen.get("template", "")),
        ("fitted to the runs of", app) if app else ("computed from", "facts alone"),
        ("facts of", chosen.get("system", "") or "no system"),
    )
    return StepDone("1. Template and system", rows, steps.back)


def _second(steps: TemplateSteps) -> StepForm:
    chosen = steps.chosen
    hint = "a number, or a range such as 1000:8000"
    fields = [
        StepField(
            f"{AT}{name}",
            name,
            chosen.get(f"{AT}{name}", ""),
            f"{said}; {hint}" if said else hint,
        )
        for name, said in steps.wanted
    ]
    fields.append(
        StepField(
            "facts",
            "Facts",
            chosen.get("facts", ""),
            "with semicolons between them: L=1 KiB; ADDM=48 ns",
        )
    )
    names = ("kept", "template", "app", "system")
    hidden = tuple((name, chosen[name]) for name in names if chosen.get(name))
    return StepForm(
        *(
            TEMPLATE_PAGE,
            "Show",
            "2. Values: two ranges give a surface",
            tuple(fields),
            hidden,
        ),
        said=steps.problem,
    )


def _result(found: TemplateResult) -> list[Block]:
    blocks: list[Block] = [Heading("What it says")]
    at = ", ".join(f"{name}={value(one)}" for name, one in found.at)
    said = f"At {at}: {quantity_text(found.value, found.unit)}"
    if found.interval is None:
        said += " (computed, no interval: no run was compared with it)"
    else:
        low, high = found.interval.p5, found.interval.p95
        said += f" (90 %: {quantity_text(low, found.unit)} to "
        said += f"{quantity_text(high, found.unit)})"
    verdict = verdict_of(found.doubts)
    blocks.append(Prose(f"{said}; {verdict}.", "plain" if found.doubts else "good"))
    blocks += [Prose(f"Do not trust: {one}", "doubt") for one in found.doubts]
    blocks += _pictures(found)
    blocks += _formulas(found)
    blocks += [Heading("The same in a terminal"), CommandLine(found.command)]
    if found.keep is not None:
        blocks += [Heading("Keep it as a model"), found.keep]
    return blocks


def _formulas(found: TemplateResult) -> list[Block]:
    blocks: list[Block] = []
    of = f" of {found.form.system}" if found.form.system else ""
    blocks += [
        Heading(f"The formula with the numbers{of}"),
        formula_block("time", found.form.substituted, "s"),
    ]
    rows = [short_fact(one) for one in found.form.facts]
    if rows:
        blocks.append(FactList(tuple((name, TableCell(text)) for name, text in rows)))
    if found.model is not None and found.model.coefficients:
        blocks += [
            Heading(f"Fitted to {found.model.scale.runs} runs"),
            formula_block(found.model.quantity, found.model.formula, found.model.unit),
            FactList(
                tuple(
                    (name, TableCell(f"{number:.4g}"))
                    for name, number in found.model.coefficients
                )
            ),
        ]
    return blocks


def _pictures(found: TemplateResult) -> list[Block]:
    if found.surface is not None:
        return [_surface(found.surface, found.unit)]
    known = [one for one in found.spots if math.isfinite(one.value)]
    if not known:
        return []
    shapes = curve.curve_shapes(
        found.over,
        f"time [{found.unit}]",
        [curve.NamedCurve("what the template says", "curve", found.spots)],
    )
    text = f"time over {found.over}"
    text += ", with its 90 % interval" if found.interval is not None else ""
    return [
        DrawingShown(
            text, (curve.CURVE_WIDTH, curve.CURVE_HEIGHT), shapes, _curve_table(found)
        )
    ]


def _curve_table(found: TemplateResult) -> SiteTable:
    head = [ColumnHead(found.over, True), ColumnHead("time", True)]
    if found.interval is not None:
        head += [ColumnHead("5 %", True), ColumnHead("95 %", True)]
    rows = []
    for one in found.spots[:: max(1, (len(found.spots) - 1) // 8)]:
        texts = [value(one.at), _said(one.value, found.unit)]
        if found.interval is not None:
            texts += [_said(one.low, found.unit), _said(one.high, found.unit)]
        rows.append(cells(*texts))
    return SiteTable(f"time over {found.over}", tuple(head), tuple(rows))


def _said(number: float, unit: str) -> str:
    return quantity_text(number, unit) if math.isfinite(number) else "no time"


def _surface(found: SurfaceNumbers, unit: str) -> DrawingShown:
    names = (*found.names, f"time [{unit}]")
    shown = turned_surface.turnable(names, found.x, found.y, found.values)
    text = f"time over {found.names[0]} and {found.names[1]}"
    columns, rows = _some(found.x), _some(found.y)
    head = [ColumnHead(f"{found.names[1]} \\ {found.names[0]}", True)]
    head += [ColumnHead(value(found.x[i]), True) for i in columns]
    table = SiteTable(
        text,
        tuple(head),
        tuple(
            cells(
                value(found.y[j]),
                *(_said(found.values[j][i], unit) for i in columns),
            )
            for j in rows
        ),
    )
    return DrawingShown(
        *(
            text,
            (turned_surface.SURFACE_WIDTH, turned_surface.SURFACE_HEIGHT),
            turned_surface.surface_shapes(shown),
            table,
        ),
        turned_surface.surface_data(shown),
    )


def _some(values: Sequence[float]) -> list[int]:
    """Return places of a few values, the ends among them."""
    count = min(_ROWS, len(values))
    return [round(i * (len(values) - 1) / (count - 1)) for i in range(count)]
