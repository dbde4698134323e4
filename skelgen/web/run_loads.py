"""Loads of the nodes of a run, while it ran: picture and table."""

from __future__ import annotations

from collections.abc import Sequence

from skelgen.store.rows import Run
from skelgen.store.sampling import ShortSeries
from skelgen.web.axes import Axis
from skelgen.web.chart import CHART_WIDTH, Chart, Plane, chart
from skelgen.web.loads_chart import series_lines, up_axis
from skelgen.web.site import Block, Heading, Prose, SitePicture, address
from skelgen.web.site_loads import averages_table


def run_loads_chart(
    run: Run, series: Sequence[ShortSeries], around: tuple[float, float]
) -> Chart:
    """Prepare the picture of loads around a run: a panel for each series.

    Parameters
    ----------
    run : Run
    series : sequence of ShortSeries
    around : (float, float)
        The time that is drawn, seconds since 1970 in UTC [s].
    """
    across = Axis(*around, False, CHART_WIDTH)
    begin, end = run.started, run.started + run.time_s
    panels = []
    for one in series:
        up = up_axis(one.quantity, [one])
        plane = Plane(across, up, of_time=True)
        ends = [(moment, up.low, up.high) for moment in (begin, end)]
        during = plane.band(ends, "soft", "the run")
        lines = [during, *series_lines(one, plane)]
        panels.append(plane.panel(one.host, ("", one.quantity), lines))
    notes = (
        "Line: average. Area: smallest to largest sample. Grey: while it ran.",
        "cpu has the run itself in it; cpu_left is without watched applications.",
    )
    return chart(f"Loads around the run {run.identity[:8]}, UTC", panels, notes)


def run_loads_blocks(
    run: Run, series: Sequence[ShortSeries], around: tuple[float, float]
) -> list[Block]:
    """Return what the page of a run shows of the loads of its nodes."""
    heading = Heading("Loads of its nodes")
    if not series:
        return [heading, Prose(_lacking(run))]
    picture = SitePicture(
        address("runs", run.identity, "loads.svg"),
        "Loads of its nodes and links before it, while it ran, and after it",
        averages_table(series, *around, several=True),
        run_loads_chart(run, series, around).size,
    )
    return [heading, picture]


def _lacking(run: Run) -> str:
    """Say why nothing is known of the loads."""
    if not run.hosts:
        return "The run does not say on which nodes it ran."
    if run.started != run.started:
        return "The run does not say when it began."
    return (
        "The store has no series of these nodes from that time; skelgen monitor "
        "measures some."
    )
