"""Turn a chart into SVG."""

from __future__ import annotations

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.web.chart import LEFT, WIDTH, Chart
from skelgen.web.environment import environment_of


def render_chart(chart: Chart) -> bytes:
    """Draw a chart as SVG, the same for the same chart."""
    template = environment_of("web").get_template("chart.svg.j2")
    text = template.render(chart=chart, width=WIDTH, left=LEFT)
    return visible(shown(text)).encode("utf-8", "replace")
