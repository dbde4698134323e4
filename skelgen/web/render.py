"""Turn a `Page` into HTML."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from skelgen import _paths
from skelgen.units import format_seconds
from skelgen.web.page import Page


def render_page(page: Page) -> str:
    """Lay a page out as one HTML document without outside resources.

    Parameters
    ----------
    page : Page

    Returns
    -------
    str
        HTML, the same for the same page.
    """
    environment = Environment(
        loader=FileSystemLoader(_paths.templates() / "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["seconds"] = format_seconds
    return environment.get_template("report.html.j2").render(page=page)
