"""Turn a chart into SVG."""

from __future__ import annotations

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.rendering.templates import TextKind, filled
from skelgen.web.chart import CHART_WIDTH, LEFT, Chart


def render_chart(chart: Chart) -> bytes:
    """Draw a chart as SVG, the same for the same chart."""
    values = {"chart": chart, "width": CHART_WIDTH, "left": LEFT}
    text = filled(TextKind.HTML, "web", "chart.svg.j2", values)
    return visible(shown(text)).encode("utf-8", "replace")
