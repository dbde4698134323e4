"""Options of the commands about monitors."""

from __future__ import annotations

from typing import Annotated

import typer

from skelgen.launch.hosts import parse_hosts
from skelgen.launch.way import Way

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
Watch = Annotated[
    list[str] | None,
    typer.Option(
        "--watch",
        metavar="NAME",
        help="Programs whose runs go into the store when they end: heat2d,lu; or "
        "cgroup:PATH, a control group with all below it.",
    ),
]


def host_names(text: str) -> list[str]:
    """Read ``--hosts``."""
    return [host.name for host in parse_hosts(text)] if text else []
