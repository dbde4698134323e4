"""The commands that run monitors: monitor start, stop, status, once, unit."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.monitor_options import (
    Hosts,
    Interval,
    LinkBudget,
    LinkInterval,
    LinkPort,
    Probed,
    Reach,
    Shown,
    Watch,
    host_names,
)
from skelgen.cli.monitor_output import cost_text, sample_text, status_row
from skelgen.cli.monitor_runs import runs, tell_handed
from skelgen.cli.monitor_show import show
from skelgen.cli.options import Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import complain, print_facts, print_result, print_table, say
from skelgen.cli.store_import import EXAMPLE, import_
from skelgen.errors import ExitCode, SkelgenError, UsageError
from skelgen.launch.way import Way
from skelgen.units import parse_bytes_per_hour

if TYPE_CHECKING:
    from skelgen.monitor.links import Links
    from skelgen.pipeline.monitor_asking import HostAnswer
    from skelgen.pipeline.monitor_runs import HandedOver

monitor = typer.Typer(
    help="Watch how busy nodes are: a small process on each keeps series.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
monitor.command("import", epilog=EXAMPLE)(import_)


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
    from skelgen.pipeline.monitor import monitor_start, shown_words, watching_words

    interval_s, names = duration_s(interval, "--interval"), host_names(hosts)
    probed = _links(names, link_budget, link_interval, link_port) if links else None
    watching = watching_words(watch or (), inputs or (), place)
    if foreground:
        _become_monitor(interval_s, probed, [*watching, *shown_words(prometheus)])
    answers = monitor_start(
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
    from skelgen.pipeline.monitor_links import link_words

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
    from skelgen.pipeline.monitor_asking import monitor_do
    from skelgen.pipeline.monitor_runs import HandedOver, hand_over

    answers = monitor_do(host_names(hosts), ["stop"], way=through)
    stopped = [one.host for one in answers if not one.error]
    try:
        done = hand_over(stopped, place, way=through) if stopped else HandedOver()
    except SkelgenError:
        _tell("stopped", answers, json=json)  # they are, whatever the store says
        raise
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
    from skelgen.pipeline.monitor import monitor_status

    found, refused = monitor_status(host_names(hosts), way=through)
    if json:
        from skelgen.results.monitors import MonitorStatusResult

        print_result(MonitorStatusResult.of(found, refused))
    elif found:
        print_table(
            ["host", "runs", "since", "samples", "every", "CPU", "memory", "gaps"],
            [status_row(one) for one in found],
        )
        for one in found:
            if one.link_limit_bytes:
                say(cost_text(one))
    return _complained(refused)


@monitor.command(epilog="Example: [b]skelgen monitor once --hosts n1,n2[/b]")
def once(
    hosts: Hosts = "",
    interval: Annotated[str, typer.Option(help="Time to look at.")] = "1s",
    through: Reach = Way.AUTO,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Take one sample now, without a monitor. Nothing is kept."""
    from skelgen.pipeline.monitor_asking import monitor_do

    interval_s = duration_s(interval, "--interval")
    answers = monitor_do(
        host_names(hosts),
        ["once", "--interval", f"{interval_s}s"],
        way=through,
        waits_s=interval_s,
    )
    good = [one for one in answers if not one.error]
    refused = [one for one in answers if one.error]
    if json:
        from skelgen.results.monitors import MonitorOnceResult

        print_result(MonitorOnceResult.of(answers))
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
    from skelgen.pipeline.monitor import unit_text

    text = unit_text(duration_s(interval, "--interval"), prometheus)
    say(text, end=False)


monitor.command(epilog="Example: [b]skelgen monitor show --last 2h[/b]")(show)
monitor.command(epilog="Example: [b]skelgen monitor runs --hosts n[1-4][/b]")(runs)


def _tell(
    done: str,
    answers: Sequence[HostAnswer],
    *,
    json: bool,
    handed: HandedOver | None = None,
) -> int:
    """Say what was done on which hosts, and what was refused."""
    refused = [one for one in answers if one.error]
    good = [one for one in answers if not one.error]
    if json:
        from skelgen.results.monitors import MonitorStartResult, MonitorStopResult

        stopped = done == "stopped"
        print_result(
            MonitorStopResult.of(answers, handed)
            if stopped
            else MonitorStartResult.of(answers)
        )
    else:
        for one in good:
            number = one.facts.get("pid", one.facts.get("step", ""))
            say(f"{one.host}: monitor {done} (process {number})")
        if handed is not None:
            tell_handed(handed, brief=True)
    return _complained(refused)


def _complained(refused: Sequence[HostAnswer]) -> int:
    """Print a line for each host that refused; return the exit code.

    It is that of all, or that of a tool that failed where they refused in two ways.
    """
    for one in refused:
        complain(f"{one.host}: {one.error}")
    codes = {one.code for one in refused} or {ExitCode.OK}
    return int(codes.pop() if len(codes) == 1 else ExitCode.APPLICATION)
