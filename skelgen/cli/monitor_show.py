"""The command about what monitors kept: monitor show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.monitor_options import Hosts, Reach, host_names
from skelgen.cli.monitor_output import (
    average,
    print_marks,
    series_row,
)
from skelgen.cli.options import Json, Verbose, duration_s
from skelgen.cli.output import print_result, print_table, say
from skelgen.launch.way import Way

if TYPE_CHECKING:
    from skelgen.monitor.series import HostHistory


class SeriesFormat(StrEnum):
    """How series are shown."""

    TABLE = "table"
    PROMETHEUS = "prometheus"


def show(
    hosts: Hosts = "",
    quantity: Annotated[
        list[str] | None,
        typer.Option(help="Only this quantity; may be repeated.", show_default="all"),
    ] = None,
    last: Annotated[str, typer.Option(help="Only the latest so long time.")] = "24h",
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Series of this store, such as those of monitor import.",
            show_default="what monitors keep",
        ),
    ] = None,
    shape: Annotated[
        SeriesFormat,
        typer.Option(
            "--format", help="As a table, or the newest values as text of Prometheus."
        ),
    ] = SeriesFormat.TABLE,
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show the series that monitors kept, and averages over the nodes.

    For a program that waits for its slowest node, avg-min counts: the average over
    time of the minimum over nodes. min-avg is the minimum of the nodes' averages.
    """
    from skelgen.pipeline import monitor_series
    from skelgen.pipeline.load_sources import stored_histories
    from skelgen.pipeline.monitor_links import link_histories

    begin = time.time() - duration_s(last, "--last")
    if store:
        nodes, links = stored_histories(store, host_names(hosts), begin), []
    else:
        nodes = monitor_series.histories(host_names(hosts), begin, way=through)
        links = link_histories(host_names(hosts), begin, way=through)
    found = [*nodes, *links]
    if shape is SeriesFormat.PROMETHEUS:
        say(monitor_series.newest_text(found, quantity or ()), end=False)
        return
    names = list(quantity or sorted({name for one in found for name in one.curves}))
    series = [
        monitor_series.series_of(one, name)
        for one in found
        for name in names
        if name in one.curves
    ]
    _check_known(nodes, links, quantity or ())
    joined = [monitor_series.averages(found, name) for name in names]
    if json:
        from skelgen.results.monitor_curves import MonitorShowResult

        print_result(MonitorShowResult.of(series, joined, found))
        return
    print_table(
        ["host", "quantity", "samples", "latest", "mean", "least", "most"],
        [series_row(one.host, one.quantity, one.values) for one in series],
    )
    rows = [
        [one.quantity, *(average(v.value) for v in (one.avg_min, one.min_avg))]
        for one in joined
        if len(found) > 1
    ]
    if rows:
        print_table(["all nodes", "avg-min", "min-avg"], rows)
    for one in found:
        print_marks(one)


def _check_known(
    nodes: Sequence[HostHistory],
    links: Sequence[HostHistory],
    quantities: Sequence[str],
) -> None:
    """Refuse a quantity that a node has not, unless it is one of links."""
    from skelgen.pipeline.monitor_series import series_of

    for name in quantities:
        if not any(name in one.curves for one in links):
            for one in nodes:
                series_of(one, name)
