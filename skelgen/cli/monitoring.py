"""The commands about monitors: monitor start, stop, status, show, once, unit."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.importing import EXAMPLE, import_
from skelgen.cli.monitoring_shown import (
    average,
    average_facts,
    cost_text,
    marks,
    print_marks,
    sample_text,
    series_row,
    status_row,
)
from skelgen.cli.options import Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import complain, print_facts, print_json, print_table, say
from skelgen.cli.watched import handed_facts, runs, tell_handed
from skelgen.errors import ExitCode, UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.launch.through import Way
from skelgen.units import parse_bytes_per_hour

if TYPE_CHECKING:
    from skelgen.monitor.links import Links
    from skelgen.monitor.series import History
    from skelgen.pipeline.monitoring import Answer
    from skelgen.pipeline.watched import HandedOver

monitor = typer.Typer(
    help="Watch how busy nodes are: a small process on each keeps series.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
monitor.command("import", epilog=EXAMPLE)(import_)

Hosts = Annotated[
    str,
    typer.Option(
        help="Hosts, such as n1,n2 or n[1-8].",
        show_default="this node; for status and show all whose files are seen here",
    ),
]
Reach = Annotated[
    Way,
    typer.Option(
        "--through",
        help="How hosts are reached: as steps of this allocation, or by ssh (local; "
        "SKELGEN_SSH names another remote shell); auto takes steps where it can.",
    ),
]
Interval = Annotated[str, typer.Option(help="Time between samples.")]
Probed = Annotated[
    bool,
    typer.Option(
        "--links",
        help="Probe the links between --hosts too; then the monitors listen on the "
        "network, for each other only.",
    ),
]
LinkBudget = Annotated[
    str, typer.Option(help="What probes may cost each node, sent and received.")
]
LinkInterval = Annotated[
    str,
    typer.Option(
        help="Time between two probes of a link, where the budget allows it.",
        show_default="2min; more for many hosts",
    ),
]
LinkPort = Annotated[
    int,
    typer.Option(
        help="TCP port of the monitors.", show_default="follows from their secret"
    ),
]

Shown = Annotated[
    str,
    typer.Option(
        "--prometheus",
        metavar="PLACE",
        help="Show the newest sample as text of Prometheus: on a socket, "
        "unix:/run/user/1000/skelgen.sock, or in a file, file:/var/lib/skelgen.prom. "
        "%h in it is the host.",
        show_default="nowhere",
    ),
]


class Format(StrEnum):
    """How series are shown."""

    TABLE = "table"
    PROMETHEUS = "prometheus"


Watch = Annotated[
    list[str] | None,
    typer.Option(
        "--watch",
        metavar="NAME",
        help="Programs whose runs go into the store when they end: heat2d,lu; or "
        "cgroup:PATH, a control group with all below it.",
    ),
]


@monitor.command(epilog="Example: [b]skelgen monitor start --hosts n[1-4][/b]")
def start(
    hosts: Hosts = "",
    interval: Interval = "10s",
    watch: Watch = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=VALUE",
            help="Inputs of the watched programs: n=2000,steps=100. The variable "
            "SKELGEN_INPUTS of a program goes before it.",
        ),
    ] = None,
    place: StorePlace = None,
    foreground: Annotated[
        bool,
        typer.Option(
            "--foreground",
            help="Be the monitor of this node until ended: for a line in a job script, "
            "srun --overlap ... skelgen monitor start --foreground &.",
        ),
    ] = False,
    links: Probed = False,
    link_budget: LinkBudget = "200MB/h",
    link_interval: LinkInterval = "",
    link_port: LinkPort = 0,
    prometheus: Shown = "",
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Start the monitor of this node, or those of hosts, in the background."""
    from skelgen.pipeline import monitoring

    interval_s, names = duration_s(interval, "--interval"), _names(hosts)
    probed = _links(names, link_budget, link_interval, link_port) if links else None
    watching = monitoring.watching_words(watch or (), inputs or (), place)
    if foreground:
        _become_monitor(
            interval_s, probed, [*watching, *monitoring.shown_words(prometheus)]
        )
    answers = monitoring.monitor_start(
        names,
        interval_s,
        links=probed,
        watching=watching,
        way=through,
        prometheus=prometheus,
    )
    return _tell("started", answers, json=json)


def _links(hosts: Sequence[str], budget: str, interval: str, port: int) -> Links:
    from skelgen.monitor.links import agreed

    try:
        budget_bytes = parse_bytes_per_hour(budget)
    except ValueError as error:
        raise UsageError(f"--link-budget: {error}") from error
    every_s = duration_s(interval, "--link-interval") if interval else math.nan
    return agreed(hosts, budget_bytes, every_s, port)


def _become_monitor(
    interval_s: float, links: Links | None, more: Sequence[str]
) -> None:
    """Go on as the monitor, without all that this process has loaded."""
    from skelgen.monitor.daemon import check_interval
    from skelgen.pipeline.link_monitoring import link_words

    check_interval(interval_s)
    words = [sys.executable, "-m", "skelgen.monitor", "run", *link_words(links)]
    os.execv(sys.executable, [*words, "--interval", f"{interval_s}s", *more])


