"""Turn a chart into SVG."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from skelgen import _paths
from skelgen.documents.words import shown, visible
from skelgen.web.chart import LEFT, WIDTH, Chart


def render_chart(chart: Chart) -> bytes:
    """Draw a chart as SVG, the same for the same chart."""
    text = _template().render(chart=chart, width=WIDTH, left=LEFT)
    return visible(shown(text)).encode("utf-8", "replace")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_paths.templates() / "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("chart.svg.j2")
