"""Turn a `Page` into HTML."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.models.model import Model
from skelgen.models.residuals import Residual
from skelgen.models.runs import RunTable
from skelgen.phases import Phases
from skelgen.rendering import templates
from skelgen.rendering.templates import TextKind
from skelgen.ticks.table import TickTable
from skelgen.web import model_marks, residual_picture
from skelgen.web.model_picture import model_picture
from skelgen.web.page import Page
from skelgen.web.phase_picture import phase_picture
from skelgen.web.residual_picture import residual_panels, residual_size
from skelgen.web.tick_picture import tick_picture
from skelgen.web.workload_picture import (
    WORKLOAD_HEIGHT,
    WORKLOAD_WIDTH,
    workload_picture,
)
from skelgen.workload import WorkloadTime

#: Lines around each region of a page that changes later, for this version of the page.
EDGES = {
    name: (f"<!-- {name}, page 3 -->", f"<!-- end of {name} -->")
    for name in ("answer", "measured", "timeline", "phases")
}

#: How a picture begins that was drawn here.
PICTURE_BEGINS = re.compile(
    rb'\s*<svg xmlns="http://www.w3.org/2000/svg" viewBox="[\d. ]+" '
    rb'font-family="system-ui, sans-serif" font-size="\d+" fill="#5b6b7b">'
)


def render_page(page: Page, home: str = "") -> str:
    """Lay a page out as one HTML document without outside resources.

    Parameters
    ----------
    page : Page
    home : str
        Where a link on top leads; empty: there is none.

    Returns
    -------
    str
        HTML, the same for the same page.
    """
    regions = {
        "answer": page.answer,
        "measured": page.measured,
        "timeline": page.whole_run,
        "phases": page.phases,
    }
    return filled("report.html.j2", page=page, home=home, edges=EDGES, **regions)


@cache
def page_hashes() -> tuple[str, str]:
    """Return what a security policy calls the script and the style of these pages.

    They are those of the templates, whatever a page shows: no other script runs.
    """
    script, style = (
        base64.b64encode(sha256(f"\n{filled(name)}".encode()).digest()).decode()
        for name in ("report_timeline.js.j2", "report_all.css.j2")
    )
    return f"'sha256-{script}'", f"'sha256-{style}'"


def with_region(html: str, name: str, value: object) -> str | None:
    """Put what is known now in the place of one region of a page.

    Parameters
    ----------
    html : str
        What `render_page` returned.
    name : str
        Of the region: ``answer``, ``measured``, ``timeline`` or ``phases``.
    value : object
        What the page has for it.

    Returns
    -------
    str or None
        The page; None where it has no such region: it is of another version.
    """
    begin, end = EDGES[name]
    if html.count(begin) != 1 or html.count(end) != 1:
        return None
    head, _, rest = html.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        return None
    inside = filled(f"report_{name}.html.j2", **{name: value})
    return f"{head}{begin}\n{inside}{end}{tail}"


def render_phases(phases: Phases) -> str:
    """Draw the phases of a run over time and ranks.

    Parameters
    ----------
    phases : Phases

    Returns
    -------
    str
        An SVG picture.
    """
    return filled("phases.svg.j2", picture=phase_picture(phases))


def render_ticks(table: TickTable, first: int, count: int) -> str:
    """Draw a stretch of the logical trace over ticks and ranks.

    Parameters
    ----------
    table : TickTable
    first, count : int
        First tick, and number of ticks.

    Returns
    -------
    str
        An SVG picture.
    """
    return filled("ticks.svg.j2", picture=tick_picture(table, first, count))


def render_workload(found: WorkloadTime) -> str:
    """Draw the points and functions of each phase of a workload study.

    Parameters
    ----------
    found : WorkloadTime

    Returns
    -------
    str
        An SVG picture.
    """
    picture = workload_picture(found)
    return filled(
        "workload.svg.j2", picture=picture, width=WORKLOAD_WIDTH, height=WORKLOAD_HEIGHT
    )


def render_model(
    model: Model,
    runs: RunTable | None = None,
    at: Mapping[str, float] | None = None,
    *,
    gaps: bool = False,
) -> str:
    """Draw a model with its interval, its runs and what it is asked for.

    Parameters
    ----------
    model : Model
    runs : RunTable, optional
    at : mapping of str to float, optional
    gaps : bool
        Leave out where the model gives no answer, and do not refuse it.

    Returns
    -------
    str
        An SVG picture.
    """
    picture = model_picture(model, runs, at, gaps=gaps)
    size = {"width": model_marks.MODEL_WIDTH, "height": model_marks.MODEL_HEIGHT}
    return filled("model.svg.j2", picture=picture, **size)


def render_residuals(residuals: Sequence[Residual]) -> str:
    """Draw by how much runs are above and below a model.

    Parameters
    ----------
    residuals : sequence of Residual

    Returns
    -------
    str
        An SVG picture.
    """
    panels = residual_panels(residuals)
    return filled(
        "residuals.svg.j2",
        panels=panels,
        size=residual_size(residuals),
        width=residual_picture.RESIDUAL_WIDTH,
        height=residual_picture.RESIDUAL_HEIGHT,
        left=residual_picture.RESIDUAL_LEFT,
        top=residual_picture.TOP,
    )


def filled(template: str, **values: object) -> str:
    """Return a template of pages with its values in it."""
    return visible(shown(templates.filled(TextKind.HTML, "web", template, values)))