@monitor.command(epilog="Example: [b]skelgen monitor stop --hosts n[1-4][/b]")
def stop(
    hosts: Hosts = "",
    through: Reach = Way.AUTO,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Stop the monitor of this node, or those of hosts. Their series stay.

    Runs of watched applications that have ended go into the store.
    """
    from skelgen.pipeline import monitoring
    from skelgen.pipeline.watched import HandedOver, hand_over

    answers = monitoring.monitor_do(_names(hosts), ["stop"], way=through)
    stopped = [one.host for one in answers if not one.error]
    done = hand_over(stopped, place, way=through) if stopped else HandedOver()
    return _tell("stopped", answers, json=json, handed=done)


@monitor.command(epilog="Example: [b]skelgen monitor status --hosts n[1-4][/b]")
def status(
    hosts: Hosts = "",
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Show which monitors run, what they cost, and where they have gaps.

    A monitor says it once a minute: the samples since then are not counted yet.
    """
    from skelgen.pipeline import monitoring

    found, refused = monitoring.monitor_status(_names(hosts), way=through)
    if json:
        print_json({"nodes": [asdict(one) for one in found], "refused": _said(refused)})
    elif found:
        print_table(
            ["host", "runs", "since", "samples", "every", "CPU", "memory", "gaps"],
            [status_row(one) for one in found],
        )
        for one in found:
            if one.link_limit_bytes:
                say(cost_text(one))
    return _complained(refused)


@monitor.command(epilog="Example: [b]skelgen monitor show --quantity cpu --last 2h[/b]")
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
        Format,
        typer.Option(
            "--format", help="As a table, or the newest values as text of Prometheus."
        ),
    ] = Format.TABLE,
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show the series that monitors kept, and averages over the nodes.

    For a program that waits for its slowest node, avg-min counts: the average over
    time of the minimum over nodes. min-avg is the minimum of the nodes' averages.
    """
    from skelgen.pipeline import monitor_series
    from skelgen.pipeline.link_monitoring import link_histories
    from skelgen.pipeline.load_sources import stored_histories

    begin = time.time() - duration_s(last, "--last")
    if store:
        nodes, links = stored_histories(store, _names(hosts), begin), []
    else:
        nodes = monitor_series.histories(_names(hosts), begin, way=through)
        links = link_histories(_names(hosts), begin, way=through)
    found = [*nodes, *links]
    if shape is Format.PROMETHEUS:
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
        print_json(
            {
                "series": [asdict(one) for one in series],
                "averages": [average_facts(one) for one in joined],
                "marks": [marks(one) for one in found],
            }
        )
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
    nodes: Sequence[History], links: Sequence[History], quantities: Sequence[str]
) -> None:
    """Refuse a quantity that a node has not, unless it is one of links."""
    from skelgen.pipeline.monitor_series import series_of

    for name in quantities:
        if not any(name in one.curves for one in links):
            for one in nodes:
                series_of(one, name)


@monitor.command(epilog="Example: [b]skelgen monitor once --hosts n1,n2[/b]")
def once(
    hosts: Hosts = "",
    interval: Annotated[str, typer.Option(help="Time to look at.")] = "1s",
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Take one sample now, without a monitor. Nothing is kept."""
    from skelgen.pipeline import monitoring

    interval_s = duration_s(interval, "--interval")
    answers = monitoring.monitor_do(
        _names(hosts),
        ["once", "--interval", f"{interval_s}s"],
        way=through,
        waits_s=interval_s,
    )
    good = [one for one in answers if not one.error]
    refused = [one for one in answers if one.error]
    if json:
        print_json(
            {"nodes": [dict(one.facts) for one in good], "refused": _said(refused)}
        )
        return _complained(refused)
    for one in good:
        print_facts(
            [(n, sample_text(n, v)) for n, v in one.facts.items() if v is not None]
        )
    return _complained(refused)


@monitor.command(
    epilog="Example: [b]skelgen monitor unit > "
    "~/.config/systemd/user/skelgen-monitor.service[/b]"
)
def unit(
    interval: Interval = "10s", prometheus: Shown = "", verbose: Verbose = 0
) -> None:
    """Print a unit with which systemd keeps the monitor of a node running."""
    from skelgen.pipeline import monitoring

    text = monitoring.unit_text(duration_s(interval, "--interval"), prometheus)
    say(text, end=False)


monitor.command(epilog="Example: [b]skelgen monitor runs --hosts n[1-4][/b]")(runs)


def _names(text: str) -> list[str]:
    return [host.name for host in parse_hosts(text)] if text else []


def _tell(
    done: str,
    answers: Sequence[Answer],
    *,
    json: bool,
    handed: HandedOver | None = None,
) -> int:
    """Say what was done on which hosts, and what was refused."""
    refused = [one for one in answers if one.error]
    good = [one for one in answers if not one.error]
    if json:
        more = handed_facts(handed) if handed is not None else {}
        said = {done: [dict(one.facts) for one in good], "refused": _said(refused)}
        print_json({**said, **more})
    else:
        for one in good:
            number = one.facts.get("pid", one.facts.get("step", ""))
            say(f"{one.host}: monitor {done} (process {number})")
        if handed is not None:
            tell_handed(handed, brief=True)
    return _complained(refused)


def _said(refused: Sequence[Answer]) -> list[dict[str, str]]:
    return [{"host": one.host, "reason": one.error} for one in refused]


def _complained(refused: Sequence[Answer]) -> int:
    """Print a line for each host that refused; return the exit code.

    It is that of all, or that of a tool that failed where they refused in two ways.
    """
    for one in refused:
        complain(f"{one.host}: {one.error}")
    codes = {one.code for one in refused} or {ExitCode.OK}
    return int(codes.pop() if len(codes) == 1 else ExitCode.APPLICATION)
